/** Which entries a node of several steps back from, and which errors are not the entry's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENTRY_VERSION, type Payload, sealEntry } from '../../../src/engine/log/entry.ts';
import { UnfitEntries } from '../../../src/engine/node/unfitEntries.ts';
import { Fault, isFault } from '../../../src/engine/runtime/assert.ts';
import { EMPTY_TAIL, nextEntry } from '../../support/chain.ts';

const why = new Error('assumption broken: it is there already');
const rollback = (toSeq: number): Payload => ({ kind: 'rollback', toSeq });
/** The same payload behind different entries, as in one epoch after the other. */
const entry = (mark: number, toSeq = 0) => nextEntry(EMPTY_TAIL, mark, rollback(toSeq));

test('an entry that cannot be applied is remembered with its reason', () => {
  const unfit = new UnfitEntries(() => true);
  assert.equal(unfit.reasonOf(entry(1)), null);
  const thrown = unfit.refuse(entry(1), why);
  assert(isFault(thrown, 'unfitEntry'));
  assert.equal(thrown.cause, why);
  assert.equal(unfit.reasonOf(entry(1)), thrown.message);
  assert.match(thrown.message, /^entry 1 cannot be applied: .*it is there already$/);
  assert.equal(unfit.reasonOf(entry(2)), null);
  assert.equal(unfit.reasonOf(undefined), null);
});

test('an entry that comes again and again is refused each time', () => {
  const unfit = new UnfitEntries(() => true);
  for (const mark of [1, 2, 3, 4, 5]) {
    assert(isFault(unfit.refuse(entry(mark), why), 'unfitEntry'), `${mark}`);
    assert.notEqual(unfit.reasonOf(entry(mark)), null);
    assert.equal(unfit.reasonOf(entry(mark - 1)), null);
  }
});

test('in the log of a single node every error is the program’s', () => {
  const unfit = new UnfitEntries(() => false);
  assert.equal(unfit.refuse(entry(1), why), why);
  assert.equal(unfit.reasonOf(entry(1)), null);
});

test('a text that cannot be parsed is the entry’s fault only in another version', () => {
  const unfit = new UnfitEntries(() => true);
  const error = new SyntaxError('Cannot convert x to a BigInt');
  const { entry: own } = entry(1);
  const ours = sealEntry({ ...own, version: ENTRY_VERSION });
  assert.equal(unfit.refuse(ours, error), error);
  const older = sealEntry({ ...own, version: ENTRY_VERSION - 1 });
  assert(isFault(unfit.refuse(older, error), 'unfitEntry'));
});

test('a fault of the disk is no fault of the entry', () => {
  const unfit = new UnfitEntries(() => true);
  const full = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
  const stopped = new Fault('interrupted', 'it stops');
  for (const error of [full, new Fault('damagedFile', 'a page'), stopped]) {
    assert.equal(unfit.refuse(entry(1), error), error);
    assert.equal(unfit.reasonOf(entry(1)), null);
  }
});
