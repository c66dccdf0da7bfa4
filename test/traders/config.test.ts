/** The traders' names, styles and funds come from the configuration. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTraderConfig } from '../../src/traders/config.ts';
import { styleOf } from '../../src/traders/styles.ts';
import { traderFunds, traderWallets } from '../../src/traders/wallets.ts';
import { temporaryDirectory } from '../support/server.ts';
import { CONFIG } from './views.ts';

test('their wallets derive from the seed and are funded as configured', () => {
  const traders = traderWallets(CONFIG);
  const funds = traderFunds(CONFIG);
  assert.equal(traders.length, CONFIG.wallets);
  assert.deepEqual(
    funds.map(({ keyHash }) => keyHash),
    traders.map(({ keyHash }) => keyHash),
  );
  assert.equal(new Set(funds.map(({ keyHash }) => keyHash)).size, CONFIG.wallets);
  assert.equal(funds.at(-1)?.lovelace, BigInt(CONFIG.adaEach) * 1_000_000n);
  assert.equal(traderWallets(CONFIG)[0]?.address, traders[0]?.address);
  const [other] = traderWallets({ ...CONFIG, seed: 'another' });
  assert.notEqual(other?.address, traders[0]?.address);
});

test('forty wallets have five styles', () => {
  const styles = Array.from({ length: CONFIG.wallets }, (_, wallet) => styleOf(wallet).name);
  const names = ['small', 'chaser', 'taker', 'holder', 'bot'];
  const counts = names.map((name) => styles.filter((style) => style === name).length);
  assert.deepEqual(counts, [16, 8, 8, 4, 4]);
});

test('a configuration that is not as it should be says where', () => {
  const file = join(temporaryDirectory(), 'devnet.json');
  writeFileSync(file, JSON.stringify({ traders: { ...CONFIG, wallets: 0 } }));
  assert.throws(() => readTraderConfig(file), /traders\/wallets/);
  writeFileSync(file, '{}');
  assert.throws(() => readTraderConfig(file), /traders/);
});
