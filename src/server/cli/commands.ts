/** The command line: what to do, checked. */
import { parseDurationMs, parseNumber } from './amounts.ts';
import { type DeployCommand, parseDeploy } from './deployArguments.ts';
import { type DevnetCommand, parseDevnet } from './devnetArguments.ts';
import { misplacedOption, OPTIONS_OF_COMMAND, readOptions, type Values } from './options.ts';
import { isWalletCommand, parseWalletCommand, type WalletCommand } from './walletArguments.ts';
import { parseWatch, type WatchCommand } from './watchArguments.ts';

export type Command =
  | ServeCommand
  | ClusterCommand
  | DevnetCommand
  | { readonly name: 'help' }
  | { readonly name: 'verify' }
  | { readonly name: 'reset' }
  | ReplayCommand
  | DeployCommand
  | WatchCommand
  | WalletCommand
  /** A command of the market that cannot be meant so: one line says why. */
  | { readonly name: 'misused'; readonly line: string };

export interface ServeCommand {
  readonly name: 'serve';
  /** Instead of TRADERS_PACE; null: as set. */
  readonly tradersPace: number | null;
  /** Instead of START_POINT, checked with it; null: as set. */
  readonly from: string | null;
}

export interface ClusterCommand {
  readonly name: 'cluster';
  readonly nodes: number;
  /** So many of them never lead. */
  readonly readers: number;
  /** All listen on PORT; health and metrics of each on a port of its own. */
  readonly onePort: boolean;
  /** As for `serve`. */
  readonly tradersPace: number | null;
}

export interface ReplayCommand {
  readonly name: 'replay';
  /** `-` is standard input. */
  readonly file: string;
  /** Feed time per wall time; null: as fast as it goes. */
  readonly speed: number | null;
  readonly latenessMs: number;
  readonly allowFuture: boolean;
  /** Any refused line makes the command fail; without it only more than half of them does. */
  readonly strict: boolean;
  readonly exit: boolean;
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
  npm start -- cancel ORDER         take an open order back; ORDER is <tx>:<index>
  npm start -- lock TOKEN N         until --for 90s, 30m, 2h, 7d or --until 2030-01-31T12:00Z
      --stages N        unlock in so many equal steps (default 1)
  npm start -- withdraw [LOCK]      take an open lock back; without an id, list them
  All of them:
      --url URL         the server (default http://127.0.0.1:8080)
      --wallet FILE     the key file (default ./wallet.json)
      --no-wait         do not wait for the block, or for the fill of an order
`;

/** Bars stay open for so long, and the leader remembers when each of them ends. */
const MAX_LATENESS_MS = 86_400_000;
const MOST_PACE = 50;
const MOST_NODES = 50;

/** The command, or what is wrong with it. */
export function parseCommand(args: readonly string[]): Command | string {
  const parsed = readOptions(args);
  if (typeof parsed === 'string') return parsed;
  const { values, positionals } = parsed;
  const [name = values.verify === true ? 'verify' : 'serve', ...rest] = positionals;
  if (values.help === true || name === 'help') return { name: 'help' };
  if (!Object.hasOwn(OPTIONS_OF_COMMAND, name)) return `unknown command: ${name}`;
  const stray = misplacedOption(name, values);
  const market = stray ?? parseWalletCommand(name, rest, values);
  if (typeof market === 'string') {
    return isWalletCommand(name) ? { name: 'misused', line: market } : market;
  }
  if (market !== null) return market;
  if (name === 'replay') return parseReplay(rest, values);
  if (name === 'deploy') return parseDeploy(rest, values);
  if (name === 'watch') return parseWatch(rest, values);
  if (name === 'devnet' && rest[0] === undefined) return parseDevnet(values);
  if (rest[0] !== undefined) return `unexpected argument: ${rest[0]}`;
  if (name === 'cluster') return parseCluster(values);
  if (name === 'reset') return { name };
  return name === 'verify' || values.verify === true ? { name: 'verify' } : parseServe(values);
}

function parseServe(values: Values): ServeCommand | string {
  const tradersPace = paceOf(values);
  if (typeof tradersPace === 'string') return tradersPace;
  return { name: 'serve', tradersPace, from: typeof values.from === 'string' ? values.from : null };
}

function parseCluster(values: Values): ClusterCommand | string {
  const nodes = parseNumber(String(values.nodes ?? '3'));
  if (nodes === null || !Number.isInteger(nodes) || nodes < 1 || nodes > MOST_NODES) {
    return `--nodes takes a number from 1 to ${MOST_NODES}`;
  }
  const readers = parseNumber(String(values.readers ?? '0'));
  if (readers === null || !Number.isInteger(readers) || readers >= nodes) {
    return `--readers takes a number from 0 to ${nodes - 1}: one node at least must lead`;
  }
  const tradersPace = paceOf(values);
  if (typeof tradersPace === 'string') return tradersPace;
  return { name: 'cluster', nodes, readers, onePort: values['one-port'] === true, tradersPace };
}

/** null: as set; or what is wrong with it. */
function paceOf(values: Values): number | null | string {
  const { pace } = values;
  if (values['no-traders'] === true) {
    return pace === undefined ? 0 : '--pace and --no-traders exclude each other';
  }
  if (typeof pace !== 'string') return null;
  const tradersPace = parseNumber(pace);
  if (tradersPace !== null && tradersPace <= MOST_PACE) return tradersPace;
  return `--pace takes a number from 0 to ${MOST_PACE}`;
}

function parseReplay(
  [file, ...more]: readonly string[],
  { speed, lateness, exit, strict, 'allow-future': allowFuture }: Values,
): ReplayCommand | string {
  if (file === undefined) return 'replay needs a file, or - for standard input';
  if (more.length > 0) return `unexpected argument: ${more[0]}`;
  const factor = parseSpeed(String(speed ?? 'max'));
  if (factor === 'wrong') return '--speed takes a number above 0, or max';
  const latenessMs = parseDurationMs(String(lateness ?? '60s'));
  if (latenessMs === null || latenessMs > MAX_LATENESS_MS) {
    return '--lateness takes a duration such as 500ms, 60s, 5m or 2h, at most 24h';
  }
  return {
    name: 'replay',
    file,
    speed: factor,
    latenessMs,
    allowFuture: allowFuture === true,
    strict: strict === true,
    exit: exit === true,
  };
}

function parseSpeed(text: string): number | null | 'wrong' {
  if (text === 'max') return null;
  const speed = parseNumber(text);
  return speed !== null && speed > 0 ? speed : 'wrong';
}
