/**
 * A node reads the first entry of an epoch, and the base state of that epoch is gone before the
 * node can load it.
 */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import {
  ENTRY_VERSION,
  type EpochPayload,
  NO_HASH,
  sealEntry,
} from '../../../src/engine/log/entry.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { until } from '../../support/until.ts';
import { baseOf, newPlace, OneNode, type Place } from './oneProcess.ts';

interface Pair {
  readonly place: Place;
  /** Has more than `behind`; the log is empty. */
  readonly ahead: OneNode;
  readonly behind: OneNode;
}

/** The end of an earlier lead may take the lease away once more. */
function leadUntil(node: OneNode, what: () => string, condition: () => boolean): Promise<void> {
  const leads = () => {
    node.mayLead = true;
    return condition();
  };
  return until(what, leads, 60_000);
}

async function pairWithoutLog(t: TestContext): Promise<Pair> {
  const place = newPlace(seededRng(7));
  const { stream, faults } = place;
  const [ahead, behind] = [await OneNode.start('a', place), await OneNode.start('b', place)];
  t.after(async () => {
    for (const node of [ahead, behind]) await node.stop();
  });
  const written = async (count: number) => {
    const enough = stream.history.length + count;
    await leadUntil(
      ahead,
      () => `${count} more entries are written, ${faults[0]}`,
      () => stream.history.length >= enough,
    );
  };
  await written(20);
  await until('both have some', () => behind.node.applied().seq > 10, 60_000);
  behind.log.isCut = true;
  await written(20);
  ahead.expire();
  await until('what was written is applied', () => ahead.node.applied().seq === stream.end, 60_000);
  stream.truncate(Number.POSITIVE_INFINITY);
  behind.log.mend();
  return { place, ahead, behind };
}

/** The first entry of an epoch right behind what `node` has. */
function epochBehind({ node }: OneNode, epoch: string, payload: Omit<EpochPayload, 'kind'>) {
  const { checkpoint } = node.fold.store;
  assert(checkpoint !== null);
  const { seq, term } = checkpoint;
  const common = { version: ENTRY_VERSION, prevEntryHash: NO_HASH, timeMs: node.fold.marketMs };
  return sealEntry({
    ...common,
    epoch,
    seq: seq + 1,
    term,
    payload: { kind: 'epoch', ...payload },
  });
}

function lostAt({ node }: OneNode) {
  const base = { seq: node.applied().seq, stateHash: node.stateHash() };
  return { reason: 'log lost', base } as const;
}

test('takes what an epoch began with when its log is empty again, not ready before', async (t) => {
  const { place, ahead, behind } = await pairWithoutLog(t);
  const next = epochBehind(ahead, '2-gone', lostAt(ahead));
  const base = baseOf(place, '2-gone');
  await ahead.node.fold.store.snapshotTo(`${base}-part`);
  behind.node.switchEpoch(next);
  ahead.node.switchEpoch(next);
  await until('a node with another state is not ready', () => !behind.node.synced());
  assert(ahead.node.synced(), 'the node that has this state is ready');
  renameSync(`${base}-part`, base);
  await until(
    () => `both are in the new epoch: ${ahead.at}, ${behind.at}; ${place.faults[0]}`,
    () => place.faults.length > 0 || behind.at === `2-gone:${next.entry.seq}`,
    60_000,
  );
  assert.deepEqual(place.faults, []);
  assert.equal(behind.node.stateHash(), ahead.node.stateHash());
  assert(behind.node.synced());
});

test('waits no longer for the snapshot of an epoch when there is a later one', async (t) => {
  const { place, ahead, behind } = await pairWithoutLog(t);
  behind.node.switchEpoch(epochBehind(ahead, '2-gone', lostAt(ahead)));
  await until('it waits', () => !behind.node.synced());
  const next = epochBehind(ahead, '3-here', lostAt(ahead));
  await ahead.node.fold.store.snapshotTo(baseOf(place, '3-here'));
  behind.node.switchEpoch(next);
  await until(
    () => `it is in the later epoch: ${behind.at}`,
    () => behind.at === `3-here:${next.entry.seq}`,
    60_000,
  );
  assert.deepEqual(place.faults, []);
});

test('waits for the next epoch when the log that one went back in is gone', async (t) => {
  const { place, ahead, behind } = await pairWithoutLog(t);
  behind.node.switchEpoch(epochBehind(ahead, '2-back', { reason: 'rollback', base: { seq: 2 } }));
  await until(
    'it could not go back',
    () => behind.divergences() > 0 || place.faults.length > 0,
    60_000,
  );
  await leadUntil(
    ahead,
    () => `both continue: ${ahead.at}, ${behind.at}; ${place.faults[0]}`,
    () => place.faults.length > 0 || (behind.node.synced() && behind.at.startsWith('2-')),
  );
  assert.deepEqual(place.faults, []);
});

test('an epoch that was taken over is not gone back to', async (t) => {
  const { place, ahead, behind } = await pairWithoutLog(t);
  const { stream } = place;
  const goOn = async (entries: number) => {
    const enough = stream.end + entries;
    const where = () => `${ahead.at}, ${behind.at} of ${stream.end}; ${place.faults[0]}`;
    const isThere = () => behind.at.startsWith('2-') && behind.node.applied().seq >= enough;
    await leadUntil(ahead, () => `it continues to ${enough}: ${where()}`, isThere);
  };
  await goOn(60);
  const first = stream.entries[0] ?? assert.fail();
  const { at } = behind;
  const seen: string[] = [];
  behind.node.onApplied(() => seen.push(behind.at));
  behind.node.switchEpoch(first);
  await goOn(5);
  assert.deepEqual(place.faults, []);
  assert(!seen.includes(`${first.entry.epoch}:${first.entry.seq}`), `it was at ${at}`);
});

test('a node whose epoch is gone takes the one that another began under its number', async (t) => {
  const { place, ahead, behind } = await pairWithoutLog(t);
  const { stream, standings, faults } = place;
  const where = () => `${ahead.at}, ${behind.at} of ${stream.end}; ${faults[0]}`;
  behind.log.isCut = true;
  await leadUntil(ahead, where, () => ahead.at.startsWith('2-'));
  ahead.log.isCut = true;
  ahead.expire();
  const gone = ahead.node.applied().epoch;
  stream.truncate(Number.POSITIVE_INFINITY);
  standings.delete(ahead.name);
  behind.log.mend();
  await leadUntil(behind, where, () => behind.at.startsWith('2-'));
  assert.notEqual(behind.node.applied().epoch, gone);
  ahead.log.mend();
  await leadUntil(behind, where, () => ahead.at === behind.at && ahead.node.synced());
  assert.deepEqual(faults, []);
});
