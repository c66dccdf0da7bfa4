/**
 * Outputs that callers name: their content comes from our ledger, and none belongs to the server.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { array, encodeOutput, encodeRef } from '../../../src/cardano/codec/encode.ts';
import { toHex } from '../../../src/cardano/codec/hex.ts';
import { refText, type Utxo } from '../../../src/cardano/codec/output.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import {
  callersCollateralAddress,
  type PartialDeployment,
} from '../../../src/cardano/datums/deployment.ts';
import type { UtxoLookup } from '../../../src/cardano/ledger/port.ts';
import {
  lookUpCallersCollateral,
  lookUpCollateral,
  lookUpNamed,
  lookUpReferences,
  lookUpWallet,
  parseUnspent,
  scriptWithReference,
  serverKeyHashes,
  walletCollateral,
} from '../../../src/cardano/transactions/chainData.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import {
  ADA,
  ALICE,
  ada,
  COLLATERAL_OWNER,
  COLLATERAL_UTXO,
  DEPLOYMENT,
  EXECUTOR,
  holding,
  PLATFORM,
  REFERENCES,
  TOKEN,
  utxo,
} from './world.ts';

/** A ledger with these outputs; those in `spent` are gone. */
function ledger(unspent: readonly Utxo[], spent: readonly Utxo[] = []): UtxoLookup {
  const find = (held: readonly Utxo[], text: string) =>
    held.find(({ ref }) => refText(ref) === text) ?? null;
  return {
    byAsset: async () => [],
    newestOf: async () => null,
    byPaymentKey: async (keyHash, _view, page) =>
      unspent
        .filter(({ output }) => parseAddress(output.address)?.payment.hash === keyHash)
        .slice(0, page?.limit),
    byRefs: async (refs) =>
      refs.map((ref) => {
        const held = find(unspent, refText(ref));
        if (held !== null) return { state: 'unspent', utxo: held };
        const gone = find(spent, refText(ref));
        return gone === null ? { state: 'unknown' } : { state: 'spent', utxo: gone };
      }),
  };
}

const named = (lookup: UtxoLookup, utxos: readonly Utxo[]) =>
  lookUpNamed(
    lookup,
    DEPLOYMENT,
    utxos.map(({ ref }) => ref),
    'body.utxos',
  );

test('the content of named outputs is the ledgers, not the callers', async () => {
  const real = ada(ALICE, 5n * ADA);
  const claimed = array([
    encodeRef(real.ref),
    encodeOutput({ address: ALICE.text, value: coins(900n * ADA), datum: null }),
  ]);
  const ref = parseUnspent(toHex(claimed));
  assert.deepEqual(ref, real.ref);
  const found = await lookUpNamed(ledger([real]), DEPLOYMENT, [real.ref, real.ref], 'body.utxos');
  assert.deepEqual(found, [real]);
});

test('unknown, spent and server-owned outputs are 400 with their place', async () => {
  const [mine, gone, never] = [ada(ALICE, 5n * ADA), ada(ALICE, 6n * ADA), ada(ALICE, 7n * ADA)];
  const servers = [EXECUTOR, PLATFORM, COLLATERAL_OWNER].map((owner) => ada(owner, 900n * ADA));
  const lookup = ledger([mine, ...servers, REFERENCES.order], [gone]);
  const script = utxo({
    address: 'addr_test1wpnlxv2xv9a9ucvnvzqakwepzl9ltx7jzgm53av2e9ncv4sysemm8',
    value: coins(ADA),
  });
  for (const [other, why] of [
    [gone, /is spent/],
    [never, /no output that this ledger knows/],
    ...servers.map((server) => [server, /is the server's/] as const),
  ] as const) {
    const outcome = await named(lookup, [mine, other]);
    assert.ok(outcome instanceof Failure);
    assert.equal(outcome.status, 400);
    assert.match(outcome.message, why);
    assert.equal(outcome.details?.[0]?.path, 'body.utxos');
  }
  const foreign = await named(ledger([script]), [script]);
  assert.ok(foreign instanceof Failure);
  assert.match(foreign.message, /belongs to no key/);
});

test('a wallet of the server is nobodys wallet', async () => {
  const lookup = ledger([ada(ALICE, 5n * ADA), ada(EXECUTOR, 5n * ADA)]);
  const wallet = await lookUpWallet(lookup, DEPLOYMENT, ALICE.address, 'body.changeAddress');
  assert.ok(!(wallet instanceof Failure));
  assert.equal(wallet.length, 1);
  const servers = await lookUpWallet(lookup, DEPLOYMENT, EXECUTOR.address, 'body.changeAddress');
  assert.ok(servers instanceof Failure && servers.status === 400);
});

test('garbage names no output', () => {
  for (const text of ['', 'zz', '82', 'a0', '8100', '820000', '82820000a0', '8182']) {
    assert.equal(parseUnspent(text), null, text);
  }
});

const collateralIn = (
  held: readonly Utxo[],
  deployment: Pick<PartialDeployment, 'scripts' | 'addressNetwork'> = DEPLOYMENT,
) => lookUpCollateral(ledger(held), COLLATERAL_OWNER.key.hash, deployment);

test('collateral is pure ADA of its key; none left is said', async () => {
  const tokens = holding(COLLATERAL_OWNER, 5n * ADA, TOKEN, 1n);
  const small = ada(COLLATERAL_OWNER, 2n * ADA);
  const found = await collateralIn([tokens, small, COLLATERAL_UTXO]);
  assert.deepEqual(found, { utxos: [COLLATERAL_UTXO], returnAddress: COLLATERAL_OWNER.text });
  assert.ok((await collateralIn([tokens, small])) instanceof Failure);
  // Without a known predecessor it searches more of the outputs there.
  const order = { ...DEPLOYMENT.scripts.order, ref: null };
  const unplaced = { ...DEPLOYMENT, scripts: { ...DEPLOYMENT.scripts, order } };
  const dust = Array.from({ length: 30 }, () => small);
  assert.deepEqual(await collateralIn([...dust, COLLATERAL_UTXO], unplaced), found);
});

test('callers and the executor have two sets of collateral, apart from each other', async () => {
  const { hash } = COLLATERAL_OWNER.key;
  const address = callersCollateralAddress(hash, DEPLOYMENT.addressNetwork);
  const [one, two] = [0, 1].map(() => utxo({ address, value: coins(5n * ADA) }));
  assert.ok(one !== undefined && two !== undefined);
  const callers = (held: readonly Utxo[], outputs = 3) => {
    return lookUpCallersCollateral(ledger(held), hash, DEPLOYMENT, outputs);
  };
  assert.ok((await collateralIn([one, two])) instanceof Failure);
  assert.equal(await callers([COLLATERAL_UTXO]), null);
  const both = [COLLATERAL_UTXO, one, two];
  assert.deepEqual(await callers(both), { utxos: [one], returnAddress: address });
  assert.deepEqual(await callers(both, 1), { utxos: [one], returnAddress: address });
  assert.equal(await callers(both, 0), null);
  const found = await collateralIn(both.toReversed());
  assert.ok(!(found instanceof Failure));
  assert.deepEqual(found.utxos, [COLLATERAL_UTXO]);
});

test('the deployments scripts are found, or it is said which are missing', async () => {
  const all = Object.values(REFERENCES);
  const { order, curvePool, launchPolicy } = DEPLOYMENT.scripts;
  const found = await lookUpReferences(ledger(all), [order, curvePool]);
  assert.deepEqual(found, [REFERENCES.order, REFERENCES.curvePool]);
  const outcome = await lookUpReferences(ledger(all.slice(1)), [order, launchPolicy]);
  assert.ok(outcome instanceof Failure);
  assert.match(outcome.message, /not on the chain: [0-9a-f]{64}:0$/);
});

test('what lies where a script should and is another one is no reference', async () => {
  const { order } = DEPLOYMENT.scripts;
  const claimed = { ...order, ref: REFERENCES.vesting.ref };
  const outcome = await lookUpReferences(ledger(Object.values(REFERENCES)), [claimed]);
  assert.ok(outcome instanceof Failure);
  assert.match(outcome.message, new RegExp(`not on the chain: ${refText(REFERENCES.vesting.ref)}`));
});

test('a script of unknown location is refused by its name', () => {
  assert.deepEqual(scriptWithReference(DEPLOYMENT, 'order'), DEPLOYMENT.scripts.order);
  const vesting = { ...DEPLOYMENT.scripts.vesting, ref: null };
  const scripts = { ...DEPLOYMENT.scripts, vesting, ammPool: null };
  for (const name of ['vesting', 'ammPool'] as const) {
    const outcome = scriptWithReference({ network: 'mainnet', scripts }, name);
    assert.ok(outcome instanceof Failure && outcome.cause === 'PROTOCOL_CONFIG');
    assert.match(outcome.message, new RegExp(`where the ${name} script lies on mainnet`));
  }
});

test('keys that a deployment of somebody else has not told guard nothing', () => {
  const unknown = { executorKeyHash: null, feeKeyHash: null };
  const collateralKeyHash = COLLATERAL_OWNER.key.hash;
  assert.deepEqual([...serverKeyHashes({ ...unknown, collateralKeyHash })], [collateralKeyHash]);
  assert.equal(serverKeyHashes({ ...unknown, collateralKeyHash: null }).size, 0);
});

test('a wallet gives one output of ADA alone as collateral, or what it has', () => {
  const [small, fit] = [ada(ALICE, 2n * ADA), ada(ALICE, 4n * ADA)];
  const tokens = holding(ALICE, 9n * ADA, TOKEN, 1n);
  const returnAddress = ALICE.text;
  assert.deepEqual(walletCollateral([tokens, small, fit], returnAddress)?.utxos, [fit]);
  assert.deepEqual(walletCollateral([tokens, small], returnAddress)?.utxos, [tokens, small]);
  assert.equal(walletCollateral([REFERENCES.order], returnAddress), null, 'nothing with a script');
  assert.equal(walletCollateral([], returnAddress), null);
});
