/** Subscriptions that must be prepared for wait in order, and hold the loop for a slice at most. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Source } from '../../../src/api/topics/port.ts';
import { Preparations } from '../../../src/api/ws/preparations.ts';
import { VirtualClock, workThrough } from '../topics/world.ts';

function world() {
  const clock = new VirtualClock();
  const left = new Map<string, number>();
  const done: string[] = [];
  const preparations = new Preparations(clock);
  const source = (name: string, ms: number): Source => {
    left.set(name, ms);
    return {
      key: name,
      tags: [],
      prepare: (isOver) => workThrough(clock, left, name, isOver),
      snapshot: () => name,
      since: () => [],
    };
  };
  const wait = (each: Source) => preparations.wait(each, () => done.push(each.key));
  return { clock, preparations, source, wait, done, left };
}

test('a source is ready at once only where it takes no longer than a moment', () => {
  const { preparations, source, wait, done, clock } = world();
  const { prepare: _, ...plain } = source('plain', 0);
  assert(preparations.isReady(plain));
  assert(preparations.isReady(source('short', 1)));
  const long = source('long', 30);
  assert(!preparations.isReady(long));
  wait(long);
  assert(!preparations.isReady(source('next', 0)), 'it waits behind those that came before');
  assert(preparations.isReady(plain), 'nothing is to be prepared');
  clock.advance(100);
  assert.deepEqual(done, ['long']);
  assert(preparations.isReady(long));
});

test('those that wait are answered in order, one that left is not', () => {
  const { clock, source, wait, done, left } = world();
  const [first, gone, last] = [source('first', 9), source('gone', 50), source('last', 3)];
  wait(first);
  const waiting = wait(gone);
  wait(last);
  assert.deepEqual(done, [], 'not in the turn in which it was asked for');
  clock.advance(1);
  waiting.cancel();
  clock.advance(100);
  assert.deepEqual(done, ['first', 'last']);
  assert.equal(left.get('gone'), 50);
  assert(clock.longestTurnMs <= 2, `a turn took ${clock.longestTurnMs} ms`);
  wait(source('later', 5));
  clock.advance(100);
  assert.deepEqual(done, ['first', 'last', 'later']);
});

test('one that fails, or whose work does not end, is answered all the same', () => {
  const { clock, source, wait, done, left } = world();
  const failing = {
    ...source('failing', 0),
    prepare: () => {
      throw new Error('broken');
    },
  };
  wait(failing);
  wait(source('endless', 20));
  for (let turn = 0; turn < 20_000 && done.length < 2; turn += 1) {
    left.set('endless', 20);
    clock.advance(1);
  }
  assert.deepEqual(done, ['failing', 'endless']);
});
