/** Frames: each change is shown once, and no frame takes on more than fits into it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameQueue } from '../../src/web/frameQueue.ts';
import { TickerRows } from '../../src/web/home/tickerRows.ts';
import { ticker } from './tickers.ts';

/** Longer than what jobs have of a frame. */
const LONG_MS = 8;

/** Frames that come one by one, by a clock that is moved by hand. */
class HeldFrames {
  readonly queue: FrameQueue;
  nowMs = 0;
  #wanted: (() => void)[] = [];

  constructor() {
    const clock = { monotonicMs: () => this.nowMs };
    this.queue = new FrameQueue((run) => void this.#wanted.push(run), clock);
  }

  come(): void {
    const wanted = this.#wanted;
    this.#wanted = [];
    for (const run of wanted) run();
  }
}

test('work that does not fit into a frame comes in the next one; rendering counts', () => {
  const frames = new HeldFrames();
  const { queue } = frames;
  const done: string[] = [];
  const first = () => {
    done.push('first');
    queue.renderSoon(() => {
      frames.nowMs += LONG_MS;
      done.push('its rendering');
    });
  };
  const cancelled = () => void done.push('cancelled');
  queue.add(first);
  queue.add(first);
  queue.add(cancelled);
  queue.add(() => void done.push('second'));
  queue.add(() => void done.push('third'));
  queue.cancel(cancelled);
  frames.come();
  assert.deepEqual(done, ['first', 'its rendering']);
  frames.come();
  assert.deepEqual(done, ['first', 'its rendering', 'second', 'third']);
});

test('a job that fails does not hold up the others', () => {
  const frames = new HeldFrames();
  const { queue } = frames;
  const done: string[] = [];
  queue.add(() => {
    queue.renderSoon(() => void done.push('rendered'));
    throw new Error('for the test');
  });
  queue.add(() => void done.push('second'));
  assert.throws(() => frames.come(), /for the test/);
  assert.deepEqual(done, ['rendered']);
  frames.come();
  assert.deepEqual(done, ['rendered', 'second']);
});

test('outside of frames components render at once', async () => {
  const done: string[] = [];
  new HeldFrames().queue.renderSoon(() => void done.push('rendered'));
  assert.deepEqual(done, []);
  await Promise.resolve();
  assert.deepEqual(done, ['rendered']);
});

test('a row shows the newest ticker in the next frame, and one that is gone is forgotten', () => {
  const frames = new HeldFrames();
  const rows = new TickerRows(frames.queue);
  const price = (asset: string) => rows.find(asset)?.value.price;
  rows.show([ticker('a', { price: '1' }), ticker('b', { price: '1' })]);
  const b = rows.find('b');
  assert.equal(price('a'), '1');
  rows.show([ticker('a', { price: '2' }), ticker('b', { price: '2' })]);
  rows.show([ticker('a', { price: '3' })]);
  assert.equal(price('a'), '1');
  assert.equal(rows.find('b'), null);
  frames.come();
  assert.equal(price('a'), '3');
  assert.equal(b?.value.price, '1', 'it is not drawn any more');
});
