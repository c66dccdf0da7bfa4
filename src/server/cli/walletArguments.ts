/** Arguments of the wallet commands, checked: the action, the server and the wallet. */

import { parseAda } from '../../client/trade/ada.ts';
import { type AssetId, COIN, parseAsset } from '../../engine/market/asset.ts';
import { SLIPPAGES, type Slippage } from '../../engine/market/order.ts';
import { parseDurationMs, parseMomentMs, parseNumber, parseTokens } from './amounts.ts';
import type { Values } from './options.ts';

/** The server and the wallet. */
interface ClientOptions {
  readonly url: string;
  readonly walletFile: string;
  /** Wait for the block, and for the fill of an order. */
  readonly wait: boolean;
  /** One JSON object instead of text. */
  readonly json: boolean;
}

/** A token as it was named. */
export type TokenName = { readonly id: AssetId } | { readonly ticker: string };

export type WalletAction =
  | { readonly name: 'wallet new' }
  | { readonly name: 'wallet balance' }
  | { readonly name: 'wallet faucet'; readonly ada: number }
  | LaunchAction
  | {
      readonly name: 'buy';
      readonly token: TokenName;
      /** Lovelace to spend; null where `tokens` are named. */
      readonly lovelace: bigint | null;
      readonly tokens: bigint | null;
      readonly slippage: Slippage;
      /** Tokens; null: the slippage decides. */
      readonly minOutput: bigint | null;
      readonly waitForSeconds: number | null;
    }
  | {
      readonly name: 'sell';
      readonly token: TokenName;
      readonly tokens: bigint | 'all';
      readonly slippage: Slippage;
      /** Lovelace; null: the slippage decides. */
      readonly minOutput: bigint | null;
      readonly waitForSeconds: number | null;
    }
  | { readonly name: 'cancel'; readonly id: string }
  | LockAction
  /** null: show the locks. */
  | { readonly name: 'withdraw'; readonly id: string | null };

export interface LaunchAction {
  readonly name: 'launch';
  readonly tokenName: string;
  readonly ticker: string;
  readonly description: string;
  /** null: a picture is generated from the name. */
  readonly imageFile: string | null;
  readonly initialLovelace: bigint;
  readonly isHyped: boolean;
  readonly isAi: boolean;
  readonly socials: Readonly<Partial<Record<(typeof SOCIALS)[number], string>>>;
}

export interface LockAction {
  readonly name: 'lock';
  readonly token: TokenName;
  readonly tokens: bigint;
  /** Exactly one of the two: a duration from now, or a moment. */
  readonly forMs: number | null;
  readonly untilMs: number | null;
  readonly stages: number;
}

export interface McpCommand {
  readonly name: 'mcp';
  readonly url: string;
  readonly walletFile: string;
}

export interface WalletCommand {
  readonly name: 'wallet command';
  readonly action: WalletAction;
  readonly client: ClientOptions;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';
const DEFAULT_WALLET = './wallet.json';
const FAUCET_ADA = 1000;
const MOST_STAGES = 10;
/** The least `waitFor` of the API. */
const LEAST_WAIT_SECONDS = 600;
const MOST_WAIT_SECONDS = 2_592_000;
const SOCIALS = ['twitter', 'discord', 'telegram', 'website'] as const;
const ID = /^[0-9a-fA-F]{64}:\d{1,5}$/;

function isWalletCommand(name: string): boolean {
  return Object.hasOwn(PARSERS, name);
}

/** null: `name` is not a wallet command; a string is an error message. */
export function parseWalletCommand(
  name: string,
  rest: readonly string[],
  values: Values,
): WalletCommand | string | null {
  const parse = isWalletCommand(name) ? PARSERS[name] : undefined;
  if (parse === undefined) return null;
  const client = parseClient(values);
  if (typeof client === 'string') return client;
  const action = parse(rest, values);
  return typeof action === 'string' ? action : { name: 'wallet command', action, client };
}

export function parseMcp(values: Values): McpCommand | string {
  const client = parseClient(values);
  if (typeof client === 'string') return client;
  return { name: 'mcp', url: client.url, walletFile: client.walletFile };
}

type Parser = (rest: readonly string[], values: Values) => WalletAction | string;

const PARSERS: Readonly<Record<string, Parser>> = {
  wallet: parseWallet,
  launch: parseLaunch,
  buy: parseBuy,
  sell: parseSell,
  cancel: parseCancel,
  lock: parseLock,
  withdraw: parseWithdraw,
};

function parseClient(values: Values): ClientOptions | string {
  const url = serverUrl(values);
  if (url === null) return BAD_URL;
  const walletFile = textOf(values, 'wallet') ?? DEFAULT_WALLET;
  return { url, walletFile, wait: values['no-wait'] !== true, json: values.json === true };
}

export const BAD_URL = '--url takes an http(s) URL';

/** null: not a URL of a server. */
export function serverUrl(values: Values): string | null {
  const url = textOf(values, 'url') ?? DEFAULT_URL;
  const protocol = URL.parse(url)?.protocol ?? '';
  return /^https?:$/.test(protocol) ? url : null;
}

function parseWallet([action, ada, ...more]: readonly string[]): WalletAction | string {
  if (more.length > 0) return `unexpected argument: ${more[0]}`;
  if (action === 'faucet') {
    const amount = ada === undefined ? FAUCET_ADA : Number(/^\d{1,5}$/.test(ada) ? ada : 0);
    if (amount < 2 || amount > 10_000) return 'wallet faucet takes whole ADA from 2 to 10000';
    return { name: 'wallet faucet', ada: amount };
  }
  if (ada !== undefined) return `unexpected argument: ${ada}`;
  if (action === 'new') return { name: 'wallet new' };
  if (action === 'balance') return { name: 'wallet balance' };
  return 'wallet takes new, balance or faucet';
}

function parseLaunch([stray]: readonly string[], values: Values): WalletAction | string {
  if (stray !== undefined) return `unexpected argument: ${stray}`;
  const tokenName = textOf(values, 'name')?.trim() ?? '';
  const ticker = textOf(values, 'ticker') ?? '';
  if ([...tokenName].length < 1 || [...tokenName].length > 16) {
    return 'launch needs --name of 1 to 16 characters';
  }
  if (!/^[A-Za-z0-9]{1,6}$/.test(ticker)) {
    return 'launch needs --ticker of 1 to 6 letters and digits';
  }
  const initialLovelace = parseAda(textOf(values, 'initial') ?? '0');
  if (initialLovelace === null) return '--initial takes ADA with at most 6 decimals';
  const socials = SOCIALS.flatMap((name) => {
    const url = textOf(values, name);
    return url === null ? [] : [[name, url]];
  });
  return {
    name: 'launch',
    tokenName,
    ticker,
    description: textOf(values, 'description') ?? '',
    imageFile: textOf(values, 'image'),
    initialLovelace,
    isHyped: values.hyped === true,
    isAi: values.ai === true,
    socials: Object.fromEntries(socials),
  };
}

function parseBuy([named, ada, ...more]: readonly string[], values: Values): WalletAction | string {
  const token = parseToken('buy', named);
  const slippage = parseSlippage(values);
  if (typeof token === 'string') return token;
  if (typeof slippage === 'string') return slippage;
  if (more.length > 0) return `unexpected argument: ${more[0]}`;
  const wanted = textOf(values, 'tokens');
  if ((ada === undefined) === (wanted === null)) {
    return 'buy takes either an amount of ADA or --tokens';
  }
  const lovelace = ada === undefined ? null : parseAda(ada);
  if (ada !== undefined && (lovelace === null || lovelace === 0n)) {
    return `${ada} is no amount of ADA (above 0, at most 6 decimals)`;
  }
  const tokens = wanted === null ? null : parseTokens(wanted);
  if (wanted !== null && tokens === null) return '--tokens takes a whole number above 0';
  const least = textOf(values, 'min-output');
  const minOutput = least === null ? null : parseTokens(least);
  if (least !== null && minOutput === null) {
    return 'buy --min-output takes a whole number of tokens above 0';
  }
  const wait = parseWaitFor(values);
  if (typeof wait === 'string') return wait;
  return { name: 'buy', token, lovelace, tokens, slippage: slippage.value, minOutput, ...wait };
}

function parseSell(rest: readonly string[], values: Values): WalletAction | string {
  const [named, amount, ...more] = rest;
  const token = parseToken('sell', named);
  const slippage = parseSlippage(values);
  if (typeof token === 'string') return token;
  if (typeof slippage === 'string') return slippage;
  if (more.length > 0) return `unexpected argument: ${more[0]}`;
  const tokens: bigint | 'all' | null = amount === 'all' ? 'all' : parseTokens(amount ?? '');
  if (tokens === null) return 'sell takes a whole number of tokens above 0, or all';
  const least = textOf(values, 'min-output');
  const minOutput = least === null ? null : parseAda(least);
  if (least !== null && (minOutput === null || minOutput === 0n)) {
    return 'sell --min-output takes ADA above 0, with at most 6 decimals';
  }
  const wait = parseWaitFor(values);
  if (typeof wait === 'string') return wait;
  const terms = { token, tokens, slippage: slippage.value, minOutput };
  return { name: 'sell', ...terms, ...wait } as const;
}

function parseCancel([id = '', ...more]: readonly string[]): WalletAction | string {
  if (more.length > 0) return `unexpected argument: ${more[0]}`;
  if (!ID.test(id)) return 'cancel takes the id of an order, <tx>:<index>';
  return { name: 'cancel', id: id.toLowerCase() };
}

function parseLock(rest: readonly string[], values: Values): WalletAction | string {
  const [named, amount, ...more] = rest;
  const token = parseToken('lock', named);
  if (typeof token === 'string') return token;
  if (more.length > 0) return `unexpected argument: ${more[0]}`;
  const tokens = parseTokens(amount ?? '');
  if (tokens === null) return 'lock takes a whole number of tokens above 0';
  const [duration, moment] = [textOf(values, 'for'), textOf(values, 'until')];
  if ((duration === null) === (moment === null)) {
    return 'lock takes either --for 30m or --until 2030-01-31T12:00Z';
  }
  const forMs = duration === null ? null : parseDurationMs(duration);
  if (duration !== null && (forMs === null || forMs === 0)) {
    return '--for takes a duration such as 90s, 30m, 2h or 7d';
  }
  const untilMs = moment === null ? null : parseMomentMs(moment);
  if (moment !== null && untilMs === null)
    return '--until takes a moment such as 2030-01-31T12:00Z';
  const stages = parseNumber(textOf(values, 'stages') ?? '1') ?? 0;
  if (!Number.isInteger(stages) || stages < 1 || stages > MOST_STAGES) {
    return `--stages takes a whole number from 1 to ${MOST_STAGES}`;
  }
  return { name: 'lock', token, tokens, forMs, untilMs, stages };
}

function parseWithdraw([id, ...more]: readonly string[]): WalletAction | string {
  if (more.length > 0) return `unexpected argument: ${more[0]}`;
  if (id === undefined) return { name: 'withdraw', id: null };
  if (!ID.test(id)) return 'withdraw takes the id of a lock, <tx>:<index>';
  return { name: 'withdraw', id: id.toLowerCase() };
}

/** Tickers of launched tokens; more than one token may have the same. */
const TICKER = /^[A-Za-z0-9]{1,6}$/;

function parseToken(command: string, text = ''): TokenName | string {
  const missing = `${command} takes a ticker or the id of a token, <56 hex policy>.<hex name>`;
  return tokenName(text) ?? missing;
}

/** null: neither the id of a token nor a ticker. */
export function tokenName(text: string): TokenName | null {
  const id = parseAsset(text);
  if (id !== null && id !== COIN) return { id };
  return TICKER.test(text) ? { ticker: text } : null;
}

function parseSlippage(values: Values): { value: Slippage } | string {
  const text = textOf(values, 'slippage') ?? '15';
  const value = SLIPPAGES.find((known) => known === text);
  return value === undefined ? `--slippage takes ${SLIPPAGES.join(', ')}` : { value };
}

/** null: the order is filled at once, or given back when the deployment says. */
function parseWaitFor(values: Values): { readonly waitForSeconds: number | null } | string {
  const text = textOf(values, 'wait-for');
  if (text === null) return { waitForSeconds: null };
  if (textOf(values, 'min-output') === null) return '--wait-for needs --min-output: the price';
  const seconds = (parseDurationMs(text) ?? 0) / 1000;
  const isIn = seconds >= LEAST_WAIT_SECONDS && seconds <= MOST_WAIT_SECONDS;
  if (!isIn) return '--wait-for takes a duration from 10m to 30d';
  return { waitForSeconds: Math.floor(seconds) };
}

function textOf(values: Values, name: keyof Values): string | null {
  const value = values[name];
  return typeof value === 'string' ? value : null;
}
