/** The text of `help`: a list of all commands, or one command with every option. */
import type { CliCommand } from './command.ts';

const START = 'npm start';
const USE_COLUMNS = 42;
const OPTION_COLUMNS = 22;

const HEADS = {
  data: 'upcurve: the server behind a token launchpad.',
  server: 'On a server that runs:',
  wallet: 'With a wallet of your own:',
} as const;

export function usageOf(commands: readonly CliCommand[]): string {
  const groups = Object.entries(HEADS).map(([group, head]) => {
    const own = commands.filter((command) => command.group === group);
    return `${head}\n\n${own.flatMap(usesOf).join('\n')}\n`;
  });
  const more = `${START} -- help COMMAND lists its options; --version prints the version.\n`;
  return `${groups.join('\n')}\n${more}`;
}

/** `command` with its arguments and options. */
export function helpOf(command: CliCommand): string {
  const options = Object.entries(command.options).map(([option, { value, about }]) =>
    row(`      --${option}${value === undefined ? '' : ` ${value}`}`, about, OPTION_COLUMNS + 6),
  );
  const all = options.length === 0 ? [] : ['', ...options];
  return `${[...usesOf(command), ...all].join('\n')}\n`;
}

function usesOf({ name, uses }: CliCommand): string[] {
  return uses.map(([args, about]) => {
    const words = name === 'serve' ? [] : ['--', name, args];
    return row(`  ${[START, ...words].join(' ')}`.trimEnd(), about, USE_COLUMNS);
  });
}

function row(left: string, about: string, columns: number): string {
  return `${left.padEnd(columns - 1)} ${about}`.trimEnd();
}
