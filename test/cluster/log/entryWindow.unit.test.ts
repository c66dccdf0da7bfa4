/** The newest entries in memory follow each other, whatever is taken into them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntryWindow } from '../../../src/cluster/log/entryWindow.ts';
import { chainAfter, EMPTY_TAIL, nextEntry, tailAfter } from '../../support/chain.ts';

const [ONE, TWO, THREE, FOUR] = chainAfter(EMPTY_TAIL, 4);
assert(ONE !== undefined && TWO !== undefined && THREE !== undefined && FOUR !== undefined);
const OTHER_TWO = nextEntry(tailAfter(ONE), 7);

test('an own entry is taken behind its predecessor alone', () => {
  const window = new EntryWindow();
  window.takeOwn(TWO);
  assert.equal(window.slice(2, 9), null, 'the window is empty');
  window.startWith(OTHER_TWO);
  window.takeOwn(THREE);
  assert.deepEqual(window.slice(2, 9), [OTHER_TWO]);
  assert.equal(window.end, 2);
  window.startWith(TWO);
  window.takeOwn(THREE);
  assert.deepEqual(window.slice(2, 9), [TWO, THREE]);
});

test('an entry that the stream brings starts the window again where it does not follow', () => {
  const window = new EntryWindow();
  window.append(ONE);
  window.append(FOUR);
  assert.deepEqual([window.slice(1, 9), window.slice(4, 9)], [null, [FOUR]], 'behind a gap');
  window.startWith(OTHER_TWO);
  window.append(THREE);
  assert.deepEqual([window.slice(2, 9), window.slice(3, 9)], [null, [THREE]], 'behind another one');
  window.append(TWO);
  assert.deepEqual(window.slice(3, 9), [THREE], 'an earlier one changes nothing');
});
