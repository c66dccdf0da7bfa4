import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DIRECTLY, world } from './world.ts';

test('the first change after quiet goes out at once, the next one at the cadence', () => {
  const { clock, sent, join, change } = world();
  join('a', 100);
  clock.advance(500);
  change('a');
  clock.advance(0);
  assert.deepEqual(
    sent.map(({ atMs }) => atMs),
    [1_500],
  );
  change('a');
  clock.advance(50);
  change('a');
  clock.advance(49);
  assert.equal(sent.length, 1);
  clock.advance(1);
  assert.deepEqual([sent.length, sent[1]?.atMs, sent[1]?.frame.seq], [2, 1_600, 8]);
  clock.advance(1_000);
  assert.equal(sent.length, 2);
});

test('fan-out takes at most three quarters of the loop', () => {
  const { clock, sent, cost, join, change } = world();
  for (let i = 0; i < 10; i++) join('a', 5, `r${i}`);
  cost.ms = 9;
  const startMs = clock.ms;
  for (let i = 0; i < 200; i++) {
    change('a');
    clock.advance(5);
  }
  const busyMs = sent.length * cost.ms;
  assert(sent.length > 100);
  assert(busyMs <= (clock.ms - startMs) * 0.77, `${busyMs} of ${clock.ms - startMs}`);
});

test('streams of one source at two cadences see the same end state', () => {
  const { clock, sent, join, change } = world();
  const fast = 'fast';
  const slow = 'slow';
  join('a', 5, fast);
  join('a', 200, slow);
  for (let i = 0; i < 100; i++) {
    change('a');
    clock.advance(7);
  }
  clock.advance(1_000);
  const of = (id: string) => sent.filter(({ frame }) => frame.requestId === id);
  assert.equal(of(fast).length, 100);
  assert.deepEqual([of(slow).length <= 5, of(slow).at(-1)?.frame.seq], [true, 105]);
  for (const id of [fast, slow]) {
    let previous: unknown = 0;
    for (const { frame } of of(id)) {
      assert.equal(frame.prev, previous);
      previous = frame.seq;
    }
  }
});

test('a batch touches only the streams of its tags', () => {
  const { clock, asked, join, change } = world();
  for (const name of ['a', 'b', 'c']) join(name, 5);
  change('b', 'unknown');
  clock.advance(10);
  assert.deepEqual(asked, ['b since 5']);
});

test('a quiet stream is asked from where it was complete, not from its last frame', () => {
  const { clock, asked, join, change } = world();
  join('a', 5);
  change('a');
  clock.advance(10);
  for (let i = 0; i < 50; i++) change('other');
  change('a');
  clock.advance(10);
  assert.deepEqual(asked, ['a since 5', 'a since 56']);
});

test('a stream without handles ends, and one with paused handles continues to count', () => {
  const { clock, asked, sent, join, change } = world();
  const first = join('a', 5);
  const second = join('b', 5);
  first.release();
  first.release();
  second.pause();
  change('a', 'b');
  clock.advance(10);
  assert.deepEqual(asked, ['b since 5']);
  assert.equal(sent.length, 0);
  assert(second.traffic().frames === 1 && second.traffic().bytes > 50);
  second.resume();
  change('b');
  clock.advance(10);
  assert.equal(sent.length, 1);
});

test('a mark leaves out the last flush turn, which may not have arrived', () => {
  const { clock, join, change } = world();
  const handle = join('a', 5);
  assert.deepEqual([handle.cursor().prev, handle.cursor().complete], [0, 5]);
  change('a');
  clock.advance(10);
  assert.deepEqual([handle.cursor().prev, handle.cursor().complete], [0, 5]);
  join('b', 5);
  change('b');
  clock.advance(10);
  assert.deepEqual([handle.cursor().prev, handle.cursor().complete], [6, 7]);
});

test('a client between a change and its frame sees no loss', () => {
  const { clock, sent, join, change } = world();
  const handle = join('a', 5);
  change('a', 'other');
  clock.advance(10);
  assert.equal(sent.at(-1)?.frame.seq, 6);
  handle.standsAt(5);
  change('a');
  clock.advance(10);
  handle.standsAt(9);
  change('a');
  clock.advance(10);
  assert.deepEqual(
    sent.map(({ frame }) => frame.prev),
    [0, 5, 7],
  );
});

test('everything is complete up to the applied position except changes before their flush', () => {
  const { clock, hub, join, change } = world();
  join('a', 1_000);
  change('a');
  clock.advance(1);
  change('other');
  assert.equal(hub.completeTo(), 7);
  change('a');
  change('other');
  assert.equal(hub.completeTo(), 7);
  clock.advance(1_000);
  assert.equal(hub.completeTo(), 9);
});

test('a single listener of a request id is sent to directly; two are published to', () => {
  const { clock, sent, join, change } = world();
  const channels = () => sent.splice(0).map(({ channel }) => channel);
  join('a', 5, 'alone');
  const first = join('a', 5, 'both');
  const second = join('a', 5, 'both');
  change('a');
  clock.advance(100);
  assert.deepEqual(channels(), [first.channel, DIRECTLY]);
  first.pause();
  change('a');
  clock.advance(100);
  assert.deepEqual(channels(), [DIRECTLY, DIRECTLY]);
  first.resume();
  second.release();
  second.pause();
  change('a');
  clock.advance(100);
  assert.deepEqual(channels(), [DIRECTLY, DIRECTLY]);
  first.pause();
  change('a');
  clock.advance(100);
  assert.deepEqual(channels(), [DIRECTLY]);
});

test('long work of a source is spread over turns, and other cadences are served between', () => {
  const { clock, sent, asked, toPrepare, join, change } = world();
  join('long', 1_000, 'long');
  join('behind', 1_000, 'behind');
  join('quick', 5, 'quick');
  toPrepare.set('long', 40);
  change('long', 'behind', 'quick');
  clock.advance(6);
  change('quick');
  clock.advance(500);
  const order = sent.map(({ frame }) => frame.requestId);
  assert.deepEqual(order, ['quick', 'quick', 'long', 'behind']);
  assert.deepEqual(
    asked.filter((each) => !each.startsWith('quick')),
    ['long since 5', 'behind since 5'],
  );
  assert(clock.longestTurnMs <= 4, `a turn took ${clock.longestTurnMs} ms`);
});

test('many streams at once are flushed over several turns, each of them once', () => {
  const { clock, hub, sent, toPrepare, join, change } = world();
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
  for (const name of names) join(name, 1_000, name);
  for (const name of names) toPrepare.set(name, 1);
  change(...names);
  clock.advance(10);
  assert(sent.length > 0 && sent.length < names.length, `${sent.length} are flushed`);
  assert.equal(hub.completeTo(), 5, 'those that wait are not complete');
  change('s0', 's19');
  clock.advance(900);
  assert.deepEqual(
    sent.map(({ frame }) => frame.requestId),
    names,
    'what changed meanwhile waits for the cadence',
  );
  assert.equal(sent[19]?.frame.seq, 7);
  clock.advance(200);
  assert.deepEqual(
    sent.slice(20).map(({ frame }) => [frame.requestId, frame.seq]),
    [['s0', 7]],
  );
  assert.equal(hub.completeTo(), 7);
});

test('a source whose work does not end is flushed all the same', () => {
  const { clock, sent, toPrepare, join, change } = world();
  join('a', 1_000);
  change('a');
  for (let turn = 0; turn < 4_000 && sent.length === 0; turn += 1) {
    toPrepare.set('a', 20);
    clock.advance(2);
  }
  assert.equal(sent.length, 1);
});
