/** A node reports that its directory and the market that it joins do not belong together. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MarketRecord } from '../../../src/engine/fold/marketRecord.ts';
import { temporaryDirectory } from '../../support/server.ts';

const OWN = { network: 'devnet', deployment: 'd5'.repeat(32), id: 'ab'.repeat(32) };

function recordOf(deployment: string): MarketRecord {
  const directory = join(temporaryDirectory(), 'data');
  mkdirSync(directory, { recursive: true });
  return new MarketRecord(directory, { network: 'devnet', deployment });
}

function refusal(record: MarketRecord, there: typeof OWN): string {
  try {
    record.compare(there, 'the log in NATS');
  } catch (error) {
    return String(error);
  }
  return '';
}

/** The last digit is another one, as after a flipped bit. */
function flipped(digits: string): string {
  return `${digits.slice(0, -1)}0`;
}

test('a market whose id begins as ours is shown whole, and said to be damaged', () => {
  const record = recordOf(OWN.deployment);
  record.write(OWN);
  const text = refusal(record, { ...OWN, id: flipped(OWN.id) });
  assert.ok(text.includes(OWN.id) && text.includes(flipped(OWN.id)), text);
  assert.match(text, /one of the two was damaged: restore it from a backup/);
});

test('another market is named by what tells the two apart', () => {
  const record = recordOf(OWN.deployment);
  record.write(OWN);
  const text = refusal(record, { ...OWN, id: 'cd'.repeat(32) });
  assert.match(text, /holds market abababababab \(.*belongs to market cdcdcdcdcdcd \(/);
  assert.match(text, /Set DATA_DIR to a directory of that market/);
});

test('a deployment that begins as ours is shown whole', () => {
  const text = refusal(recordOf(flipped(OWN.deployment)), OWN);
  assert.ok(text.includes(OWN.deployment) && text.includes(flipped(OWN.deployment)), text);
});
