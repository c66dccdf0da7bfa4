/**
 * Whether the devnet's Ogmios and Kupo cost the same after 1,000 and after 500,000 blocks: latency
 * of chain synchronisation, of Kupo's matches and of submissions, and memory.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { ServedDevnet } from './processes/servedDevnet.ts';
import { type Bench, fixed, whole } from './support/bench.ts';
import { Process } from './support/processes.ts';
import { quantile } from './support/quantile.ts';

const HEIGHTS = [1_000, 500_000];
const ASKED = 500;
const WARM = 50;

export const devnetNode: Bench = {
  name: 'devnetNode',
  async measure({ trades }, progress) {
    // A short run makes a tenth of the blocks.
    const heights = trades < 100_000 ? [1_000, 50_000] : HEIGHTS;
    const rows: string[][] = [];
    for (const height of heights) {
      progress(`${whole(height)} blocks`);
      rows.push(await measured(height));
    }
    return { columns: COLUMNS, rows, notes: NOTES };
  },
};

const COLUMNS = [
  'blocks',
  'block made µs',
  'file MiB',
  'RSS MiB, open',
  'RSS MiB, after',
  'nextBlock ms p50',
  'p99',
  'by address ms p50',
  'p99',
  'by policy ms p50',
  'p99',
  'submit ms p50',
  'p99',
];

const NOTES = [
  `${ASKED} of each kind, one after another, by one client; ${WARM} before them warm up.`,
  'nextBlock: the newest blocks. Matches: the 100 unspent outputs of an address, and of a policy.',
];

async function measured(height: number): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
  try {
    const maker = await Process.start<ServedDevnet>('servedDevnet.ts', 'server', [directory]);
    const { seconds, fileMib } = await maker.ask('grow', height);
    await maker.end();
    const server = await Process.start<ServedDevnet>('servedDevnet.ts', 'server', [directory]);
    const { ogmiosUrl, kupoUrl, address, policy } = await server.ask('serve');
    const openMib = await server.ask('rssMib');
    const ogmios = await connected(ogmiosUrl);
    const count = ASKED + WARM;
    // The warm-up takes the first steps; as many blocks lie before the tip.
    const point = await pointBefore(kupoUrl, count);
    await ogmios.ask('findIntersection', { points: [point] });
    const latencies = [
      await timed(() => ogmios.ask('nextBlock')),
      await timed(() => matches(`${kupoUrl}/matches/${address}?unspent`)),
      await timed(() => matches(`${kupoUrl}/matches/${policy}.*?unspent`)),
    ];
    const payments = await server.ask('payments', count);
    latencies.push(
      await timed(async () => {
        const cbor = payments.pop() ?? '';
        await ogmios.ask('submitTransaction', { transaction: { cbor } });
      }),
    );
    ogmios.close();
    const afterMib = await server.ask('rssMib');
    await server.end();
    return [
      whole(height),
      fixed((seconds * 1e6) / height, 0),
      fixed(fileMib, 1),
      whole(openMib),
      whole(afterMib),
      ...latencies.flatMap((each) => [fixed(quantile(each, 0.5)), fixed(quantile(each, 0.99))]),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function timed(run: () => Promise<unknown>): Promise<number[]> {
  const latencies: number[] = [];
  for (let at = 0; at < ASKED + WARM; at += 1) {
    const startMs = performance.now();
    await run();
    latencies.push(performance.now() - startMs);
  }
  return latencies.slice(WARM);
}

async function connected(url: string) {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  return {
    async ask(method: string, params: object = {}): Promise<void> {
      const answered = once(socket, 'message');
      socket.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
      const [data] = await answered;
      if (String(data).includes('"error":')) throw new Error(String(data).slice(0, 500));
    },
    close: () => socket.terminate(),
  };
}

async function matches(url: string): Promise<void> {
  const found: unknown = await (await fetch(url)).json();
  if (!Array.isArray(found) || found.length !== 100) throw new Error(JSON.stringify(found));
}

/** Of the block so many below the newest: there is one in every slot. */
async function pointBefore(kupoUrl: string, depth: number) {
  const newest = await fetch(`${kupoUrl}/checkpoints`);
  const slot = Number(newest.headers.get('x-most-recent-checkpoint')) - depth;
  const answer = await fetch(`${kupoUrl}/checkpoints/${slot}?strict`);
  // trust: what Kupo answers to a checkpoint
  const { header_hash: id } = (await answer.json()) as { header_hash: string };
  return { slot, id };
}
