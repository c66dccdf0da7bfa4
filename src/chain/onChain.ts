/** Whether a block is one of the chain as it is now: forks may have taken it back. */
import type { ChainSource, Point } from './port.ts';

export async function isOnChain(source: ChainSource, { slot, hash }: Point): Promise<boolean> {
  const stream = await source.open([{ slot, hash }]);
  await stream?.close();
  return stream !== null;
}
