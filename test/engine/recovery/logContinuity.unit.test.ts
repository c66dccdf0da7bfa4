/** Which entries of a shared log a node applies behind its own state. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Entry, type SealedEntry, sealEntry } from '../../../src/engine/log/entry.ts';
import type { Log } from '../../../src/engine/log/port.ts';
import { readContinuation } from '../../../src/engine/recovery/logContinuity.ts';
import type { Checkpoint } from '../../../src/engine/store/state.ts';
import { chainAfter } from '../../support/chain.ts';

const LAST = 999_999_999_999_999;
const LEADER = { kind: 'leader', node: 'n2' } as const;
const BEGINNING = { kind: 'epoch', reason: 'rollback', base: { seq: 1 } } as const;
const [FIRST, OWN, NEXT] = chainAfter({ seq: 0, hash: '', epoch: null }, 3);
assert(FIRST !== undefined && OWN !== undefined && NEXT !== undefined);
const { epoch, seq, term } = OWN.entry;
// trust: of a checkpoint these are read
const AT_OWN = { epoch, seq, term, entryHash: OWN.hash } as Checkpoint;

async function applied(...entries: readonly SealedEntry[]): Promise<readonly SealedEntry[]> {
  // trust: of the log these are asked
  const log = { read: async () => entries, first: async () => 1 } as unknown as Log;
  return (await readContinuation(log, AT_OWN, 10, true)).entries ?? [];
}

function changed(change: Partial<Entry>): SealedEntry {
  return sealEntry({ ...(NEXT?.entry ?? assert.fail()), ...change });
}

test('the next entry of the epoch and of the term is applied', async () => {
  assert.deepEqual(await applied(NEXT), [NEXT]);
});

test('a new leader raises the term by one, and its entries follow', async () => {
  const leader = changed({ term: term + 1, payload: LEADER });
  const next = changed({ seq: seq + 2, prevEntryHash: leader.hash, term: term + 1 });
  assert.deepEqual(await applied(leader, next), [leader, next]);
  const late = changed({ seq: seq + 2, prevEntryHash: leader.hash, term });
  assert.deepEqual(await applied(leader, late), [leader]);
});

for (const [what, change] of Object.entries({
  'another epoch': { epoch: `${LAST}-stranger` },
  'a term without its leader': { term: term + 1 },
  'a term far ahead': { term: 1_000_000_000_000, payload: LEADER },
  'the term of a leader before': { term: term - 1 },
  'a leader in the term of another': { payload: LEADER },
  'another entry before it': { prevEntryHash: 'ab'.repeat(32) },
  'another number': { seq: seq + 2 },
  'the beginning of its own epoch once more': { payload: BEGINNING },
  'the beginning of an earlier epoch': { epoch: '0-before', payload: BEGINNING },
})) {
  test(`an entry with ${what} is not applied`, async () => {
    assert.deepEqual(await applied(changed(change)), []);
  });
}

test('an epoch begins behind any entry', async () => {
  const payload = { kind: 'epoch', reason: 'log lost', base: { seq } } as const;
  const opened = changed({ epoch: '2-next', payload });
  const next = changed({ epoch: '2-next', seq: seq + 2, prevEntryHash: opened.hash });
  assert.deepEqual(await applied(opened, next), [opened, next]);
  const old = changed({ seq: seq + 2, prevEntryHash: opened.hash });
  assert.deepEqual(await applied(opened, old), [opened], 'and its entries name it');
});
