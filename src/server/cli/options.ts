/** Every option of the command line, the commands that take it, and the text of --help. */
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
  'min-output': TEXT,
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
  pair: TEXT,
  resolution: TEXT,
  format: TEXT,
  to: TEXT,
} as const;

type OptionName = keyof typeof OPTIONS;

const CLIENT: readonly OptionName[] = ['url', 'wallet', 'no-wait'];
const LAUNCH: readonly OptionName[] = [
  ...['name', 'ticker', 'description', 'image', 'initial', 'hyped', 'ai'],
  ...['twitter', 'discord', 'telegram', 'website'],
] as const satisfies readonly OptionName[];

/** The options of each command. */
export const OPTIONS_OF_COMMAND: Readonly<Record<string, readonly OptionName[]>> = {
  serve: ['pace', 'no-traders', 'from', 'verify'],
  cluster: ['nodes', 'readers', 'one-port', 'pace', 'no-traders'],
  devnet: ['ogmios-port', 'kupo-port', 'pace', 'genesis', 'launchpad', 'allow-host'],
  verify: ['verify'],
  reset: [],
  deploy: ['network', 'key', 'dry-run', 'out'],
  replay: ['speed', 'lateness', 'allow-future', 'strict', 'exit'],
  watch: ['url', 'list', 'once'],
  export: ['url', 'pair', 'resolution', 'format', 'from', 'to', 'out'],
  import: ['exit'],
  wallet: CLIENT,
  launch: [...CLIENT, ...LAUNCH],
  buy: [...CLIENT, 'slippage', 'min-output', 'tokens'],
  sell: [...CLIENT, 'slippage', 'min-output'],
  cancel: CLIENT,
  lock: [...CLIENT, 'for', 'until', 'stages'],
  withdraw: CLIENT,
};

export type Values = Readonly<Partial<Record<OptionName, string | boolean>>>;

/** Options and positional arguments; a text says what is wrong. */
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

/** What is wrong if an option does not belong to the command; null: nothing. */
export function misplacedOption(command: string, values: Values): string | null {
  const allowed = OPTIONS_OF_COMMAND[command] ?? [];
  // trust: parseArgs knows no other names
  const names = Object.keys(values) as OptionName[];
  const misplaced = names.find((name) => !allowed.includes(name));
  if (misplaced === undefined) return null;
  const commands = Object.keys(OPTIONS_OF_COMMAND).filter((name) =>
    OPTIONS_OF_COMMAND[name]?.includes(misplaced),
  );
  return `--${misplaced} goes with ${commands.join(', ')}`;
}

export const USAGE = `upcurve: the server behind a token launchpad.

  npm start                         serve what is in DATA_DIR
      --pace N          how lively the simulated traders of a devnet are (default 1, 0 is none)
      --no-traders      the same as --pace 0
      --from SLOT.HASH  follow mainnet, preprod or preview from behind this block (or: origin)
  npm start -- cluster              a nats-server and nodes of one market on PORT and those after it
      --nodes 3         how many, 1 to 50 (default 3); --pace and --no-traders as above
      --readers 0       so many of them never lead and have no keys and no chain (default 0)
      --one-port        all of them serve on PORT, and say how they are on the ports after it
  npm start -- devnet               a Cardano devnet alone, for any program: Ogmios and Kupo
      --ogmios-port 1337, --kupo-port 1442
      --pace 1000       ms between blocks; 0: on demand
      --genesis FILE    what a new chain begins with (default: three wallets, which it prints)
      --launchpad       or with what a market needs: scripts, and wallets of KEYS_FILE
      --allow-host NAME another host name under which programs reach it
  npm start -- replay FILE [...]    feed trades (NDJSON, .gz too; - is standard input), then serve
      --speed N|max     feed time per wall time (default max)
      --lateness 60s    how late a trade may come: 500ms, 60s, 5m, 2h (default 60s)
      --allow-future    take trades of a time more than a day ahead of the clock
      --strict          end with code 1 if any line is refused, not only if most are
      --exit            stop after the file
  npm start -- import DIR           the same with the trades of an export; checks every sum first
      --exit            stop after the last trade
  npm start -- deploy               put our validators on a test network, through Ogmios and Kupo
      --network NAME    preprod or preview; the keys of the deployment are named as below
      --key FILE        who pays (.skey of cardano-cli, or hex; default: the executor)
      --dry-run         show the transactions and what they cost, and send none
      --out FILE        where to write the deployment (default ./deployment.NAME.json)
  npm start -- --verify             compare the state with a rebuild from the log, then exit
  npm start -- reset                move a devnet's chain and market aside, to begin new ones
  npm start -- --help               this, and every setting

On a server that runs:

  npm start -- watch [TOKEN]        a list of pools, or one token with bars and orders, live
      --list Latest     New, Latest, MCapDesc, CompletedCreateOn or CompletedMCap
      --once            one picture, then exit; --url as below
  npm start -- export --pair ID     its trades, a file and its SHA-256 for each day (ID,ID too)
      --resolution min1 bars instead; or min3, min5, … month1
      --format csv      csv, ndjson or parquet (default csv)
      --from 2026-11-01, --to 2026-11-23   first and last day, UTC (default: all)
      --out DIR         where to write (default ./dump); --url as below

With a wallet of your own:

  npm start -- wallet new           make a key file; an existing one is never written over
  npm start -- wallet faucet [ADA]  coins of a devnet (default 1000)
  npm start -- wallet balance       what the wallet holds
  npm start -- launch --name NAME --ticker TICKER
      --initial ADA     buy the first tokens in the same transaction
      --description TEXT, --image FILE (PNG, JPEG, GIF; default: one made from the name),
      --hyped, --ai, --twitter URL, --discord URL, --telegram URL, --website URL
  npm start -- buy TOKEN ADA        spend so much; or: buy TOKEN --tokens N for exactly so many
  npm start -- sell TOKEN N|all
      --slippage 15     percent that the price may fall: 15, 30, 50, 75, infinity
      --min-output N    instead: the least that you take, in tokens (buy) or ADA (sell)
  npm start -- cancel ORDER         take an open order back; ORDER is <tx>:<index>
  npm start -- lock TOKEN N         until --for 90s, 30m, 2h, 7d or --until 2030-01-31T12:00Z
      --stages N        unlock in so many equal steps (default 1)
  npm start -- withdraw [LOCK]      take an open lock back; without an id, list them
  All of them:
      --url URL         the server (default http://127.0.0.1:8080)
      --wallet FILE     the key file (default ./wallet.json)
      --no-wait         do not wait for the block, or for the fill of an order
`;
