/** Fees are exact to the byte, value is conserved, and impossible builds are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CML } from '@lucid-evolution/lucid';
import fc from 'fast-check';
import { encodeOutput } from '../../../src/cardano/codec/encode.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../../src/cardano/codec/value.ts';
import { assemble } from '../../../src/cardano/transactions/assemble.ts';
import { minFee, minLovelace, referencesLovelace } from '../../../src/cardano/transactions/cost.ts';
import { planCancel, planOrder } from '../../../src/cardano/transactions/order.ts';
import { dataHex, planOf, type TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  built,
  COLLATERAL,
  COLLATERAL_OWNER,
  DEPLOYMENT,
  evaluate,
  NOW_MS,
  orderOf,
  outcomeOf,
  REFERENCES,
  refused,
  SLOTS,
  signedBy,
  utxo,
} from './world.ts';

/**
 * Room for the tag that a wallet may put around its signatures, and the byte of is_valid, which the
 * ledger does not count.
 */
const SPARE_LOVELACE = 4n * 44n;

function plans(): readonly [string, TransactionPlan, Parameters<typeof signedBy>[1]][] {
  const wallet = [ada(ALICE, 100n * ADA), ada(ALICE, 30n * ADA)];
  const placing = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 105n * ADA), wallet, NOW_MS).plan;
  const order = utxo(placing.outputs[0] ?? assert.fail());
  const cancelling = planCancel(
    DEPLOYMENT,
    { order, changeAddress: ALICE.address },
    { wallet, references: [REFERENCES.order], collateral: COLLATERAL, slots: SLOTS },
    NOW_MS,
  );
  assert.ok(!(cancelling instanceof Failure));
  return [
    ['placing', placing, [ALICE]],
    ['cancelling', cancelling, [ALICE, COLLATERAL_OWNER]],
  ];
}

test('the fee is the least that the ledger takes, and four bytes', () => {
  for (const [name, plan, people] of plans()) {
    const at = (feeFixedLovelace: bigint) => {
      const parameters = { ...PARAMETERS, feeFixedLovelace };
      const outcome = assemble(plan, { parameters, evaluate });
      assert.ok(outcome.outcome === 'built');
      const utxos = [...outcome.inputs, ...outcome.collateral, ...plan.references];
      return refused(signedBy(outcome.bytes, people), utxos);
    };
    const { feeFixedLovelace } = PARAMETERS;
    assert.equal(at(feeFixedLovelace - SPARE_LOVELACE), null, name);
    assert.match(at(feeFixedLovelace - SPARE_LOVELACE - 1n) ?? '', /is less than minimum/, name);
  }
});

test('what an output must hold is what CML says', () => {
  const amounts = fc.record({
    count: fc.integer({ min: 0, max: 20 }),
    nameBytes: fc.integer({ min: 0, max: 32 }),
    amount: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
    datumBytes: fc.integer({ min: 0, max: 600 }),
    isBase: fc.boolean(),
  });
  fc.assert(
    fc.property(amounts, ({ count, nameBytes, amount, datumBytes, isBase }) => {
      const assets = Array.from({ length: count }, (_, n) => {
        return [`${n.toString(16).padStart(56, 'a')}.${'ee'.repeat(nameBytes)}`, amount] as const;
      });
      const datum = datumBytes === 0 ? null : dataHex('ee'.repeat(datumBytes));
      const address = isBase ? ALICE.text : COLLATERAL_OWNER.text;
      const output = { address, value: asValue(0n, assets), datum };
      const lovelace = minLovelace(PARAMETERS, output);
      const bytes = encodeOutput({ ...output, value: { ...output.value, lovelace } });
      const read = CML.TransactionOutput.from_cbor_bytes(bytes);
      assert.equal(CML.min_ada_required(read, 4310n), lovelace);
    }),
  );
});

test('scripts in references cost more by the tier', () => {
  const tier = 25_600n;
  assert.equal(referencesLovelace(PARAMETERS, 0n), 0n);
  assert.equal(referencesLovelace(PARAMETERS, tier), 384_000n);
  assert.equal(referencesLovelace(PARAMETERS, tier + 1n), 384_018n);
  assert.equal(referencesLovelace(PARAMETERS, 2n * tier + 1n), 844_821n);
  const units = [{ memory: 1n, cpu: 1n }];
  assert.equal(minFee(PARAMETERS, 0, units, 0n), 155_382n);
});

test('whatever the wallet, a transfer conserves and is accepted', () => {
  const cases = fc.record({
    held: fc.array(fc.bigInt({ min: ADA, max: 40n * ADA }), { minLength: 1, maxLength: 30 }),
    sent: fc.array(fc.bigInt({ min: ADA, max: 20n * ADA }), { minLength: 1, maxLength: 5 }),
  });
  let accepted = 0;
  fc.assert(
    fc.property(cases, ({ held, sent }) => {
      const wallet = held.map((lovelace) => ada(ALICE, lovelace));
      const outputs = sent.map((lovelace) => ({
        address: BOB.text,
        value: coins(lovelace),
        datum: null,
      }));
      const outcome = outcomeOf(planOf({ wallet, outputs, changeAddress: ALICE.text }));
      const total = (amounts: readonly bigint[]) => amounts.reduce((sum, each) => sum + each, 0n);
      if (outcome.outcome === 'refused') {
        assert.equal(outcome.reason, 'FUNDS');
        assert.ok(total(held) < total(sent) + 3n * ADA);
        return;
      }
      accepted += 1;
      assert.equal(refused(signedBy(outcome.bytes, [ALICE]), outcome.inputs), null);
    }),
    { numRuns: 100 },
  );
  assert.ok(accepted > 20);
});

test('an exact plan that does not balance is refused, not topped up', () => {
  const inputs = [{ utxo: ada(ALICE, 10n * ADA), redeemer: null }];
  const output = (lovelace: bigint) => ({ address: BOB.text, value: coins(lovelace), datum: null });
  const outcome = (lovelace: bigint) =>
    outcomeOf(planOf({ inputs, outputs: [output(lovelace)], changeAddress: ALICE.text }));
  for (const lovelace of [10n * ADA, 11n * ADA, 9_500_000n]) {
    const refusal = outcome(lovelace);
    assert.ok(refusal.outcome === 'refused');
    assert.equal(refusal.reason, 'FUNDS');
  }
  assert.equal(outcome(8n * ADA).outcome, 'built');
});

test('an output that pays the fee shrinks by it and by nothing else', () => {
  const inputs = [{ utxo: ada(ALICE, 10n * ADA), redeemer: null }];
  const outputs = [10n * ADA].map((sum) => ({ address: BOB.text, value: coins(sum), datum: null }));
  const { bytes, feeLovelace } = built(
    planOf({ inputs, outputs, feeFrom: 0, changeAddress: ALICE.text }),
  );
  assert.deepEqual(
    decodeTransaction(bytes).outputs.map(({ value }) => value.lovelace),
    [10n * ADA - feeLovelace],
  );
});

test('what does not fit into a transaction is said', () => {
  const outputs = Array.from({ length: 300 }, () => ({
    address: BOB.text,
    value: coins(ADA),
    datum: null,
  }));
  const outcome = outcomeOf(
    planOf({ wallet: [ada(ALICE, 900n * ADA)], outputs, changeAddress: ALICE.text }),
  );
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'TOO_LARGE');
  const assets = Array.from(
    { length: 120 },
    (_, n) => [`${n.toString(16).padStart(56, 'a')}.${'ee'.repeat(20)}`, 9n] as const,
  );
  const fat = { address: BOB.text, value: asValue(90n * ADA, assets), datum: null };
  const refusal = outcomeOf(planOf({ wallet: [], outputs: [fat], changeAddress: ALICE.text }));
  assert.ok(refusal.outcome === 'refused');
  assert.match(refusal.message, /too many tokens/);
});

test('scripts over the limits of a transaction are refused here, not on the chain', () => {
  const [, cancelling] = plans();
  const plan = cancelling?.[1] ?? assert.fail();
  for (const limit of [{ maxCpu: 1n }, { maxMemory: 1n }]) {
    const outcome = assemble(plan, { parameters: { ...PARAMETERS, ...limit }, evaluate });
    assert.ok(outcome.outcome === 'refused');
    assert.equal(outcome.reason, 'TOO_LARGE');
  }
});

test('a plan may be held to a share of the limits', () => {
  const [placing, cancelling] = plans().map(([, plan]) => plan);
  assert.ok(placing !== undefined && cancelling !== undefined);
  const { redeemers } = decodeTransaction(built(cancelling).bytes);
  const memory = redeemers.reduce((sum, each) => sum + each.memory, 0n);
  const cpu = redeemers.reduce((sum, each) => sum + each.cpu, 0n);
  const people = plans()[0]?.[2] ?? assert.fail();
  // The ledger counts neither the byte of is_valid nor a tag that a wallet may leave out.
  const bytes = signedBy(built(placing).bytes, people).length + 3;
  for (const [plan, limit] of [
    [cancelling, { maxMemory: 2n * memory }],
    [cancelling, { maxCpu: 2n * cpu }],
    [placing, { maxBytes: 2 * bytes }],
  ] as const) {
    const parameters = { ...PARAMETERS, ...limit };
    assert.equal(
      assemble({ ...plan, maxPercent: 50 }, { parameters, evaluate }).outcome,
      'built',
      JSON.stringify(Object.keys(limit)),
    );
    const outcome = assemble({ ...plan, maxPercent: 49 }, { parameters, evaluate });
    assert.ok(outcome.outcome === 'refused');
    assert.equal(outcome.reason, 'TOO_LARGE');
  }
});
