/** Who the traders are, and what they are given. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readTraderConfig } from '../../../src/client/traders/config.ts';
import { traderFunds, traderWallets } from '../../../src/client/traders/wallets.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { CONFIG } from './views.ts';

test('their wallets derive from the seed and are funded as configured', () => {
  const { traders, pusher } = traderWallets(CONFIG);
  const funds = traderFunds(CONFIG);
  assert.equal(traders.length, CONFIG.wallets);
  assert.deepEqual(
    funds.map(({ keyHash }) => keyHash),
    [...traders, pusher].map(({ keyHash }) => keyHash),
  );
  assert.equal(new Set(funds.map(({ keyHash }) => keyHash)).size, CONFIG.wallets + 1);
  assert.equal(funds.at(-1)?.lovelace, BigInt(CONFIG.pusher.ada) * 1_000_000n);
  assert.equal(traderWallets(CONFIG).pusher.address, pusher.address);
  const other = traderWallets({ ...CONFIG, seed: 'another' });
  assert.notEqual(other.pusher.address, pusher.address);
});

test('the pusher can fill two curves with what it is given', () => {
  assert(CONFIG.pusher.ada > 2 * 18_400);
});

test('a configuration that is not as it should be says where', () => {
  const file = join(temporaryDirectory(), 'devnet.json');
  writeFileSync(file, JSON.stringify({ traders: { ...CONFIG, wallets: 0 } }));
  assert.throws(() => readTraderConfig(file), /traders\/wallets/);
  writeFileSync(file, '{}');
  assert.throws(() => readTraderConfig(file), /traders/);
});
