/** The text of `help`: a list of all commands, or one command with every option. */
import { COMMAND_NAMES, type CommandName, commandRow, isCommandName } from './commandTable.ts';

const START = 'npm start';
const USE_COLUMNS = 42;
const OPTION_COLUMNS = 22;

const HEADS = {
  data: 'upcurve: the server behind a token launchpad.',
  server: 'On a server that runs:',
  wallet: 'With a wallet of your own:',
} as const;

export const USAGE = overview();

function overview(): string {
  const names = COMMAND_NAMES.filter(isCommandName);
  const groups = Object.entries(HEADS).map(([group, head]) => {
    const own = names.filter((name) => commandRow(name).group === group);
    return `${head}\n\n${own.flatMap(usesOf).join('\n')}\n`;
  });
  const more = `${START} -- help COMMAND lists its options; --version prints the version.\n`;
  return `${groups.join('\n')}\n${more}`;
}

/** `name` with its arguments and options. */
export function helpOf(name: CommandName): string {
  const options = Object.entries(commandRow(name).options).map(([option, { value, about }]) =>
    row(`      --${option}${value === undefined ? '' : ` ${value}`}`, about, OPTION_COLUMNS + 6),
  );
  const all = options.length === 0 ? [] : ['', ...options];
  return `${[...usesOf(name), ...all].join('\n')}\n`;
}

function usesOf(name: CommandName): string[] {
  return commandRow(name).uses.map(([args, about]) => {
    const words = name === 'serve' ? [] : ['--', name, args];
    return row(`  ${[START, ...words].join(' ')}`.trimEnd(), about, USE_COLUMNS);
  });
}

function row(left: string, about: string, columns: number): string {
  return `${left.padEnd(columns - 1)} ${about}`.trimEnd();
}
