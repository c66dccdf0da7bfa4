/** A node alone, fed by hand: for tests of the simulation itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import type { App } from '../../../src/server/app.ts';
import { DOGE_COIN, lineOf } from '../../support/feeds.ts';
import { SimDisk } from '../machine/simDisk.ts';
import { VirtualTime } from '../machine/virtualTime.ts';
import { SimNode, type SimNodeOptions } from './simNode.ts';

const { base, quote } = DOGE_COIN;
const SPAN = 'resolution=min1&from=0&to=4000000000';
export const BARS = `/v1/charts/history?base=${base}&quote=${quote}&${SPAN}`;

export async function feed(app: App, lines: string): Promise<void> {
  await app.replay(Readable.from([Buffer.from(lines)]), {
    feed: null,
    speed: null,
    latenessMs: 60_000,
  });
}

/** `count` trades, a second apart. */
export function trades(from: number, count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const number = from + index;
    return lineOf({
      id: `t${number}`,
      timeMs: 1_700_000_000_000 + number * 1000,
      ...DOGE_COIN,
      baseDecimals: 0,
      quoteDecimals: 6,
      baseAmount: 1000n,
      quoteAmount: 500_000n + BigInt((number * 7919) % 1000),
    });
  });
  return `${lines.join('\n')}\n`;
}

interface AloneNode {
  readonly time: VirtualTime;
  readonly disk: SimDisk;
  readonly node: SimNode;
  readonly lines: string[];
  /** Globals and files are the process's own again. */
  end(): void;
}

export function aloneNode(t: TestContext, options: Partial<SimNodeOptions> = {}): AloneNode {
  const time = new VirtualTime();
  const disk = new SimDisk(time);
  const directory = mkdtempSync(join(tmpdir(), 'sim-'));
  const restore = [time.install(seededRng(9)), disk.install()];
  const lines: string[] = [];
  const node = new SimNode({
    time,
    disk,
    name: 'a',
    directory: join(directory, 'a'),
    seed: 1,
    env: { NETWORK: 'none' },
    onLine: (line) => lines.push(line),
    ...options,
  });
  const end = () => {
    node.kill();
    for (const take of restore.splice(0).toReversed()) take();
    rmSync(directory, { recursive: true, force: true });
  };
  t.after(end);
  return { time, disk, node, lines, end };
}
