/** Which frames count as a fault of a stream: the rules of protocol.md 6.4. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import type { Frame } from '../../../../src/client/socket/frame.ts';
import { StreamCheck, type StreamFault } from '../../../../src/server/cli/load/streamCheck.ts';

function frame(seq: number, prev: number | null, more: Partial<Frame> = {}): Frame {
  const rest = { requestId: 'r', event: 'TradesUpdate', data: [], epoch: '1-a' };
  return { ...rest, seq, prev, snapshot: prev === null, ...more };
}

/** Faults of frames in turn; a number is a ping at that position. */
function faultsOf(
  frames: readonly (Frame | number)[],
  stream: { topic: string; data?: object } = { topic: 'Trades' },
  ageMs = 0,
): StreamFault[] {
  const found: StreamFault[] = [];
  const check = new StreamCheck(stream, 1_000, (fault) => void found.push(fault));
  check.accepted(false);
  for (const each of frames) {
    if (typeof each === 'number') check.ping({ epoch: '1-a', seq: each });
    else check.frame(each, ageMs);
  }
  return found;
}

const start = frame(10, null);

test('changes in order, and pings between them, are no fault', () => {
  assert.deepEqual(faultsOf([start, frame(11, 10), 15, frame(20, 11), frame(21, 20)]), []);
});

test('a lost frame is one gap, however many follow', () => {
  assert.deepEqual(faultsOf([start, frame(12, 11), frame(13, 12)]), ['gap']);
  assert.deepEqual(faultsOf([start, frame(11, 10, { epoch: '2-b' })]), ['gap']);
});

test('a frame that comes twice, an older one, and one below a ping have names of their own', () => {
  assert.deepEqual(faultsOf([start, frame(11, 10), frame(11, 10)]), ['repeat']);
  assert.deepEqual(faultsOf([start, frame(11, 10), frame(12, 11), frame(11, 10)]), ['backwards']);
  assert.deepEqual(faultsOf([start, frame(11, 10), 15, frame(14, 11)]), ['stale']);
  assert.deepEqual(faultsOf([start, frame(9, null)]), ['backwards']);
});

test('changes that a snapshot holds already may repeat before the first new one', () => {
  assert.deepEqual(faultsOf([start, frame(10, 9), frame(9, 8), frame(12, 10)]), []);
});

test('the end of an answer to `since` may come once more, in the frame that sockets share', () => {
  const found: StreamFault[] = [];
  const check = new StreamCheck({ topic: 'Trades' }, null, (fault) => void found.push(fault));
  check.frame(start, 0);
  check.accepted(true);
  for (const seq of [11, 12, 12]) check.frame(frame(seq, seq - 1), 0);
  assert.deepEqual(found, []);
  check.frame(frame(12, 11), 0);
  assert.deepEqual(found, ['repeat']);
});

test('after Resync nothing counts until the snapshot', () => {
  const found: StreamFault[] = [];
  const check = new StreamCheck({ topic: 'Trades' }, null, (fault) => void found.push(fault));
  check.frame(start, 0);
  check.resync();
  check.frame(frame(30, 29), 0);
  check.frame(frame(31, null), 0);
  check.frame(frame(32, 31), 0);
  assert.deepEqual(found, []);
});

test('the age of changes is limited, that of a snapshot is not', () => {
  assert.deepEqual(faultsOf([start, frame(11, 10)], { topic: 'Trades' }, 1_001), ['stale']);
  assert.deepEqual(faultsOf([start, frame(11, 10)], { topic: 'Trades' }, 1_000), []);
});

test('ordinary bars never go back in time; a revision may, and an update repeats it', () => {
  const bar = (time: number) => ({ event: 'LastBarUpdate', data: { time } });
  const stream = { topic: 'LastBar' };
  const first = frame(10, null, bar(120));
  assert.deepEqual(faultsOf([first, frame(11, 10, bar(60))], stream), ['backwards']);
  const revised = frame(11, 10, { event: 'BarsRevised', data: { bars: [] } });
  assert.deepEqual(faultsOf([first, revised, frame(11, 10, bar(60))], stream), []);
});

test('an order book of changes is compared with its checksum after each frame', () => {
  const stream = { topic: 'OrderBook', data: { mode: 'changes' } };
  const sum = (text: string) => crc32(text).toString(16).padStart(8, '0');
  const level = (price: string, amount: string) => ({ price, amount });
  const book = (asks: object[], bids: object[], checksum: string) => {
    return { event: 'OrderBookUpdate', data: { asks, bids, checksum } };
  };
  const whole = frame(
    10,
    null,
    book([level('2', '5'), level('3', '7')], [level('1', '4')], sum('2:5|3:7|1:4')),
  );
  const change = book([level('2', '0'), level('2.5', '1')], [], sum('2.5:1|3:7|1:4'));
  assert.deepEqual(faultsOf([whole, frame(11, 10, change)], stream), []);
  const wrong = book([level('2', '1')], [], sum('2:5'));
  assert.deepEqual(faultsOf([whole, frame(11, 10, wrong)], stream), ['checksum']);
  // After a loss the book is unknown until the next whole one.
  const lost = [whole, frame(13, 12, wrong), frame(14, 13, wrong), frame(15, null, wrong)];
  assert.deepEqual(faultsOf(lost, stream), ['gap', 'checksum']);
});

test('the order of a list is compared with its checksum', () => {
  const list = (sum: number) => ({ data: { items: [], order: ['a', 'b'], crc32: sum } });
  const stream = { topic: 'Latest' };
  assert.deepEqual(faultsOf([frame(10, null, list(crc32('a,b')))], stream), []);
  assert.deepEqual(faultsOf([frame(10, null, list(1))], stream), ['checksum']);
});
