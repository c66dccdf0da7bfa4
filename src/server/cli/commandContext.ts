/** The context of a wallet command: its token, and its waits for the chain and the server. */
import { ApiError, type Client } from '../../client/index.ts';
import type { TradingClient } from '../../client/trade/tradingClient.ts';
import type { WalletUtxo } from '../../client/trade/utxo.ts';
import { type AssetId, parseAsset } from '../../engine/market/asset.ts';
import { type Clock, pause } from '../../engine/runtime/clock.ts';
import type { Json } from '../../engine/runtime/json.ts';
import type { TokenName } from './commands/server.ts';

export const DONE = 0;
export const FAILED = 1;
export const MISUSED = 2;

/** Amounts as texts. */
export type Facts = Readonly<Record<string, Json>>;

export interface CommandContext {
  readonly trading: TradingClient;
  readonly clock: Clock;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  /** Wait until a block has the transaction. */
  readonly wait: boolean;
  /** One line of the result; `facts` are its fields with `--json`. */
  say(line: string, facts?: Facts): void;
  /** One line about a problem. */
  complain(line: string): void;
  /** Whether the person at the terminal says yes; null: there is no terminal to ask at. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

const LOOK_EVERY_MS = 250;
const LONGEST_WAIT_MS = 120_000;

/** Polls the wallet until `find` returns something; null after two minutes. */
export async function pollWallet<T>(
  { trading, clock, signal }: CommandContext,
  find: (utxos: readonly WalletUtxo[]) => T | null,
): Promise<T | null> {
  const endMs = clock.monotonicMs() + LONGEST_WAIT_MS;
  for (;;) {
    const found = find(await trading.utxos());
    if (found !== null) return found;
    if (clock.monotonicMs() >= endMs) return null;
    await pause(clock, LOOK_EVERY_MS, signal);
  }
}

/** Waits, unless `--no-wait`, until the wallet shows an output of the transaction. */
export async function waitForBlock(context: CommandContext, txHash: string): Promise<number> {
  if (!context.wait) return DONE;
  const startMs = context.clock.monotonicMs();
  const found = await pollWallet(context, (utxos) =>
    utxos.some(({ ref }) => ref.txHash === txHash) ? true : null,
  );
  if (found === null) {
    context.complain(`No block has ${txHash} yet; it may still come.`);
    return FAILED;
  }
  const tookMs = context.clock.monotonicMs() - startMs;
  context.say(`In a block after ${formatSeconds(tookMs)}.`, { inBlockAfterMs: Math.round(tookMs) });
  return DONE;
}

/** Waits until the market lists a launched token. */
export function waitUntilListed(context: CommandContext, asset: string): Promise<number> {
  return pollServer(context, async ({ client }) => {
    const { data } = await client.pools.list('New');
    return data.some((pool) => pool.info.asset === asset);
  });
}

/** The same for the locks that a transaction makes. */
export function waitUntilLocked(context: CommandContext, txHash: string): Promise<number> {
  return pollServer(context, async (trading) => {
    return (await trading.locks()).some(({ id }) => id.startsWith(txHash));
  });
}

async function pollServer(
  { trading, clock, signal }: CommandContext,
  isShown: (trading: TradingClient) => Promise<boolean>,
): Promise<number> {
  const endMs = clock.monotonicMs() + LONGEST_WAIT_MS;
  // A failed request does not change the result: the next poll asks again.
  const isShownNow = () => isShown(trading).catch(ignoreApiError);
  while (clock.monotonicMs() < endMs && !signal.aborted && !(await isShownNow())) {
    await pause(clock, LOOK_EVERY_MS, signal);
  }
  return DONE;
}

function ignoreApiError(error: unknown): false {
  if (error instanceof ApiError) return false;
  throw error;
}

export function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

const MAX_FOUND = 50;

/** As `assetNamed`, with the client of the wallet. */
export function assetOf(context: CommandContext, token: TokenName): Promise<AssetId | null> {
  return assetNamed(token, context.trading.client, context.complain);
}

/** The one token of this ticker; null: none or several, about which it complains. */
export async function assetNamed(
  token: TokenName,
  client: Client,
  complain: (line: string) => void,
): Promise<AssetId | null> {
  if ('id' in token) return token.id;
  const { ticker } = token;
  const { data } = await client.pools.search({ pattern: ticker, limit: MAX_FOUND });
  const isMeant = (text: string) => text.toLowerCase() === ticker.toLowerCase();
  const found = data.items.filter(({ info }) => isMeant(info.ticker)).map(({ info }) => info.asset);
  const [only, ...others] = found.map(parseAsset);
  if (only !== undefined && others.length === 0 && data.count <= MAX_FOUND) return only;
  complain(
    found.length === 0
      ? `No token has the ticker ${ticker}. Name it by its id.`
      : `Which ${ticker}? Tickers are not unique. Name the token by its id: ${found.join(', ')}`,
  );
  return null;
}
