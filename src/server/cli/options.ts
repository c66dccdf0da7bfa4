/** Every option of the command line, and with which commands it goes. */
import { parseArgs } from 'node:util';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;

const OPTIONS = {
  help: FLAG,
  verify: FLAG,
  speed: TEXT,
  lateness: TEXT,
  'allow-future': FLAG,
  strict: FLAG,
  exit: FLAG,
  pace: TEXT,
  'no-traders': FLAG,
  from: TEXT,
  nodes: TEXT,
  readers: TEXT,
  'one-port': FLAG,
  url: TEXT,
  wallet: TEXT,
  'no-wait': FLAG,
  slippage: TEXT,
  tokens: TEXT,
  name: TEXT,
  ticker: TEXT,
  description: TEXT,
  image: TEXT,
  initial: TEXT,
  hyped: FLAG,
  ai: FLAG,
  twitter: TEXT,
  discord: TEXT,
  telegram: TEXT,
  website: TEXT,
  for: TEXT,
  until: TEXT,
  stages: TEXT,
  list: TEXT,
  once: FLAG,
  network: TEXT,
  key: TEXT,
  'dry-run': FLAG,
  out: TEXT,
  'ogmios-port': TEXT,
  'kupo-port': TEXT,
  genesis: TEXT,
  launchpad: FLAG,
  'allow-host': TEXT,
} as const;

export type OptionName = keyof typeof OPTIONS;

const CLIENT: readonly OptionName[] = ['url', 'wallet', 'no-wait'];
const LAUNCH: readonly OptionName[] = [
  ...['name', 'ticker', 'description', 'image', 'initial', 'hyped', 'ai'],
  ...['twitter', 'discord', 'telegram', 'website'],
] as const satisfies readonly OptionName[];

/** Command → what it takes. */
export const OPTIONS_OF_COMMAND: Readonly<Record<string, readonly OptionName[]>> = {
  serve: ['pace', 'no-traders', 'from', 'verify'],
  cluster: ['nodes', 'readers', 'one-port', 'pace', 'no-traders'],
  devnet: ['ogmios-port', 'kupo-port', 'pace', 'genesis', 'launchpad', 'allow-host'],
  verify: ['verify'],
  reset: [],
  deploy: ['network', 'key', 'dry-run', 'out'],
  replay: ['speed', 'lateness', 'allow-future', 'strict', 'exit'],
  watch: ['url', 'list', 'once'],
  wallet: CLIENT,
  launch: [...CLIENT, ...LAUNCH],
  buy: [...CLIENT, 'slippage', 'tokens'],
  sell: [...CLIENT, 'slippage'],
  cancel: CLIENT,
  lock: [...CLIENT, 'for', 'until', 'stages'],
  withdraw: CLIENT,
};

export type Values = Readonly<Partial<Record<OptionName, string | boolean>>>;

/** Options and the rest, or what is wrong with them. */
export function readOptions(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: true,
      strict: true,
    });
    return { values, positionals };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.split('. ')[0] ?? message;
  }
}

/** An option that does not go with the command, in words. */
export function misplacedOption(command: string, values: Values): string | null {
  const taken = OPTIONS_OF_COMMAND[command] ?? [];
  // trust: parseArgs knows no other names
  const names = Object.keys(values) as OptionName[];
  const stray = names.find((name) => !taken.includes(name));
  if (stray === undefined) return null;
  const homes = Object.keys(OPTIONS_OF_COMMAND).filter((name) =>
    OPTIONS_OF_COMMAND[name]?.includes(stray),
  );
  return `--${stray} goes with ${homes.join(', ')}`;
}
