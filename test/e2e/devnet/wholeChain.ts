/** A chain as strangers read it, through Ogmios alone: its tip, and all blocks from the first. */
import assert from 'node:assert/strict';
import { OgmiosChain } from '../../../src/chain/ogmios/ogmios.ts';
import type { Block, ChainSource, ChainTip } from '../../../src/chain/port.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import type { Scope } from '../../support/server.ts';

export async function openOgmios(scope: Scope, url: string): Promise<OgmiosChain> {
  const source = new OgmiosChain({
    url,
    deployment: null,
    watched: () => ({ tokens: [], watched: [] }),
    clock: systemClock,
    rng: seededRng(7),
    observer: {
      nodeConnected: () => {},
      nodeLost: () => {},
      partPassedOver: () => {},
      ogmiosFailed: (error) => assert.fail(String(error)),
    },
  });
  scope.after(() => source.stop());
  await source.start();
  return source;
}

export async function tipAt(
  ogmiosUrl: string,
): Promise<{ readonly tip: ChainTip | null; readonly slot: number }> {
  const answer = await fetch(`${ogmiosUrl.replace(/^ws/, 'http')}/health`);
  // trust: Ogmios' health
  const { lastKnownTip } = (await answer.json()) as {
    lastKnownTip: { slot: number; id: string; height: number } | 'origin' | null;
  };
  if (lastKnownTip === null || lastKnownTip === 'origin') return { tip: null, slot: 0 };
  const { slot, id, height } = lastKnownTip;
  return { tip: { slot, hash: id, height }, slot };
}

/** Every block up to this height. */
export async function blocksTo(chain: ChainSource, height: number): Promise<Block[]> {
  const stream = await chain.open([]);
  assert(stream !== null);
  const blocks: Block[] = [];
  while ((blocks.at(-1)?.height ?? 0) < height) {
    const event = await stream.next();
    if (event?.kind === 'forward') blocks.push(event.block);
  }
  await stream.close();
  return blocks;
}
