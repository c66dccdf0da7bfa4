/**
 * Waits until a transaction of ours is in a block: then one of its outputs is at our key, because
 * every transaction that we sign gives change. Polls the server for a while.
 */
import type { PageContext } from '../context.ts';

const ASK_EVERY_MS = 700;
const MAX_WAIT_MS = 180_000;
const PAGE = 1000;

/** false: not seen in time, or given up. */
export async function untilInBlock(
  { client, clock }: PageContext,
  keyHash: string,
  txHash: string,
  signal: AbortSignal,
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + MAX_WAIT_MS;
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
    // The server is away: the next poll answers.
    return false;
  }
}
