/** Where a new devnet begins with the recorded past, and where it does not. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { HISTORY_FILE, readHistory } from '../../../src/devnet/history.ts';
import { LedgerFile } from '../../../src/devnet/ledgerFile.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { readSecrets } from '../../../src/server/settings/secrets.ts';
import { BadSettings, readSettings } from '../../../src/server/settings/settings.ts';
import { chainFileOf } from '../../../src/server/wiring/devnet.ts';
import { fittingHistory } from '../../../src/server/wiring/history.ts';
import { readTraderConfig } from '../../../src/traders/config.ts';
import { type Environment, temporaryDirectory } from '../../support/server.ts';

const TRADERS = readTraderConfig();

function found(env: Environment, traders = TRADERS, beginsWithPast = true): string | null {
  const settings = readSettings({ NETWORK: 'devnet', ...env });
  assert(!(settings instanceof BadSettings));
  const devnet = { traders, pace: 0, seed: 1, beginsWithPast };
  return fittingHistory({ settings, devnet, rng: systemRng });
}

function chainFileIn(DATA_DIR: string): string {
  const file = chainFileOf({ DATA_DIR });
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

test('an empty directory begins with the past, and has its keys and logos', () => {
  const DATA_DIR = temporaryDirectory();
  assert.equal(found({ DATA_DIR }), HISTORY_FILE);
  const { keys, pictures } = readHistory(HISTORY_FILE);
  assert.equal(readSecrets(DATA_DIR, systemRng).executor.reveal(), keys.executor);
  assert.deepEqual(readdirSync(join(DATA_DIR, 'images')).sort(), Object.keys(pictures).sort());
});

test('a start that was cut short before its chain began has the past at the next one', () => {
  const DATA_DIR = temporaryDirectory();
  new LedgerFile(chainFileIn(DATA_DIR)).close();
  assert.equal(found({ DATA_DIR }), HISTORY_FILE);
});

test('a chain that began is continued without it', () => {
  const DATA_DIR = temporaryDirectory();
  const file = new LedgerFile(chainFileIn(DATA_DIR));
  file.begin('{}', []);
  file.close();
  assert.equal(found({ DATA_DIR }), null);
  assert(!existsSync(join(DATA_DIR, 'keys.json')), 'nothing is made');
});

test('other keys, slots, terms, traders or chains begin without it', () => {
  const own = temporaryDirectory();
  const { executor } = readSecrets(own, systemRng);
  assert.equal(found({ DATA_DIR: own }), null);
  assert.equal(readSecrets(own, systemRng).executor.reveal(), executor.reveal());
  const DATA_DIR = temporaryDirectory();
  const KEYS_FILE = join(DATA_DIR, 'own.json');
  writeFileSync(KEYS_FILE, JSON.stringify(readHistory(HISTORY_FILE).keys), { mode: 0o600 });
  const others = [
    { KEYS_FILE },
    { BLOCK_EVERY_MS: '500' },
    { BLOCK_EVERY_MS: '0' },
    { ORDER_REFUND_AFTER_MS: '60000' },
    { OGMIOS_URL: 'ws://127.0.0.1:1337', KUPO_URL: 'http://127.0.0.1:1442' },
  ];
  for (const env of others) assert.equal(found({ DATA_DIR, ...env }), null, Object.keys(env)[0]);
  assert.equal(found({ DATA_DIR }, { ...TRADERS, wallets: 2 }), null);
  assert.equal(found({ DATA_DIR }, TRADERS, false), null);
  assert(!existsSync(join(DATA_DIR, 'keys.json')), 'nothing is made');
});
