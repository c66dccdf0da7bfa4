/**
 * Lookups of market outputs: outputs that are answered from the state, requests to the index, and
 * cached answers.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAssets, encodeRefs } from '../../src/cardano/codec/encode.ts';
import type { Utxo } from '../../src/cardano/codec/output.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { chainLookupContract } from '../contracts/chainLookup.ts';
import { type ChainPlace, submitted, wallet } from '../contracts/chainPlace.ts';
import { addressOf, keyNamed, payment } from '../support/ledgerWorld.ts';
import { ALWAYS, ALWAYS_HASH, rawTransaction } from '../support/rawTransaction.ts';
import { contractPlace } from './kupo/kupoWorld.ts';
import { type MarketPlace, marketPlace } from './marketPlace.ts';

const ADA = 1_000_000n;
const TOKEN = `${ALWAYS_HASH}.746f6b`;
const KEPT_MS = 10_000;

function placeOf({ kupo, lookup, settled }: MarketPlace): ChainPlace {
  return contractPlace(kupo, lookup, settled);
}

chainLookupContract('market', async (scope) => placeOf(await marketPlace(scope)));

/** Alice makes 5 of a token, in a block; answers the output with them. */
async function minted(place: ChainPlace): Promise<Utxo> {
  const [source, collateral] = await wallet(place, 'alice');
  assert.ok(source && collateral);
  const value = asValue(source.output.value.lovelace - ADA, [[TOKEN, 5n]]);
  const { id } = await submitted(
    place,
    rawTransaction({
      inputs: [source.ref],
      outputs: [{ address: addressOf('alice'), value }],
      feeLovelace: ADA,
      scripts: [ALWAYS],
      redeemers: [{ tag: 1, index: 0, memory: 1_000n, cpu: 1_000_000n }],
      fields: {
        9: encodeAssets(new Map([[TOKEN, 5n]])),
        13: encodeRefs([collateral.ref]),
      },
      keys: [keyNamed('alice')],
    }),
  );
  await place.mine(1);
  const [state] = await place.chain.byRefs([{ txHash: id, index: 0 }]);
  assert.ok(state?.state === 'unspent');
  return state.utxo;
}

test('market outputs are known without a question, pending spenders too', async (t) => {
  const market = await marketPlace(t);
  const place = placeOf(market);
  const token = await minted(place);
  const { asked } = market.kupo.kupo;
  const before = asked.length;
  const { bytes, id } = payment(token, 'alice', 'bob', 10n * ADA);
  assert.equal((await place.chain.submit(bytes)).outcome, 'accepted');
  const change = { txHash: id, index: 1 };
  const [spent, made] = await place.chain.byRefs([token.ref, change]);
  assert.deepEqual(spent, { state: 'spent', utxo: token });
  assert.ok(made?.state === 'unspent');
  assert.equal(made.utxo.output.value.assets.get(TOKEN), 5n);
  assert.deepEqual(await place.chain.newestOf(token.ref, TOKEN), made.utxo);
  assert.deepEqual(await place.chain.newestOf(change, TOKEN), made.utxo);
  assert.equal(asked.length, before, 'Kupo was asked nothing');
  await place.mine(1);
  assert.deepEqual(await place.chain.byRefs([change]), [made]);
  assert.equal(asked.length, before, 'its block says what is in it');
  assert.deepEqual(await place.chain.newestOf(token.ref, TOKEN), made.utxo);
  assert.ok(asked.length > before, 'who took the output is asked for');
});

test('reference scripts and the collateral are asked for once in ten seconds', async (t) => {
  const { kupo, lookup, clock } = await marketPlace(t);
  const { ledger } = kupo;
  const { deployment } = ledger;
  const refs = Object.values(deployment.scripts).map(({ ref }) => ref);
  const direct = await ledger.byRefs(refs);
  const { collateralKeyHash } = deployment;
  const questions = async () => {
    const { asked } = kupo.kupo;
    const before = asked.length;
    assert.deepEqual(await lookup.byRefs(refs), direct);
    const between = asked.length;
    const collateral = await lookup.byPaymentKey(collateralKeyHash, 'spendable', { limit: 3 });
    assert.equal(collateral.length, 3);
    return [between > before, asked.length > between];
  };
  assert.deepEqual(await questions(), [true, true]);
  await clock.advance(KEPT_MS);
  assert.deepEqual(await questions(), [false, false]);
  await clock.advance(1);
  assert.deepEqual(await questions(), [true, true]);
});

test('pages of the collateral that a caller walks do not stay', async (t) => {
  const { kupo, lookup } = await marketPlace(t);
  const { collateralKeyHash } = kupo.ledger.deployment;
  for (let offset = 0; offset < 60; offset += 1) {
    const after = { txHash: 'ab'.repeat(32), index: offset };
    await lookup.byPaymentKey(collateralKeyHash, 'spendable', { limit: 1, offset: 0, after });
    await lookup.byPaymentKey(collateralKeyHash, 'spendable', { limit: 1 + offset });
  }
  assert(lookup.keptPages > 0 && lookup.keptPages <= 16, `${lookup.keptPages} pages are kept`);
});
