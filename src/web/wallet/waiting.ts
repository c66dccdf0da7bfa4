/**
 * Whether a transaction of ours has come into a block: then an output of it lies at our own key,
 * for every transaction that we sign gives change. Asked again and again, for a while.
 */
import type { PageContext } from '../context.ts';

const ASK_EVERY_MS = 700;
const MOST_MS = 180_000;
const PAGE = 1000;

/** false: not seen in time, or given up. */
export async function inBlock(
  { client, clock }: PageContext,
  keyHash: string,
  txHash: string,
  signal: AbortSignal,
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + MOST_MS;
  while (!signal.aborted && clock.monotonicMs() < untilMs) {
    if (await isThere(client, keyHash, txHash)) return true;
    await new Promise<void>((resolve) => {
      clock.after(ASK_EVERY_MS, resolve);
    });
  }
  return false;
}

async function isThere(
  client: PageContext['client'],
  pkh: string,
  txHash: string,
): Promise<boolean> {
  try {
    const { data } = await client.utxos.list({ pkh, limit: PAGE });
    return data.some((row) => row.txHash === txHash);
  } catch {
    // The server is away for a moment: the next look tells.
    return false;
  }
}
