/** Coin selection over wallets of any mix. Replay a failure with the seed and path it prints. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeAssets } from '../../../src/cardano/codec/encode.ts';
import { refText, type Utxo } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import {
  addValues,
  asValue,
  coins,
  equalValues,
  subtractValue,
} from '../../../src/cardano/codec/value.ts';
import { minLovelace } from '../../../src/cardano/transactions/cost.ts';
import { planOrder } from '../../../src/cardano/transactions/order.ts';
import { MAX_WALLET_INPUTS, select } from '../../../src/cardano/transactions/selection.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { accepted } from './verdict.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  built,
  DEPLOYMENT,
  holding,
  hostileWallet,
  NOW_MS,
  orderOf,
  outcomeOf,
  REFERENCES,
  TOKEN,
  utxo,
} from './world.ts';

const asset = (n: number): string => `${n.toString(16).padStart(56, 'c')}.${'ee'.repeat(n % 33)}`;

const anyUtxo = fc
  .record({
    lovelace: fc.bigInt({ min: 2n * ADA, max: 50n * ADA }),
    assets: fc.dictionary(
      fc.integer({ min: 0, max: 30 }).map(String),
      fc.bigInt({ min: 1n, max: 10n ** 9n }),
      { maxKeys: 4 },
    ),
    scripted: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  .map(({ lovelace, assets, scripted }): Utxo => {
    const held = Object.entries(assets).map(([n, amount]) => [asset(Number(n)), amount] as const);
    const plain = utxo({ address: ALICE.text, value: asValue(lovelace, held) });
    const { scriptHash } = REFERENCES.order.output;
    return scripted ? { ...plain, output: { ...plain.output, scriptHash } } : plain;
  });

const anyCase = fc.record({
  wallet: fc.array(anyUtxo, { minLength: 5, maxLength: 40 }),
  lovelace: fc.bigInt({ min: -10n * ADA, max: 200n * ADA }),
  token: fc.integer({ min: 0, max: 30 }),
  amount: fc.oneof(fc.bigInt({ min: -5n, max: 0n }), fc.bigInt({ min: 1n, max: 10n ** 9n })),
});

test('what is chosen covers the need, comes back to the lovelace, and holds no script', () => {
  const seen = { selected: 0, poor: 0, scattered: 0 };
  fc.assert(
    fc.property(anyCase, ({ wallet, lovelace, token, amount }) => {
      const need = asValue(lovelace, [[asset(token), amount]]);
      const selection = select(wallet, { value: need, changeAddress: ALICE.text }, PARAMETERS);
      seen[selection.outcome] += 1;
      if (selection.outcome !== 'selected') {
        const free = wallet.filter(({ output }) => output.scriptHash === null);
        const all = addValues(coins(0n), ...free.map(({ output }) => output.value));
        const left = subtractValue(all, need);
        const isShort = (left.assets.get(asset(token)) ?? 0n) < 0n;
        // If the whole wallet were spent, the change would hold too little ADA.
        assert.ok(isShort || left.lovelace < 20n * ADA);
        return;
      }
      const { utxos, change } = selection;
      assert.equal(new Set(utxos.map(({ ref }) => refText(ref))).size, utxos.length);
      assert.ok(utxos.every((each) => wallet.includes(each) && each.output.scriptHash === null));
      assert.ok(utxos.length <= MAX_WALLET_INPUTS);
      const put = addValues(coins(0n), ...utxos.map(({ output }) => output.value));
      const out = addValues(need, ...change.map(({ value }) => value));
      assert.ok(equalValues(put, out));
      for (const output of change) {
        assert.ok(output.value.lovelace >= minLovelace(PARAMETERS, output));
        assert.ok(encodeAssets(output.value.assets).length < PARAMETERS.maxValueBytes - 10);
      }
    }),
    { numRuns: 500 },
  );
  assert.ok(seen.selected > 50 && seen.poor > 50, JSON.stringify(seen));
});

/** 1,000 outputs: every tenth pure ADA, the others with up to three of 300 tokens. */
function mixedWallet(): Utxo[] {
  return Array.from({ length: 1000 }, (_, n) => {
    if (n % 10 === 0) return ada(ALICE, BigInt(2 + (n % 7)) * ADA);
    const assets = Array.from({ length: 1 + (n % 3) }, (__, at) => {
      return [asset((n * 7 + at * 31) % 300), BigInt(n + 1)] as const;
    });
    const own = n % 50 === 1 ? [[TOKEN, 100n] as const] : [];
    return utxo({ address: ALICE.text, value: asValue(2n * ADA, [...assets, ...own]) });
  });
}

test('a wallet of 1,000 mixed outputs buys and sells; a larger one must consolidate', () => {
  const wallet = mixedWallet();
  const buy = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 300n * ADA), wallet, NOW_MS).plan;
  const bytes = accepted(built(buy), buy, [ALICE]);
  assert.ok(bytes.length < 16_384);
  const sell = planOrder(DEPLOYMENT, orderOf(ALICE, 'sell', 1500n), wallet, NOW_MS).plan;
  accepted(built(sell), sell, [ALICE]);
  const large = outcomeOf(
    planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 1400n * ADA), wallet, NOW_MS).plan,
  );
  assert.ok(large.outcome === 'refused');
  assert.equal(large.reason, 'CONSOLIDATE');
  assert.match(large.message, /1000 outputs.*consolidate/);
  const beyond = outcomeOf(
    planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 9000n * ADA), wallet, NOW_MS).plan,
  );
  assert.ok(beyond.outcome === 'refused');
  assert.equal(beyond.reason, 'FUNDS');
});

test('many small outputs are spent up to a cap, and then to be consolidated', () => {
  const wallet = Array.from({ length: 1000 }, () => ada(ALICE, 2n * ADA));
  const buy = (amount: bigint) =>
    planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', amount * ADA), wallet, NOW_MS).plan;
  const plan = buy(395n);
  const transaction = built(plan);
  assert.equal(transaction.inputs.length, MAX_WALLET_INPUTS);
  accepted(transaction, plan, [ALICE]);
  const outcome = outcomeOf(buy(398n));
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'CONSOLIDATE');
});

/** Outputs with 40 tokens each, as long as names get. */
function fatWallet(): Utxo[] {
  return Array.from({ length: 20 }, (_, n) => {
    const assets = Array.from({ length: 40 }, (__, at) => {
      return [
        `${(n * 40 + at).toString(16).padStart(56, 'b')}.${'ee'.repeat(32)}`,
        10n ** 15n,
      ] as const;
    });
    return utxo({ address: ALICE.text, value: asValue(20n * ADA, assets) });
  });
}

test('tokens that do not fit back into a transaction are to be consolidated', () => {
  const wallet = fatWallet();
  const small = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), wallet, NOW_MS).plan;
  accepted(built(small), small, [ALICE]);
  const large = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 50n * ADA), wallet, NOW_MS).plan;
  const outcome = outcomeOf(large);
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'CONSOLIDATE');
});

test('a wallet full of tokens costs no more looks than a transaction has room for', () => {
  for (const [outputs, tokens] of [
    [200, 100],
    [100, 400],
    [5000, 5],
  ] as const) {
    const { wallet, walks } = hostileWallet(outputs, tokens);
    const value = coins(BigInt(2 * outputs - 1) * ADA);
    const selection = select(wallet, { value, changeAddress: ALICE.text }, PARAMETERS);
    assert.equal(selection.outcome, 'scattered');
    // One walk for an output that fits, two (there and back) for one that does not.
    assert.ok(walks() <= 100, `${walks()} looks`);
  }
});

test('pure ADA is spent before outputs with tokens', () => {
  const wallet = [holding(ALICE, 90n * ADA, TOKEN, 5n), ada(ALICE, 9n * ADA), ada(ALICE, 8n * ADA)];
  const plan = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 10n * ADA), wallet, NOW_MS).plan;
  assert.deepEqual(
    new Set(built(plan).inputs.map(({ ref }) => refText(ref))),
    new Set(wallet.slice(1).map(({ ref }) => refText(ref))),
  );
});

test('an output with a script stays where it is, even when nothing else is left', () => {
  const { output } = REFERENCES.order;
  const scripted = utxo({ address: BOB.text, value: coins(90n * ADA) });
  const wallet = [{ ...scripted, output: { ...scripted.output, scriptHash: output.scriptHash } }];
  const outcome = outcomeOf(
    planOrder(DEPLOYMENT, orderOf(BOB, 'buy', 5n * ADA), wallet, NOW_MS).plan,
  );
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'FUNDS');
  assert.match(outcome.message, /90000000 lovelace in 1 outputs are not spent.*reference script/);
});

test('what has to stay with tokens is named where it is what is missing', () => {
  const wallet = [holding(ALICE, 8n * ADA, TOKEN, 5n)];
  const plan = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), wallet, NOW_MS).plan;
  const outcome = outcomeOf(plan);
  assert.ok(outcome.outcome === 'refused');
  assert.match(
    outcome.message,
    /lacks \d+ lovelace; \d{7} lovelace of it have to stay with the tok/,
  );
});

test('hundreds of tokens come back in several outputs', () => {
  const assets = Array.from({ length: 120 }, (_, n) => [asset(n), 10n ** 15n] as const);
  const wallet = [utxo({ address: ALICE.text, value: asValue(200n * ADA, assets.slice(0, 60)) })];
  wallet.push(utxo({ address: ALICE.text, value: asValue(200n * ADA, assets.slice(60)) }));
  const plan = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 300n * ADA), wallet, NOW_MS).plan;
  const transaction = built(plan);
  accepted(transaction, plan, [ALICE]);
  assert.equal(plan.outputs.length, 1);
  const { outputs } = decodeTransaction(transaction.bytes);
  assert.ok(outputs.length >= 3);
});
