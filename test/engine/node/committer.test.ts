/** When commits begin, by a clock that stands still and a disk that takes a fixed time. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Committer } from '../../../src/engine/node/committer.ts';
import { sleep } from '../../../src/engine/runtime/clock.ts';
import { StateStore } from '../../../src/engine/store/state.ts';
import { inlineWriter, type OpenWriter } from '../../../src/engine/store/stateWriter.ts';
import { CountedTrades } from '../../../src/engine/store/tradeIds.ts';
import { HandClock } from '../../support/handClock.ts';
import { temporaryDirectory } from '../../support/server.ts';

const EVERY_MS = 200;
const CHECKPOINT = { epoch: '1-a', term: 1, entryHash: '', stateHash: '', hashedSeq: 0 };
const TIMES = { marketMs: 0, openedMs: 0, seenMs: 0 };

/** `stage` folds one entry; `commits` says how many ended. */
function open(scope: TestContext, diskMs: number) {
  const clock = new HandClock();
  const writer: OpenWriter = (options) => {
    const inner = inlineWriter(options);
    const write: typeof inner.write = async (batch) => {
      await sleep(clock, diskMs);
      await inner.write(batch);
    };
    return { ...inner, write };
  };
  const file = join(temporaryDirectory(scope), 'state.sqlite');
  const store = new StateStore(file, { horizonBlocks: 10, maxMb: 0, writer });
  let ended = 0;
  const committed = () => {
    ended += 1;
  };
  const observer = { committed, commitFailed: assert.fail };
  const committer = new Committer(clock, observer, EVERY_MS, () => store);
  scope.after(() => store.close());
  let seq = 0;
  const stage = async () => {
    seq += 1;
    const effects = { block: true, atMs: 0, changes: [], streamChanges: [] };
    const checkpoint = { ...CHECKPOINT, ...TIMES, seq };
    store.stage({ ...effects, checkpoint, trades: new CountedTrades() });
    await committer.commitWhenDue();
  };
  return { clock, stage, commits: () => ended };
}

test('rows staged during a commit are committed without another entry', async (scope) => {
  const { clock, stage, commits } = open(scope, 300);
  await stage();
  await clock.advance(EVERY_MS);
  await stage();
  await clock.advance(300);
  assert.equal(commits(), 1);
  await clock.advance(2_000);
  assert.equal(commits(), 2);
});

test('commits rest as long as they take, at most a second', async (scope) => {
  for (const [diskMs, restMs] of [
    [500, 500],
    [5_000, 1_000],
  ] as const) {
    const { clock, stage, commits } = open(scope, diskMs);
    await stage();
    await clock.advance(EVERY_MS + diskMs);
    assert.equal(commits(), 1);
    await stage();
    // The next one ends when the disk has had the time for it, not before.
    await clock.advance(restMs + diskMs - 1);
    assert.equal(commits(), 1);
    await clock.advance(1);
    assert.equal(commits(), 2);
  }
});
