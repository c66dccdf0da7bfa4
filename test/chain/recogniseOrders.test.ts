/** Hostile orders and locks are ignored; the outcome of honest ones is reported once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Constr } from '../../src/cardano/codec/plutusData.ts';
import { asValue, coins } from '../../src/cardano/codec/value.ts';
import { lockData, type OrderDatum, orderData } from '../../src/cardano/datums/datums.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { recogniseBlock } from '../../src/chain/recognise/block.ts';
import {
  ADA,
  ALICE,
  aliceText,
  atScript,
  deployment,
  eventOf,
  kindsOf,
  launchOf,
  longer,
  meaningOf,
  NOTHING,
  type OrderChange,
  orderOf,
  RULES,
  transaction,
} from './recogniseWorld.ts';

const OTHER = '5c'.repeat(28);
const SCRIPT = { kind: 'script', hash: OTHER } as const;

describe('orders', () => {
  const { tx: launch, token, nft } = launchOf('Traded');

  test('honest ones are reported', () => {
    for (const side of ['buy', 'sell'] as const) {
      const { order } = eventOf(meaningOf(launch, orderOf(token, side).tx), 'placed');
      assert.deepEqual([order.side, order.token, order.address], [side, token, aliceText]);
      assert.equal(order.amount, side === 'buy' ? String(5n * ADA) : '500');
    }
  });

  const { fees } = deployment;
  const datum = (change: Partial<OrderDatum>): OrderChange => ({ datum: change });
  const price = (numerator: bigint, denominator: bigint) =>
    datum({ worstPrice: { numerator, denominator } });
  const usual = { redeemer: ALICE, owner: OTHER, executor: deployment.executorKeyHash };
  const whole: OrderDatum = {
    ...usual,
    input: '.',
    output: token,
    worstPrice: { numerator: 1n, denominator: 1n },
    feeLovelace: fees.executorFeeLovelace,
    depositLovelace: fees.orderDepositLovelace,
    refundAfterMs: 1n,
    poolNft: nft,
  };
  const [, ...untagged] = orderData(whole).fields;
  const bad: [string, OrderChange][] = [
    ['fee 0', datum({ feeLovelace: 0n })],
    ['a lovelace less of fee', datum({ feeLovelace: fees.executorFeeLovelace - 1n })],
    ['a fee below 0', datum({ feeLovelace: -fees.executorFeeLovelace })],
    ['no deposit', datum({ depositLovelace: 0n })],
    ['a lovelace less of deposit', datum({ depositLovelace: fees.orderDepositLovelace - 1n })],
    ['numerator 0', price(0n, 1n)],
    ['denominator 0', price(1n, 0n)],
    ['a price of 0/0', price(0n, 0n)],
    ['a price below 0', price(-1n, 1n)],
    ['a price below 0 twice', price(-1n, -1n)],
    ['a script to be paid', datum({ redeemer: { ...ALICE, payment: SCRIPT } })],
    ['a script’s stake to be paid', datum({ redeemer: { ...ALICE, stake: SCRIPT } })],
    ['a refund beyond numbers', datum({ refundAfterMs: 1n << 60n })],
    ['another market', datum({ poolNft: launchOf('Another').nft })],
    ['the layout without a market', datum({ poolNft: null })],
    ['another tag', { data: dataHex(new Constr(0, ['01', ...untagged])) }],
    ['a field less', { data: dataHex(new Constr(0, untagged)) }],
    ['a field more', { data: longer(orderData(whole)) }],
    ['another constructor', { data: dataHex(new Constr(1, orderData(whole).fields)) }],
    ['no datum', { data: null }],
    ['a key’s address', { address: aliceText }],
    ['the vesting script', { address: atScript('vesting') }],
    ['the AMM’s script', { address: atScript('ammPool') }],
  ];
  const buys: [string, OrderChange][] = [
    ['an unknown token', datum({ output: `${OTHER}.00` })],
    ['ADA for ADA', datum({ output: '.' })],
    ['tokens for tokens', datum({ input: token })],
    ['nothing offered', { value: coins(2_600_000n) }],
    ['less than fee and deposit', { value: coins(2_599_999n) }],
    ['tokens beside a buy', { value: asValue(7_600_000n, [[token, 1n]]) }],
    ['strange tokens beside a buy', { value: asValue(7_600_000n, [[`${OTHER}.00`, 1n]]) }],
  ];
  const sells: [string, OrderChange][] = [
    ['a lovelace more beside a sell', { value: asValue(2_600_001n, [[token, 500n]]) }],
    ['a lovelace less beside a sell', { value: asValue(2_599_999n, [[token, 500n]]) }],
    ['no tokens', { value: coins(2_600_000n) }],
    ['strange tokens', { value: asValue(2_600_000n, [[`${OTHER}.00`, 500n]]) }],
    [
      'strange tokens beside a sell',
      {
        value: asValue(2_600_000n, [
          [token, 500n],
          [`${OTHER}.00`, 1n],
        ]),
      },
    ],
  ];
  for (const side of ['buy', 'sell'] as const) {
    for (const [what, change] of [...bad, ...(side === 'buy' ? buys : sells)]) {
      test(`${side}: ${what} is no order`, () => {
        const kinds = kindsOf(launch, orderOf(token, side, change).tx);
        assert.ok(!kinds.includes('placed'), what);
        // Known tokens are watched in any output; that does not make the output an order or a pool.
        assert.ok(kinds.every((kind) => kind === 'made'));
      });
    }
  }

  test('an order that only misses a term of the deployment is reported, no other output is', () => {
    const terms: string[] = [];
    const rules = { ...RULES, refused: (term: string) => terms.push(term) };
    const recognise = (change: OrderChange) => {
      const { tx } = orderOf(token, 'buy', change);
      return recogniseBlock(7, [launch, tx], NOTHING, rules).some(({ kind }) => kind === 'placed');
    };
    const deposit = fees.orderDepositLovelace - 1n;
    const value = coins(5n * ADA + fees.executorFeeLovelace + deposit);
    assert.ok(!recognise({ ...datum({ depositLovelace: deposit }), value }));
    assert.ok(!recognise(datum({ poolNft: null })));
    assert.ok(!recognise(datum({ refundAfterMs: 1n << 60n })));
    assert.ok(recognise({}));
    assert.deepEqual(terms, ['deposit', 'layout']);
  });

  test('an order before the launch of its token is none', () => {
    const { tx } = orderOf(token, 'buy');
    assert.deepEqual(kindsOf(tx), []);
    const events = meaningOf(tx, launch, transaction({ inputs: [{ txHash: tx.id, index: 0 }] }));
    assert.deepEqual(events, []);
  });
});

describe('what becomes of orders', () => {
  const { tx: launch, token } = launchOf('Closed');
  const { tx: placing, ref } = orderOf(token, 'buy');
  const paid = (tokens: bigint) => {
    const value = asValue(2n * ADA, tokens === 0n ? [] : [[token, tokens]]);
    return [{ address: aliceText, value }];
  };
  const closing = (tag: number | null, tokens: bigint) =>
    transaction({
      inputs: [ref],
      outputs: paid(tokens),
      ...(tag === null ? {} : { spends: { 0: new Constr(tag, []) } }),
    });
  const fate = (tag: number | null, tokens: bigint) =>
    kindsOf(launch, placing, closing(tag, tokens)).filter((kind) => !/spent|made/.test(kind));

  test('redeemer 0, or none that can be read, is a cancel', () => {
    assert.deepEqual(
      [fate(0, 0n), fate(0, 9n), fate(null, 9n)],
      [['cancelled'], ['cancelled'], ['cancelled']],
    );
  });
  test('1 or 2 is a refund when the input comes back, else an execution', () => {
    assert.deepEqual([fate(1, 9n), fate(2, 9n)], [['executed'], ['executed']]);
    assert.deepEqual([fate(1, 0n), fate(2, 0n)], [['refunded'], ['refunded']]);
  });
  test('an order is closed once', () => {
    const first = closing(0, 0n);
    assert.deepEqual(kindsOf(launch, placing, first, closing(1, 9n)), ['made']);
  });
});

describe('locks', () => {
  const { tx: launch, token } = launchOf('Locked');
  const { tx: more, token: second } = launchOf('Locked too');
  const datum = { unlockMs: 1_800_000_000_000n, owner: ALICE.payment.hash };
  const good = { address: atScript('vesting', ALICE.stake), datum: dataHex(lockData(datum)) };
  const value = asValue(2n * ADA, [[token, 5n]]);
  const kinds = (change: object) =>
    kindsOf(launch, more, transaction({ outputs: [{ ...good, value, ...change }] }));

  test('an honest one is reported, with the address of its owner', () => {
    const tx = transaction({ outputs: [{ ...good, value }] });
    const { lock } = eventOf(meaningOf(launch, more, tx), 'locked');
    assert.deepEqual([lock.token, lock.amount, lock.ownerAddress], [token, '5', aliceText]);
    const spend = transaction({ inputs: [{ txHash: tx.id, index: 0 }] });
    assert.ok(kindsOf(launch, more, tx, spend).includes('withdrawn'));
  });

  const two = asValue(2n * ADA, [
    [token, 5n],
    [second, 5n],
  ]);
  const short = dataHex(lockData({ ...datum, owner: 'ab' }));
  const bad: [string, object][] = [
    ['without a datum', { datum: undefined }],
    ['with two tokens', { value: two }],
    ['without tokens', { value: coins(9n * ADA) }],
    ['of an unknown token', { value: asValue(2n * ADA, [[`${OTHER}.00`, 5n]]) }],
    ['without an owner', { datum: short }],
    ['with a field more', { datum: longer(lockData(datum)) }],
    ['at a key', { address: aliceText }],
    ['at the order script', { address: atScript('order') }],
  ];
  for (const [what, change] of bad) {
    test(`one ${what} is no lock`, () => {
      const found = kinds(change);
      assert.ok(
        found.every((kind) => kind === 'made'),
        String(found),
      );
    });
  }
});
