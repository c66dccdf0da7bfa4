/** Parses and checks the command line. The commands of a wallet are in walletArguments.ts. */

import { type OutputRef, parseRef } from '../../cardano/codec/output.ts';
import type { PoolListName } from '../../client/types.ts';
import { POOL_LIST_NAMES } from '../../engine/market/poolView.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { parseDurationMs, parseNumber } from './amounts.ts';
import { COMMAND_NAMES, type CommandName, isCommandName } from './commandTable.ts';
import { SHELLS, type Shell } from './completion.ts';
import { type ConformCommand, parseConform } from './conform/command.ts';
import type { DeployableNetwork } from './deployPlan.ts';
import {
  type ExportCommand,
  type ImportCommand,
  parseExport,
  parseImport,
} from './dump/command.ts';
import { type LoadCommand, parseLoad } from './load/command.ts';
import {
  isOwnNetwork,
  misplacedOption,
  type OwnNetwork,
  readOptions,
  suggestion,
  type Values,
} from './options.ts';
import { parseRotate, type RotateCommand } from './rotateArguments.ts';
import {
  BAD_URL,
  type McpCommand,
  parseMcp,
  parseWalletCommand,
  serverUrl,
  type WalletCommand,
} from './walletArguments.ts';

export type Command =
  | ServeCommand
  | ClusterCommand
  | DevnetCommand
  | TextCommand
  | { readonly name: 'verify' }
  | { readonly name: 'reset' }
  | ReplayCommand
  | DeployCommand
  | DeployCheckCommand
  | RefundCommand
  | RotateCommand
  | ExportCommand
  | ImportCommand
  | LoadCommand
  | ConformCommand
  | BookCommand
  | WatchCommand
  | McpCommand
  | WalletCommand;

/** Prints a text, and does nothing else. */
export type TextCommand =
  /** null: of everything. */
  | { readonly name: 'help'; readonly of: CommandName | null }
  | { readonly name: 'version' }
  | { readonly name: 'completion'; readonly shell: Shell };

export interface ServeCommand {
  readonly name: 'serve';
  /** Overrides TRADERS_PACE; null: keeps it. */
  readonly tradersPace: number | null;
  /** Overrides START_POINT, and is checked like it; null: keeps it. */
  readonly from: string | null;
}

export interface ClusterCommand {
  readonly name: 'cluster';
  readonly nodes: number;
  /** How many of them never lead. */
  readonly readers: number;
  /** All listen on PORT; each has a separate port for health and metrics. */
  readonly onePort: boolean;
  /** As for `serve`. */
  readonly tradersPace: number | null;
}

export interface ReplayCommand {
  readonly name: 'replay';
  /** `-` is standard input. */
  readonly file: string;
  /** Feed time per wall time; null: as fast as possible. */
  readonly speed: number | null;
  readonly latenessMs: number;
  readonly allowFuture: boolean;
  readonly allowPast: boolean;
  /** The command fails if any line is refused; otherwise only if more than half are. */
  readonly strict: boolean;
  readonly exit: boolean;
}

/** Bars stay open this long, and the leader keeps the end of each in memory. */
const MAX_LATENESS_MS = 86_400_000;
const MOST_PACE = 50;
const MOST_NODES = 50;

/** A string is an error message. */
export function parseCommand(args: readonly string[]): Command | string {
  const parsed = readOptions(args);
  if (typeof parsed === 'string') return parsed;
  const { values, positionals } = parsed;
  const [name = values.verify === true ? 'verify' : 'serve', ...rest] = positionals;
  if (values.version === true) return { name: 'version' };
  if (!isCommandName(name)) return `unknown command: ${name}${suggestion(name, COMMAND_NAMES)}`;
  if (name === 'help') return parseHelp(rest);
  if (values.help === true) return { name: 'help', of: positionals.length === 0 ? null : name };
  const misplaced = misplacedOption(name, values);
  const wallet = misplaced ?? parseWalletCommand(name, rest, values);
  if (wallet !== null) return wallet;
  if (name === 'replay') return parseReplay(rest, values);
  if (name === 'deploy') return parseDeploy(rest, values);
  if (name === 'refund') return parseRefund(rest, values);
  if (name === 'rotate') return parseRotate(rest, values);
  if (name === 'watch') return parseWatch(rest, values);
  if (name === 'book') return parseBook(rest, values);
  if (name === 'conform') return parseConform(rest, values);
  if (name === 'load') return parseLoad(rest, values);
  if (name === 'export') return parseExport(rest, values);
  if (name === 'import') return parseImport(rest, values);
  if (name === 'devnet' && rest[0] === undefined) return parseDevnet(values);
  if (name === 'completion' && rest[0] !== undefined) return parseCompletion(rest);
  if (rest[0] !== undefined) return `unexpected argument: ${rest[0]}`;
  if (name === 'cluster') return parseCluster(values);
  if (name === 'mcp') return parseMcp(values);
  if (name === 'reset') return { name };
  if (name === 'completion') return 'completion takes bash or zsh';
  if (name === 'verify' || values.verify === true) return { name: 'verify' };
  assert(name === 'serve', `${name} is a command of the table and is parsed here`);
  return parseServe(values);
}

function parseHelp([name, more]: readonly string[]): Command | string {
  if (more !== undefined) return `unexpected argument: ${more}`;
  if (name === undefined) return { name: 'help', of: null };
  if (isCommandName(name)) return { name: 'help', of: name };
  return `unknown command: ${name}${suggestion(name, COMMAND_NAMES)}`;
}

function parseCompletion([name, more]: readonly string[]): Command | string {
  const shell = SHELLS.find((known) => known === name);
  if (shell === undefined || more !== undefined) return 'completion takes bash or zsh';
  return { name: 'completion', shell };
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

/** null: keeps TRADERS_PACE; a string is an error message. */
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
  { speed, lateness, exit, strict, 'allow-future': future, 'allow-past': past }: Values,
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
    allowFuture: future === true,
    allowPast: past === true,
    strict: strict === true,
    exit: exit === true,
  };
}

function parseSpeed(text: string): number | null | 'wrong' {
  if (text === 'max') return null;
  const speed = parseNumber(text);
  return speed !== null && speed > 0 ? speed : 'wrong';
}

export interface DeployCommand {
  readonly name: 'deploy';
  readonly network: DeployableNetwork;
  /** The payer's key file; null: the executor's key pays. */
  readonly keyFile: string | null;
  readonly isDryRun: boolean;
  /** The file to write. */
  readonly out: string;
  /** A file with the terms; null: the default ones. */
  readonly parameters: string | null;
  /** A file: who may change the settings. */
  readonly signers: string;
}

interface DeployCheckCommand {
  readonly name: 'deploy check';
  readonly file: string;
}

function parseDeploy(
  rest: readonly string[],
  values: Values,
): DeployCommand | DeployCheckCommand | string {
  if (rest[0] !== undefined) return `unexpected argument: ${rest[0]}`;
  const { network, key, out, parameters, signers, check } = values;
  if (typeof check === 'string') {
    const alone = Object.keys(values).length === 1;
    return alone ? { name: 'deploy check', file: check } : '--check goes without other options';
  }
  if (network === 'mainnet') {
    return 'mainnet has a launchpad already: set NETWORK=mainnet and start the server to follow it';
  }
  if (network !== 'preprod' && network !== 'preview') {
    return 'deploy needs --network preprod or --network preview';
  }
  if (typeof signers !== 'string') {
    return 'deploy needs --signers FILE: {"required": k, "keyHashes": […]}, who may rotate keys';
  }
  return {
    name: 'deploy',
    network,
    signers,
    keyFile: typeof key === 'string' ? key : null,
    isDryRun: values['dry-run'] === true,
    out: typeof out === 'string' ? out : `./deployment.${network}.json`,
    parameters: textOf(parameters),
  };
}

export interface RefundCommand {
  readonly name: 'refund';
  readonly network: OwnNetwork;
  /** null: all that are due. */
  readonly order: OutputRef | null;
  /** A file, or the name of one of the devnet's keys. */
  readonly key: string;
  readonly isDryRun: boolean;
}

function parseRefund([order, more]: readonly string[], values: Values): RefundCommand | string {
  if (more !== undefined) return `unexpected argument: ${more}`;
  const { network, key } = values;
  if (!isOwnNetwork(network)) return 'refund needs --network preprod, preview or devnet';
  if (typeof key !== 'string') return 'refund needs --key FILE: a key with 5 ADA as collateral';
  const ref = order === undefined ? null : parseRef(order);
  if (order !== undefined && ref === null) return 'refund takes an order as <tx>:<index>';
  return {
    name: 'refund',
    network,
    order: ref,
    key,
    isDryRun: values['dry-run'] === true,
  };
}

export interface DevnetCommand {
  readonly name: 'devnet';
  readonly ogmiosPort: number;
  readonly kupoPort: number;
  /** Time between blocks; 0: blocks on demand; null: BLOCK_EVERY_MS. */
  readonly paceMs: number | null;
  /** A file with the outputs of a new chain's genesis; null: three wallets. */
  readonly genesis: string | null;
  /** The genesis of a new chain contains the outputs of a market. */
  readonly launchpad: boolean;
  /** A file with protocol parameters; null: the chain's own. */
  readonly parameters: string | null;
  /** The version of Ogmios that it speaks as. */
  readonly ogmiosMajor: 6 | 7;
  /** A host name, beside loopback, that requests may name; null: none. */
  readonly allowHost: string | null;
}

const OGMIOS_PORT = 1337;
const KUPO_PORT = 1442;
const MOST_PORT = 65_535;
const LEAST_PACE_MS = 50;
const MOST_PACE_MS = 60_000;

function parseDevnet(values: Values): DevnetCommand | string {
  const ogmiosPort = portOf(values['ogmios-port'], OGMIOS_PORT);
  const kupoPort = portOf(values['kupo-port'], KUPO_PORT);
  if (ogmiosPort === null) return '--ogmios-port takes a port, 0 to 65535';
  if (kupoPort === null) return '--kupo-port takes a port, 0 to 65535';
  const paceMs = typeof values.pace === 'string' ? parseNumber(values.pace) : null;
  const isPace =
    values.pace === undefined ||
    paceMs === 0 ||
    (paceMs !== null && Number.isInteger(paceMs) && inRange(paceMs));
  if (!isPace) return `--pace takes ms between blocks: 0, or ${LEAST_PACE_MS} to ${MOST_PACE_MS}`;
  const ogmios = values.ogmios ?? '6';
  if (ogmios !== '6' && ogmios !== '7') return '--ogmios takes 6 or 7';
  const launchpad = values.launchpad === true;
  if (launchpad && values.genesis !== undefined) {
    return '--launchpad and --genesis exclude each other';
  }
  return {
    name: 'devnet',
    launchpad,
    ogmiosPort,
    kupoPort,
    paceMs,
    genesis: textOf(values.genesis),
    parameters: textOf(values.parameters),
    ogmiosMajor: ogmios === '7' ? 7 : 6,
    allowHost: textOf(values['allow-host']),
  };
}

function inRange(paceMs: number): boolean {
  return paceMs >= LEAST_PACE_MS && paceMs <= MOST_PACE_MS;
}

function textOf(value: string | boolean | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** null: no port. */
function portOf(value: string | boolean | undefined, otherwise: number): number | null {
  if (value === undefined) return otherwise;
  const port = /^\d{1,5}$/.test(String(value)) ? Number(value) : MOST_PORT + 1;
  return port <= MOST_PORT ? port : null;
}

export interface WatchCommand {
  readonly name: 'watch';
  readonly url: string;
  /** Asset id or search text; null: shows a list. */
  readonly token: string | null;
  readonly list: PoolListName;
  /** Writes once, then ends. */
  readonly once: boolean;
}

export interface BookCommand {
  readonly name: 'book';
  readonly url: string;
  /** Asset id or search text. */
  readonly token: string;
  readonly digits: 3 | 4;
  readonly once: boolean;
}

/** A string is an error message. */
function parseBook([token, more]: readonly string[], values: Values): BookCommand | string {
  if (token === undefined) return 'book takes a token: its id, or a part of its name';
  if (more !== undefined) return `unexpected argument: ${more}`;
  const digits = ([3, 4] as const).find((each) => String(each) === (values.digits ?? '3'));
  if (digits === undefined) return '--digits takes 3 or 4';
  const url = serverUrl(values);
  if (url === null) return BAD_URL;
  return { name: 'book', url, token, digits, once: values.once === true };
}

const DEFAULT_LIST = 'Latest';

/** A string is an error message. */
function parseWatch(rest: readonly string[], values: Values): WatchCommand | string {
  const [token, more] = rest;
  if (more !== undefined) return `unexpected argument: ${more}`;
  const listName = String(values.list ?? DEFAULT_LIST);
  const list = POOL_LIST_NAMES.find((name) => name.toLowerCase() === listName.toLowerCase());
  if (list === undefined) return `--list takes one of ${POOL_LIST_NAMES.join(', ')}`;
  if (token !== undefined && values.list !== undefined) return '--list goes without a token';
  const url = serverUrl(values);
  if (url === null) return BAD_URL;
  return { name: 'watch', url, token: token ?? null, list, once: values.once === true };
}
