import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pause, sleep } from '../../../src/engine/runtime/clock.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { VirtualTime } from './virtualTime.ts';

test('events run in the order of their times, and of one time as they were made', async () => {
  const time = new VirtualTime();
  const [startMs, node] = [time.nowMs, time.process('node')];
  const seen: string[] = [];
  const note = (what: string) => () => void seen.push(`${what} ${time.nowMs - startMs}`);
  const rng = seededRng(1);
  const delays = Array.from({ length: 3000 }, () => Math.floor(rng.unit() * 500));
  for (const [index, ms] of delays.entries()) time.at(node, ms, note(`${index}`));
  const timers = delays.map((ms) => time.at(node, ms, note('never')));
  for (const timer of timers) timer.cancel();
  await time.run(startMs + 200);
  assert.equal(time.nowMs, startMs + 200);
  await time.run(startMs + 1000);
  const expected = delays
    .map((ms, index) => ({ ms, index }))
    .sort((a, b) => a.ms - b.ms || a.index - b.index)
    .map(({ ms, index }) => `${index} ${ms}`);
  assert.deepEqual(seen, expected);
});

test('all that an event causes, on the disk too, is done before the next event', async () => {
  const time = new VirtualTime();
  const directory = mkdtempSync(join(tmpdir(), 'virtual-'));
  const file = join(directory, 'file');
  const seen: string[] = [];
  const write = async (text: string) => {
    await writeFile(file, text);
    await Promise.resolve();
    seen.push(await readFile(file, 'utf8'), time.current.name);
  };
  for (const name of ['one', 'two', 'three']) {
    time.at(time.process(name), 0, () => void write(name));
  }
  await time.run(time.nowMs + 1);
  rmSync(directory, { recursive: true });
  assert.deepEqual(seen, ['one', 'one', 'two', 'two', 'three', 'three']);
});

test('a process that is paused comes late, one that is killed does nothing more', async () => {
  const time = new VirtualTime();
  const [slow, dead] = [time.process('slow'), time.process('dead')];
  const seen: string[] = [];
  const tick = async (name: string, clock = time.clock()) => {
    for (let count = 0; ; count += 1) {
      seen.push(`${name} ${count} at ${clock.monotonicMs()}`);
      await sleep(clock, 100);
    }
  };
  time.at(slow, 0, () => void tick('slow'));
  time.at(dead, 50, () => void tick('dead'));
  await time.run(time.nowMs + 160);
  slow.pause();
  dead.kill();
  await time.run(time.nowMs + 1000);
  slow.resume();
  await time.run(time.nowMs + 50);
  assert.deepEqual(seen, [
    'slow 0 at 0',
    'dead 0 at 50',
    'slow 1 at 100',
    'dead 1 at 150',
    'slow 2 at 1160',
  ]);
});

test('a clock may be wrong, drift and jump; its timers follow its pace', async () => {
  const time = new VirtualTime();
  const startMs = time.nowMs;
  const clock = time.clock({ offsetMs: 5000, driftPpm: 100_000 });
  assert.equal(clock.nowMs(), startMs + 5000);
  let firedMs = 0;
  clock.after(1100, () => {
    firedMs = time.nowMs;
  });
  await time.run(startMs + 2000);
  assert.equal(Math.round(firedMs - startMs), 1000);
  assert.equal(Math.round(clock.monotonicMs()), 2200);
  clock.jump(-60_000);
  clock.drift(0);
  await time.run(startMs + 3000);
  assert.equal(Math.round(clock.monotonicMs()), 3200);
  assert.equal(Math.round(clock.nowMs() - startMs), 5000 + 3200 - 60_000);
});

test('libraries see the time of the simulation, and get theirs back', async () => {
  const real = [globalThis.setTimeout, Date, Math.random, AbortSignal.timeout];
  const time = new VirtualTime();
  const node = time.process('node');
  const restore = time.install(seededRng(7));
  const seen: number[] = [];
  try {
    time.at(node, 0, () => {
      const interval = setInterval(() => seen.push(Date.parse(new Date().toISOString())), 250);
      setTimeout(() => clearInterval(interval), 600);
      const signal = AbortSignal.timeout(1000);
      void pause(time.clock(), 5000, signal).then(() => seen.push(Date.now()));
    });
    await time.run(time.nowMs + 3000);
    const startMs = time.nowMs - 3000;
    assert.deepEqual(
      seen.map((ms) => ms - startMs),
      [250, 500, 1000],
    );
    const random = Math.random();
    time.install(seededRng(7))();
    assert.equal(seededRng(7).unit(), random);
  } finally {
    restore();
  }
  assert.deepEqual([globalThis.setTimeout, Date, Math.random, AbortSignal.timeout], real);
});

test('an error that would end a process ends only that node, and a loop is found', async () => {
  const time = new VirtualTime();
  const [thrower, rejecter] = [time.process('thrower'), time.process('rejecter')];
  const crashes: string[] = [];
  for (const node of [thrower, rejecter]) {
    node.onCrash = (error) => void crashes.push(`${node.name}: ${error}`);
  }
  time.at(thrower, 0, () => {
    throw new Error('thrown');
  });
  time.at(rejecter, 1, () => void Promise.reject(new Error('unheard')));
  await time.run(time.nowMs + 10);
  assert.deepEqual(crashes, ['thrower: Error: thrown', 'rejecter: Error: unheard']);
  const spin = () => void time.at(thrower, 0, spin);
  time.at(thrower, 5, spin);
  await assert.rejects(time.run(time.nowMs + 10), /events without end/);
});

test('settle moves time until a promise has settled, and no further than allowed', async () => {
  const time = new VirtualTime();
  const clock = time.clock();
  const startMs = time.nowMs;
  assert.equal(
    await time.settle(
      sleep(clock, 300).then(() => 7),
      1000,
    ),
    7,
  );
  assert.equal(time.nowMs, startMs + 300);
  await assert.rejects(time.settle(sleep(clock, 3000), 1000), /not settled after 1000 ms/);
});
