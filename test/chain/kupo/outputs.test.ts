/** Kupo's outputs are exact to the lovelace, with pending transactions overlaid. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UtxoState } from '../../../src/cardano/ledger/port.ts';
import { KupoError, readMatches } from '../../../src/chain/kupo/answers.ts';
import { KupoHealthWatch } from '../../../src/chain/kupo/client.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { addressOf, keyNamed, payment } from '../../support/ledgerWorld.ts';
import { until } from '../../support/until.ts';
import { kupoPlace } from './kupoWorld.ts';

const ADA = 1_000_000n;

test('gives every output as the ledger has it, scripts included', async (scope) => {
  const { ledger, lookup } = await kupoPlace(scope);
  const utxos = ledger.genesis;
  assert.ok(utxos.some(({ output }) => output.scriptHash !== null));
  const states = await lookup.byRefs(utxos.map(({ ref }) => ref));
  const expected: UtxoState[] = utxos.map((utxo) => ({ state: 'unspent', utxo }));
  assert.deepEqual(states, expected);
});

const POLICY = 'ab'.repeat(28);

function match(more: object) {
  return {
    transaction_index: 0n,
    transaction_id: '12'.repeat(32),
    output_index: 1n,
    address: addressOf('alice'),
    value: { coins: 9_007_199_254_740_993n, assets: { [POLICY]: 7n, [`${POLICY}.00ff`]: 8n } },
    datum_hash: null,
    script_hash: null,
    created_at: { slot_no: 1n, header_hash: '00'.repeat(32) },
    spent_at: null,
    ...more,
  };
}

test('reads assets with and without a name, Byron addresses and datums by hash', () => {
  const byron = 'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi';
  const [found] = readMatches([
    match({ address: byron, datum_hash: 'cd'.repeat(32), datum_type: 'hash', datum: null }),
  ]);
  assert.ok(found);
  const { output } = found.utxo;
  assert.equal(output.value.lovelace, 9_007_199_254_740_993n);
  assert.deepEqual(
    [...output.value.assets],
    [
      [`${POLICY}.`, 7n],
      [`${POLICY}.00ff`, 8n],
    ],
  );
  assert.equal(output.datum, null);
  assert.match(output.address, /^82d818[0-9a-f]+$/);
});

test('an output with a script in a language to come keeps what it holds', () => {
  const script = { language: 'plutus:v4', script: '4101' };
  const script_hash = 'cd'.repeat(28);
  const [plain, scripted] = readMatches([match({}), match({ script_hash, script })]);
  assert.ok(plain && scripted);
  const { cbor, scriptHash, ...kept } = scripted.utxo.output;
  assert.equal(scriptHash, script_hash);
  assert.deepEqual({ ...kept, cbor, scriptHash: null }, plain.utxo.output);
});

test('refuses what Kupo would not write', () => {
  const wrong = [
    match({ transaction_id: 'zz' }),
    match({ output_index: '1' }),
    match({ address: 'nowhere' }),
    match({ value: { coins: 1.5, assets: {} } }),
    match({ value: { coins: 1n, assets: { nonsense: 1n } } }),
    match({ datum_hash: 'cd'.repeat(32), datum_type: 'inline', datum: null }),
    match({ datum_hash: 'cd'.repeat(32), datum_type: 'inline' }),
    match({ script_hash: 'cd'.repeat(28), script: { language: 'plutus:v2', script: '4101' } }),
    match({ script_hash: 'cd'.repeat(28), script: null }),
    { ...match({}), spent_at: undefined, created_at: undefined, address: undefined },
  ];
  for (const each of wrong) assert.throws(() => readMatches([each]), KupoError);
  assert.throws(() => readMatches(null), /no list/);
});

test('a rival in a block removes a pending transaction and its dependents', async (scope) => {
  const { ledger, overlay } = await kupoPlace(scope);
  const [source] = await ledger.byPaymentKey(keyNamed('alice').hash, 'spendable', { limit: 1 });
  assert.ok(source);
  const first = payment(source, 'alice', 'bob', 10n * ADA);
  await ledger.submit(first.bytes);
  const [change] = (await ledger.byPaymentKey(keyNamed('alice').hash, 'newest')).filter(
    ({ ref }) => ref.txHash === first.id,
  );
  assert.ok(change);
  const second = payment(change, 'alice', 'bob', 20n * ADA);
  await ledger.submit(second.bytes);
  await until('both wait', () => overlay.mempool.size === 2);
  const [kept, rest] = [...overlay.mempool.all()].map(({ tx }) => tx);
  assert.ok(kept && rest);
  overlay.confirm([{ ...kept, id: 'f'.repeat(64) }], 1);
  assert.equal(overlay.mempool.size, 0);
});

test('tells its health as facts, and that it does not answer', async (scope) => {
  const { kupo, healths, ledger, settled } = await kupoPlace(scope);
  await ledger.mine(2);
  await settled();
  const observer = {
    kupoAsked: () => {},
    kupoHealth: (health: (typeof healths)[number]) => void healths.push(health),
  };
  const watch = new KupoHealthWatch({ url: kupo.url, clock: systemClock, observer, everyMs: 5 });
  watch.start();
  await until('it is well', () => healths.at(-1)?.connected === true);
  const { slot } = kupo.index.newest ?? { slot: -1 };
  await until('it is up to date', () => healths.at(-1)?.checkpointSlot === slot);
  kupo.isConnected = false;
  await until('it has lost its node', () => healths.at(-1)?.connected === false);
  kupo.mischief = () => 'drop';
  await until('it does not answer', () => watch.latest === null && healths.at(-1) === null);
  await watch.stop();
});
