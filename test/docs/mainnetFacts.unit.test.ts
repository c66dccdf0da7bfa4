/** docs/mainnet.md and config/mainnet.json name the same scripts, outputs and keys. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { GRADUATION_ID, LAST_TRADE_ID } from '../chain/mainnetSamples.ts';
import { dataRows, dataText } from '../support/testData.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PAGE = read('docs/mainnet.md');
const DEPLOYMENTS = read('docs/deployments.md');

/** Named in the page alone, with the reason why no file of ours holds them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  a5643b4a: 'a parameter of the order validator, applied to code of splash-core',
};

/** Every hash in the file: of 28 bytes, of a block, and outputs as `<transaction>:<index>`. */
function hashesOf(text: string): string[] {
  return [...text.matchAll(/"([0-9a-f]{56,64}(?::\d+)?)"/g)].map(([, hash = '']) => hash);
}

/** As the page writes it: `c4a540ac…#3`, or the first digits alone. */
function shortOf(hash: string): string {
  const [digits = '', index] = hash.split(':');
  return `${digits.slice(0, 8)}…${index === undefined ? '' : `#${index}`}`;
}

const CONFIG = hashesOf(read('config/mainnet.json'));

/** Ids of the transactions that tests hold, and of swaps. */
function known(): string[] {
  const files = readdirSync(join(ROOT, 'test/data/mainnet'));
  const transactions = files.filter((name) => /^(order|batch)-.*\.hex$/.test(name));
  return [
    ...transactions.map(
      (name) => decodeTransaction(fromHex(dataText(`mainnet/${name}`).trim())).id,
    ),
    ...dataRows('mainnet/splash-swaps.csv').map(([id = '']) => id),
    ...[LAST_TRADE_ID, GRADUATION_ID],
  ];
}

test('every hash of the file stands in the page, with the index of its output', () => {
  assert.ok(CONFIG.length >= 14, `${CONFIG.length} hashes`);
  for (const short of CONFIG.map(shortOf)) assert.ok(PAGE.includes(short), `${short} is missing`);
});

test('every hash of the pages is of the file, or of a transaction that the tests hold', () => {
  const ids = [...CONFIG, ...known(), ...Object.keys(ELSEWHERE)];
  const named = [...`${PAGE}${DEPLOYMENTS}`.matchAll(/\b([0-9a-f]{8})…(#\d+)?/g)];
  assert.ok(named.length > 20);
  for (const [text, digits = '', index] of named) {
    const found = ids.filter((id) => id.startsWith(digits));
    assert.ok(found.length > 0, `${text} is known from nowhere`);
    if (index !== undefined) assert.ok(CONFIG.map(shortOf).includes(text), `${text} is elsewhere`);
  }
});

test('amounts and the first block of the file are those of the pages', () => {
  const { start, splashOrder } = JSON.parse(read('config/mainnet.json'));
  const block = `${start.slot}.${start.hash.slice(0, 8)}…`;
  for (const page of [PAGE, DEPLOYMENTS]) assert.ok(page.includes(block), block);
  const [step, fee] = [splashOrder.stepLovelace, splashOrder.feeLovelace].map(
    (lovelace) => Number(lovelace) / 1_000_000,
  );
  assert.ok(PAGE.includes(`${step} ADA for the step, ${fee} ADA as fee`));
});
