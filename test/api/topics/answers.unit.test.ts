/** How a stream handles each kind of answer of a source. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { world } from './world.ts';

test('a stream whose flush threw holds completeness back until a retry succeeds', () => {
  const { clock, hub, sent, join, change, instead } = world();
  join('a', 5);
  instead.answer = () => {
    throw new Error('thrown on purpose');
  };
  change('a');
  clock.advance(50);
  change('other');
  assert.deepEqual([hub.completeTo(), sent.length], [5, 0]);
  clock.advance(2_000);
  assert.equal(hub.completeTo(), 5);
  instead.answer = null;
  clock.advance(1_000);
  assert.deepEqual([hub.completeTo(), sent.length, sent[0]?.frame.seq], [7, 1, 6]);
});

test('a source that answers in pages is asked until it has told all', () => {
  const { clock, hub, sent, asked, join, change, instead } = world();
  join('a', 1_000);
  const event = 'Update';
  instead.answer = (seq) => ({ parts: [{ event, seq: seq + 2, data: seq }], completeTo: seq + 2 });
  for (let i = 0; i < 6; i++) change('a');
  clock.advance(0);
  assert.deepEqual(asked, ['a since 5', 'a since 7', 'a since 9']);
  assert.deepEqual(
    sent.map(({ frame }) => [frame.prev, frame.seq]),
    [
      [0, 7],
      [7, 9],
      [9, 11],
    ],
  );
  assert.equal(hub.completeTo(), 11);
});

test('a source that comes no further is a fault, not an endless loop', () => {
  const { clock, hub, sent, join, change, instead } = world();
  join('a', 5);
  instead.answer = (seq) => ({ parts: [], completeTo: seq });
  change('a');
  clock.advance(10);
  assert.deepEqual([sent.length, hub.completeTo()], [0, 5]);
});

test('a live snapshot in place of changes is announced', () => {
  const { clock, sent, join, change, instead } = world();
  join('a', 5);
  instead.answer = () => null;
  change('a');
  clock.advance(10);
  instead.answer = null;
  change('a');
  clock.advance(10);
  const told = sent.map(({ frame: { event, seq, prev, snapshot } }) => [
    event,
    seq,
    prev,
    snapshot,
  ]);
  assert.deepEqual(told, [
    ['Resync', 6, null, undefined],
    ['TUpdate', 6, null, true],
    ['Update', 7, 6, undefined],
  ]);
  assert.deepEqual(sent[0]?.frame.data, { reason: 'slow', skipped: 0 });
});

test('a failing source ends its active streams after the flush', () => {
  const { clock, sent, join, change, instead, ends } = world();
  join('a', 5, 'one');
  join('a', 5, 'two');
  join('a', 5, 'paused').pause();
  join('a', 5, 'left').release();
  instead.answer = () => new Failure('SERVER_ERROR', 'put aside');
  change('a');
  clock.advance(10);
  assert.deepEqual([ends, sent.length], [['one NOT_READY', 'two NOT_READY'], 0]);
});
