/** Contract of every lookup of unspent outputs (src/chain/port.ts). */
import assert from 'node:assert/strict';
import { encodeAssets, encodeRefs } from '../../src/cardano/codec/encode.ts';
import { compareRefs, refText, type Utxo } from '../../src/cardano/codec/output.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import type { UtxoView } from '../../src/cardano/ledger/port.ts';
import { addressOf, keyNamed } from '../support/ledgerWorld.ts';
import { ALWAYS, ALWAYS_HASH, rawTransaction } from '../support/rawTransaction.ts';
import { type ChainPlace, checker, type MakePlace, paid, submitted, wallet } from './chainPlace.ts';

export function chainLookupContract(name: string, make: MakePlace): void {
  const check = checker(name, make);
  views(check);
  references(check);
  assets(check);
}

type Check = ReturnType<typeof checker>;
const VIEWS = ['spendable', 'newest', 'wallet'] as const;

async function names(place: ChainPlace, of: string, view: UtxoView): Promise<string[]> {
  const found = await place.chain.byPaymentKey(keyNamed(of).hash, view);
  return found.map(({ ref }) => refText(ref));
}

function views(check: Check): void {
  check('lists the outputs of a key, ordered, with their content', async (place) => {
    for (const view of VIEWS) {
      const found = await place.chain.byPaymentKey(keyNamed('alice').hash, view);
      assert.equal(found.length, 5);
      assert.deepEqual(
        found,
        [...found].sort((a, b) => compareRefs(a.ref, b.ref)),
      );
      for (const { output } of found) {
        assert.equal(output.address, addressOf('alice'));
        assert.equal(output.value.lovelace, 1_000_000_000n);
      }
    }
    assert.deepEqual(await names(place, 'stranger', 'newest'), []);
  });

  check('shows pending outputs as each view says', async (place) => {
    const [spent] = await wallet(place, 'alice');
    assert.ok(spent);
    const before = await names(place, 'bob', 'spendable');
    const { id } = await paid(place);
    const [gift, change] = [`${id}:0`, `${id}:1`];
    for (const view of VIEWS) {
      const alices = await names(place, 'alice', view);
      assert.ok(!alices.includes(refText(spent.ref)), `${view}: what is spent is not there`);
      assert.equal(alices.includes(change), view !== 'spendable', `${view}: own change`);
      const bobs = await names(place, 'bob', view);
      assert.equal(bobs.includes(gift), view === 'newest', `${view}: a gift that waits`);
    }
    await place.mine(1);
    for (const view of VIEWS) {
      assert.deepEqual((await names(place, 'bob', view)).toSorted(), [...before, gift].toSorted());
      assert.ok((await names(place, 'alice', view)).includes(change));
    }
  });

  check('pages by reference, offset and limit', async ({ chain }) => {
    const { hash } = keyNamed('alice');
    const all = await chain.byPaymentKey(hash, 'spendable');
    const page = (more: Parameters<typeof chain.byPaymentKey>[2]) =>
      chain.byPaymentKey(hash, 'spendable', more);
    const [, second] = all;
    assert.ok(second);
    assert.deepEqual(await page({ limit: 2 }), all.slice(0, 2));
    assert.deepEqual(await page({ offset: 1, limit: 3 }), all.slice(1, 4));
    assert.deepEqual(await page({ after: second.ref }), all.slice(2));
    assert.deepEqual(await page({ after: second.ref, offset: 1, limit: 1 }), all.slice(3, 4));
    assert.deepEqual(await page({ after: { txHash: 'ff'.repeat(32), index: 9 } }), []);
    assert.deepEqual(await page({ limit: 0 }), []);
  });
}

function references(check: Check): void {
  check('knows outputs as unspent, spent or not at all, in the order asked', async (place) => {
    const [first, second] = await wallet(place, 'alice');
    assert.ok(first && second);
    const { id } = await paid(place);
    const refs = [{ txHash: 'ab'.repeat(32), index: 0 }, first.ref, second.ref];
    const made = { txHash: id, index: 0 };
    const states = async () => {
      const found = await place.chain.byRefs([...refs, made]);
      return found.map(({ state }) => state);
    };
    assert.deepEqual(await states(), ['unknown', 'spent', 'unspent', 'unspent']);
    await place.mine(1);
    assert.deepEqual(await states(), ['unknown', 'spent', 'unspent', 'unspent']);
    const [spent] = await place.chain.byRefs([first.ref]);
    assert.deepEqual(spent, { state: 'spent', utxo: first });
    await place.fork(1, 'none');
    assert.deepEqual(await states(), ['unknown', 'unspent', 'unspent', 'unknown']);
  });

  check('remembers spent outputs for 2160 blocks', async (place) => {
    const [first] = await wallet(place, 'alice');
    assert.ok(first);
    await paid(place);
    await place.mine(2160);
    assert.deepEqual(await place.chain.byRefs([first.ref]), [{ state: 'spent', utxo: first }]);
  });
}

function assets(check: Check): void {
  check('finds outputs by an asset they hold', async (place) => {
    const asset = `${ALWAYS_HASH}.746f6b`;
    const { id } = await minted(place, asset);
    const found = async (view: UtxoView) =>
      (await place.chain.byAsset(asset, view)).map(({ ref }) => refText(ref));
    assert.deepEqual(await found('spendable'), []);
    assert.deepEqual(await found('newest'), [`${id}:0`]);
    assert.deepEqual(await found('wallet'), [`${id}:0`], 'minted into the own wallet');
    await place.mine(1);
    for (const view of VIEWS) assert.deepEqual(await found(view), [`${id}:0`]);
    const [utxo] = await place.chain.byAsset(asset, 'spendable');
    assert.deepEqual([...(utxo?.output.value.assets ?? [])], [[asset, 5n]]);
    assert.deepEqual(await place.chain.byAsset(`${ALWAYS_HASH}.`, 'newest'), []);
  });
}

async function minted(place: ChainPlace, asset: string) {
  const [source, collateral]: readonly Utxo[] = await wallet(place, 'alice');
  assert.ok(source && collateral);
  const feeLovelace = 1_000_000n;
  const value = asValue(source.output.value.lovelace - feeLovelace, [[asset, 5n]]);
  const signed = rawTransaction({
    inputs: [source.ref],
    outputs: [{ address: addressOf('alice'), value }],
    feeLovelace,
    scripts: [ALWAYS],
    redeemers: [{ tag: 1, index: 0, memory: 1_000n, cpu: 1_000_000n }],
    fields: { 9: encodeAssets(new Map([[asset, 5n]])), 13: encodeRefs([collateral.ref]) },
    keys: [keyNamed('alice')],
  });
  return submitted(place, signed);
}
