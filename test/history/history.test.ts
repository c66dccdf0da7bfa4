/** The recorded day that a new devnet begins with: what it holds, and whether it still fits. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { HISTORY_FILE, readHistory } from '../../src/devnet/history.ts';
import { temporaryDirectory } from '../support/server.ts';
import { fingerprint } from './fingerprint.ts';
import { marketOf } from './recordedMarket.ts';

const REFUND_AFTER_MS = 1_200_000;
/** Of 30 hours; it may begin and end with as much silence as a crowd has. */
const RECORDED_SLOTS = 108_000;
const SILENT_SLOTS = 1_200;
const AGAIN =
  'validators or traders changed: record the history again, node --import ./pack/useStripped.mjs ' +
  'scripts/recordHistory.ts';

const history = readHistory(HISTORY_FILE);

test('it was recorded with these validators and these traders', () => {
  assert.deepEqual(fingerprint(REFUND_AFTER_MS, history.keys), history.made, AGAIN);
});

test('it is thirty hours, below 2 MB, in blocks that ascend and are not empty', () => {
  assert(statSync(HISTORY_FILE).size < 2_000_000);
  const slots = history.blocks.map(([slot]) => slot);
  assert(history.blocks.every(([, transactions]) => transactions.length > 0));
  assert(slots.every((slot, index) => index === 0 || slot > (slots[index - 1] ?? 0)));
  assert((slots[0] ?? RECORDED_SLOTS) < SILENT_SLOTS);
  assert((slots.at(-1) ?? 0) > RECORDED_SLOTS - SILENT_SLOTS);
  assert(history.lastSlot >= RECORDED_SLOTS && history.lastSlot < RECORDED_SLOTS + SILENT_SLOTS);
});

test('it has trades, tokens, graduations, locks and failures, and nothing waits at its end', () => {
  const { counts, openOrders, openLocks, largest } = marketOf(history, REFUND_AFTER_MS);
  const least = {
    executed: 1_500,
    launched: 12,
    graduated: 3,
    locked: 5,
    cancelled: 20,
    refunded: 5,
  };
  for (const [kind, count] of Object.entries(least)) {
    assert((counts.get(kind) ?? 0) >= count, `${counts.get(kind)} ${kind}, at least ${count}`);
  }
  assert.deepEqual([openOrders, openLocks], [0, 0]);
  for (const { token, percent } of largest)
    assert(percent < 15, `a key has ${percent} % of ${token}`);
});

test('a damaged file is refused', () => {
  const copy = join(temporaryDirectory(), 'history.br');
  const bytes = readFileSync(HISTORY_FILE);
  copyFileSync(`${HISTORY_FILE}.sha256`, `${copy}.sha256`);
  writeFileSync(copy, bytes.fill(1, 900, 901));
  assert.throws(() => readHistory(copy), /is damaged/);
});
