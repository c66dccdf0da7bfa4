import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { readTraderConfig } from '../../../src/traders/config.ts';
import { LONG_ONLY } from '../../support/long.ts';
import { SimMarket } from '../chain/simMarket.ts';
import { SimDisk } from '../machine/simDisk.ts';
import { VirtualTime } from '../machine/virtualTime.ts';
import { NatsModel } from '../nats/model.ts';
import { SimNode } from './simNode.ts';

const MAX_MS = 120_000;
const LATER_MS = 60_000;

interface Cluster {
  readonly time: VirtualTime;
  readonly market: SimMarket;
  readonly nodes: readonly SimNode[];
  readonly lines: readonly string[];
}

test('the same seed gives the same life of a cluster, line by line', LONG_ONLY, async () => {
  const digests: string[] = [];
  for (let run = 0; run < 2; run += 1) {
    digests.push(
      await withCluster(async ({ time, market, nodes, lines }) => {
        const stop = market.startCrowd(1, nodes);
        const [first, second, third] = nodes;
        await time.run(time.nowMs + 60_000);
        first?.kill();
        second?.pause();
        await time.run(time.nowMs + 20_000);
        second?.resume();
        third?.jumpClock(1_500);
        void first?.start();
        await time.run(time.nowMs + 60_000);
        stop();
        await time.run(time.nowMs + LATER_MS);
        const states = await statesOf(time, nodes);
        assert.equal(new Set(states).size, 1, states.join('\n'));
        return hash('sha256', [...lines, ...states, String(time.events)].join('\n'));
      }),
    );
  }
  assert.equal(digests[0], digests[1]);
});

test('a node whose threads die serves again, or ends and says why', async () => {
  await withCluster(async ({ time, nodes, lines }) => {
    for (const which of ['writer', 'builder', 'ogmios'] as const) {
      for (const node of nodes) {
        const before = lines.length;
        node.killThread(which);
        await time.run(time.nowMs + LATER_MS);
        if (node.ended !== null) {
          assert.match(lines.slice(before).join('\n'), /"level":"(error|fatal)"/);
          await time.settle(node.start(), MAX_MS);
          await time.run(time.nowMs + LATER_MS);
        }
        const ready = await time.settle(node.request('GET', '/health/ready'), 5_000);
        assert.equal(ready?.status, 200, `${node.name} without its ${which}: ${ready?.body}`);
      }
    }
    const states = await statesOf(time, nodes);
    assert.equal(new Set(states).size, 1, states.join('\n'));
  });
});

function statesOf(time: VirtualTime, nodes: readonly SimNode[]): Promise<string[]> {
  const states = nodes.map((each) =>
    each.run(({ node }) => `${JSON.stringify(node.applied())} ${node.stateHash()}`),
  );
  return time.settle(Promise.all(states), 1_000);
}

/** Three nodes over NATS that follow one chain, a block every two seconds; all have started. */
async function withCluster<T>(work: (cluster: Cluster) => Promise<T>): Promise<T> {
  const time = new VirtualTime();
  const disk = new SimDisk(time);
  const restore = [time.install(seededRng(1)), disk.install()];
  const directory = mkdtempSync(join(tmpdir(), 'sim-'));
  const market = new SimMarket({ time, seed: 2, paceMs: 2_000 });
  market.devnet.start();
  const clock = time.clock({}, time.process('NATS'));
  const nats = new NatsModel({ clock, rng: seededRng(3), version: '2.12', servers: 1 });
  const lines: string[] = [];
  const env = { ...market.env, NATS_URL: 'nats://nats.sim:4222', MARKET_NAME: 'sim' };
  const nodes = ['a', 'b', 'c'].map((name, index) => {
    const place = { time, disk, name, directory: join(directory, name), seed: 10 + index };
    return new SimNode({
      ...place,
      nats,
      env: { ...env, NODE_NAME: name },
      chain: market.devnet,
      devnet: { traders: readTraderConfig(), pace: 0, seed: 4 },
      onLine: (line) => lines.push(`${name} ${line}`),
    });
  });
  try {
    await time.settle(Promise.all(nodes.map((node) => node.start())), MAX_MS);
    await time.run(time.nowMs + LATER_MS);
    return await work({ time, market, nodes, lines });
  } finally {
    for (const node of nodes) node.kill();
    market.close();
    for (const take of restore.toReversed()) take();
    rmSync(directory, { recursive: true, force: true });
  }
}
