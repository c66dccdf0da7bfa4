/** Steps that disturb one thing at the same time, in a world whose nodes do not run. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NatsModel } from '../nats/model.ts';
import type { Life } from './life.ts';
import { drawSchedule, STEPS } from './steps/all.ts';
import { Timeline } from './timeline.ts';
import { openWorld } from './world.ts';

interface Scene {
  readonly life: Life;
  readonly nats: NatsModel;
  step(step: string, fields: Readonly<Record<string, string | number>>): void;
  pass(ms: number): Promise<void>;
}

async function play(run: (scene: Scene) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sim-overlaps-'));
  const drawn = drawSchedule({ seed: 1, hours: 0.1 });
  const schedule = { ...drawn, settings: { ...drawn.settings, natsServers: 1 as const } };
  const broken = (invariant: string, why: string) => assert.fail(`${invariant}: ${why}`);
  const timeline = new Timeline(() => 0, directory);
  const { time, life, close } = openWorld(schedule, directory, timeline, broken);
  const { nats } = life.deps;
  assert(nats instanceof NatsModel);
  try {
    await run({
      life,
      nats,
      step: (step, fields) => STEPS[step]?.apply(life, { atMs: 0, step, ...fields }),
      pass: (ms) => time.run(time.nowMs + ms),
    });
  } finally {
    await close();
    rmSync(directory, { recursive: true, force: true });
  }
}

test('a node stays cut off until each of its partitions is over', async () => {
  await play(async ({ life, nats, step, pass }) => {
    const server = nats.servers[0]?.place ?? '';
    const cuts = () => [nats.network.isCut(server, 'n1'), nats.network.isCut('n1', server)];
    const startMs = life.deps.clock.monotonicMs();
    step('partition', { node: 0, way: 'in', forMs: 10_000 });
    await pass(5_000);
    step('partition', { node: 0, way: 'both', forMs: 2_000 });
    assert.deepEqual(cuts(), [true, true]);
    await pass(3_000);
    assert.deepEqual(cuts(), [true, false]);
    assert.equal(life.cut.sinceMs('n1'), startMs);
    await pass(3_000);
    assert.deepEqual(cuts(), [false, false]);
    assert.equal(life.cut.has('n1'), false);
  });
});

test('the end of a step leaves other disturbances of the node', async () => {
  const steps = ['slow', 'duplicate', 'drop'];
  for (const first of ['partition', ...steps]) {
    await play(async ({ life, nats, step, pass }) => {
      const fields = { node: 0, ms: 500, percent: 50 };
      const server = nats.servers[0]?.place ?? '';
      step(first, { ...fields, way: 'out', forMs: 10_000 });
      for (const other of steps) {
        if (other !== first) step(other, { ...fields, forMs: 1_000 });
      }
      await pass(5_000);
      assert.equal(nats.network.isCut('n1', server), first === 'partition', first);
      assert.equal(nats.network.delayMs('n1', server) >= 500, first === 'slow', first);
      assert.equal(life.heldUp.has('n1'), first !== 'partition', first);
      await pass(6_000);
      assert.equal(nats.network.isCut('n1', server), false);
      assert.equal(nats.network.delayMs('n1', server) >= 500, false);
      assert.equal(life.heldUp.has('n1'), false);
      assert.equal(life.isDisturbed, false);
    });
  }
});

test('a server of NATS that several steps hold down starts with the last of them', async () => {
  await play(async ({ life, nats, step, pass }) => {
    const isUp = () => nats.servers[0]?.isUp;
    step('killNats', { server: 0, loseLastMs: 2_000, forMs: 2_000 });
    await pass(1_000);
    step('killNats', { server: 0, loseLastMs: 0, forMs: 10_000 });
    step('cutInFlight', { afterMs: 500, forMs: 1_000 });
    await pass(5_000);
    assert.equal(isUp(), false);
    assert.equal(life.losses, 0);
    await pass(6_000);
    assert.equal(isUp(), true);
    assert.equal(life.losses, 1);
  });
});

test('a frozen server and a cut to the chain last as long as the longest step', async () => {
  await play(async ({ life, nats, step, pass }) => {
    const server = nats.servers[0]?.place ?? '';
    for (const forMs of [10_000, 2_000]) {
      step('freezeNats', { server: 0, forMs });
      step('cutFromChain', { node: 0, forMs });
    }
    await pass(5_000);
    assert.equal(nats.network.isFrozen(server), true);
    assert.equal(life.chainCut.has('n1'), true);
    await pass(6_000);
    assert.equal(nats.network.isFrozen(server), false);
    assert.equal(life.chainCut.has('n1'), false);
  });
});

test('a repair before its time holds for each step', async () => {
  await play(async ({ life, nats, step, pass }) => {
    const server = nats.servers[0]?.place ?? '';
    for (const forMs of [10_000, 20_000]) {
      step('partition', { node: 0, way: 'both', forMs });
      step('killNats', { server: 0, loseLastMs: 0, forMs });
    }
    await pass(1_000);
    life.mend();
    assert.equal(nats.servers[0]?.isUp, true);
    assert.equal(nats.network.isCut('n1', server), false);
    assert.equal(life.cut.has('n1'), false);
    step('partition', { node: 0, way: 'both', forMs: 30_000 });
    await pass(20_000);
    assert.equal(life.cut.has('n1'), true, 'nothing of before the mending ends it');
  });
});
