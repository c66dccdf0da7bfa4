/** One command of a person at work: who asks which server, what it says, and how it waits. */
import { ApiError } from '../../client/index.ts';
import type { TradingClient } from '../../client/trade/tradingClient.ts';
import type { WalletUtxo } from '../../client/trade/utxo.ts';
import { type Clock, pause } from '../../engine/runtime/clock.ts';

export const DONE = 0;
export const FAILED = 1;
export const MISUSED = 2;

export interface CommandContext {
  readonly trading: TradingClient;
  readonly clock: Clock;
  /** Ends what waits. */
  readonly signal: AbortSignal;
  /** Stay until a block has it. */
  readonly wait: boolean;
  /** One line of the result. */
  say(line: string): void;
  /** One line about what went wrong. */
  complain(line: string): void;
}

const LOOK_EVERY_MS = 250;
const LONGEST_WAIT_MS = 120_000;

/** Looks at the wallet until `find` finds something; null after two minutes. */
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

/** Waits, if asked to, until a block has the transaction: its change shows in the wallet. */
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
  context.say(`In a block after ${formatSeconds(context.clock.monotonicMs() - startMs)}.`);
  return DONE;
}

/** Waits until the market knows a token that was launched. */
export function waitUntilListed(context: CommandContext, asset: string): Promise<number> {
  return pollServer(context, async ({ client }) => {
    const { data } = await client.pools.list('New');
    return data.some((pool) => pool.info.asset === asset);
  });
}

/** As `untilListed`, for the locks that a transaction makes. */
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
  // An answer that fails changes nothing of what was done: it is asked again.
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
