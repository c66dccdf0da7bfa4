/** All commands, and the command line that names one of them. */
import { settingsHelp } from '../settings/help.ts';
import { KEYS_HELP } from '../settings/keyFiles.ts';
import { command } from './command.ts';
import { CLUSTER } from './commands/cluster.ts';
import { CONFORM } from './commands/conform.ts';
import { DEPLOY } from './commands/deploy.ts';
import { DEVNET } from './commands/devnet.ts';
import { EXPORT, IMPORT } from './commands/dump.ts';
import { LOAD } from './commands/load.ts';
import { MCP } from './commands/mcp.ts';
import { BUY, CANCEL, SELL } from './commands/orders.ts';
import { REFUND } from './commands/refund.ts';
import { REPLAY } from './commands/replay.ts';
import { ROTATE } from './commands/rotate.ts';
import { SERVE } from './commands/serve.ts';
import { RESET, VERIFY } from './commands/upkeep.ts';
import { LAUNCH, LOCK, WALLET, WITHDRAW } from './commands/wallet.ts';
import { BOOK, WATCH } from './commands/watch.ts';
import { completionScript } from './completion.ts';
import { helpOf, usageOf } from './help.ts';
import { misplacedOption, readOptions, suggestion } from './options.ts';

const SHELLS = ['bash', 'zsh'] as const;

const HELP = command({
  name: 'help',
  group: 'data',
  uses: [['[COMMAND]', 'commands and settings, or one command with its options']],
  options: {},
  takes: 1,
  parse([name]): { readonly name: 'help'; readonly of: string | null } | string {
    const found = name === undefined ? null : commandNamed(name);
    if (typeof found === 'string') return found;
    return { name: 'help', of: found?.name ?? null };
  },
  async run({ of }, shell) {
    const found = COMMANDS.find(({ name }) => name === of);
    const all = () => `${usageOf(COMMANDS)}\n${settingsHelp()}\n${KEYS_HELP}`;
    shell.write(found === undefined ? all() : helpOf(found));
    return 0;
  },
});

const COMPLETION = command({
  name: 'completion',
  group: 'data',
  uses: [['bash|zsh', 'a shell function `upcurve` that completes what follows']],
  options: {},
  takes: 1,
  parse([name]) {
    const shell = SHELLS.find((known) => known === name);
    return shell === undefined
      ? 'completion takes bash or zsh'
      : ({ name: 'completion', shell } as const);
  },
  async run(args, { write, directory }) {
    write(completionScript(args.shell, directory, COMMANDS));
    return 0;
  },
});

const VERSION = command({
  name: 'version',
  group: 'data',
  uses: [],
  options: {},
  parse: () => ({ name: 'version' }) as const,
  async run(_args, { write, version }) {
    write(`${version}\n`);
    return 0;
  },
});

/** The help lists them in this order. */
const ALL = [
  ...[SERVE, CLUSTER, DEVNET, REPLAY, IMPORT, DEPLOY, REFUND, ROTATE, VERIFY, RESET],
  ...[HELP, COMPLETION],
  ...[WATCH, BOOK, LOAD, CONFORM, EXPORT, MCP],
  ...[WALLET, LAUNCH, BUY, SELL, CANCEL, LOCK, WITHDRAW],
];

type SomeCommand = (typeof ALL)[number];

export const COMMANDS: readonly SomeCommand[] = ALL;

/** The command that `args` name, with its arguments; a string is an error message. */
export function parseCommand(args: readonly string[]) {
  const parsed = readOptions(args, COMMANDS);
  if (typeof parsed === 'string') return parsed;
  const { values, positionals } = parsed;
  const [name = 'serve', ...rest] = positionals;
  if (values.version === true) return VERSION.call([], {});
  const isVerify = name === 'serve' && values.verify === true;
  const found = commandNamed(isVerify ? 'verify' : name);
  if (typeof found === 'string') return found;
  if (found !== HELP && values.help === true) return HELP.call(positionals.slice(0, 1), {});
  return misplacedOption(found, values, COMMANDS) ?? found.call(rest, values);
}

/** A string is an error message. */
function commandNamed(name: string): SomeCommand | string {
  const found = COMMANDS.find((each) => each.name === name);
  const names = COMMANDS.map((each) => each.name);
  return found ?? `unknown command: ${name}${suggestion(name, names)}`;
}
