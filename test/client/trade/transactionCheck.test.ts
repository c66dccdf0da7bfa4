/**
 * A wallet signs a transaction that fits its request, and refuses changes that a lying server might
 * make.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { type Output, refText } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins, type Value } from '../../../src/cardano/codec/value.ts';
import { type LimitOrder, newLimitOrder } from '../../../src/cardano/datums/partialOrder.ts';
import { type Intent, objectionTo } from '../../../src/client/trade/transactionCheck.ts';
import { minimumOutput } from '../../../src/engine/market/order.ts';
import {
  BUY_DATUM,
  change,
  lockOutput,
  ORDER_REF,
  OTHER_SCRIPT,
  OTHER_TOKEN,
  OWN,
  orderOutput,
  output,
  SCRIPT,
  STRANGER,
  stakeless,
  TOKEN,
  transaction,
  WALLET,
} from './world.ts';

const BUY: Intent = {
  kind: 'order',
  input: '.',
  output: TOKEN,
  inputAmount: 5_000_000n,
  minOutput: 850_000n,
  feeLovelace: 1_100_000n,
  depositLovelace: 1_500_000n,
  scriptHash: '77'.repeat(28),
  refundBeforeMs: 1_700_000_000_000n,
};
const BUY_VALUE = coins(7_600_000n);

const HELD = new Set([refText({ txHash: '99'.repeat(32), index: 7 })]);

function refuses(intent: Intent, tx: Transaction, why: RegExp): void {
  assert.match(objectionTo(tx, WALLET, intent, HELD) ?? 'nothing', why);
}

function accepts(intent: Intent, tx: Transaction): void {
  assert.equal(objectionTo(tx, WALLET, intent, HELD), null);
}

const theft = output(STRANGER.address, coins(2_000_000n));

test('a buy as asked is signed, also at a better worst price', () => {
  accepts(BUY, transaction([orderOutput({}, BUY_VALUE), change()]));
  const better = { numerator: 18n, denominator: 100n };
  accepts(BUY, transaction([orderOutput({ worstPrice: better }, BUY_VALUE), change()]));
});

test('an order that differs from the one asked is not signed', () => {
  const wrong: [Output, RegExp][] = [
    [orderOutput({}, coins(7_600_001n)), /holds more/],
    [orderOutput({ worstPrice: { numerator: 16n, denominator: 100n } }, BUY_VALUE), /worse price/],
    [orderOutput({ worstPrice: { numerator: 17n, denominator: 0n } }, BUY_VALUE), /worse price/],
    [orderOutput({ output: OTHER_TOKEN }, BUY_VALUE), /other assets/],
    [orderOutput({ owner: STRANGER.keyHash }, BUY_VALUE), /not ours/],
    [orderOutput({ redeemer: { ...OWN, stake: null } }, BUY_VALUE), /not ours/],
    [orderOutput({ feeLovelace: 9_000_000n }, coins(15_500_000n)), /on top/],
    [orderOutput({ feeLovelace: 1_100_001n }, coins(7_600_001n)), /on top/],
    [orderOutput({ feeLovelace: 2_600_000n, depositLovelace: 0n }, BUY_VALUE), /executor/],
    [orderOutput({ feeLovelace: -1n, depositLovelace: 2_600_001n }, BUY_VALUE), /executor/],
    [orderOutput({ refundAfterMs: 1_700_000_000_001n }, BUY_VALUE), /waits for longer/],
    [orderOutput({}, BUY_VALUE, OTHER_SCRIPT), /unknown address/],
    [orderOutput({ worstPrice: { numerator: -17n, denominator: -100n } }, BUY_VALUE), /worse/],
    [
      orderOutput({ worstPrice: { numerator: 849_999n, denominator: 5_000_000n } }, BUY_VALUE),
      /wor/,
    ],
    [orderOutput({}, BUY_VALUE, STRANGER.address), /unknown address/],
    [orderOutput({}, BUY_VALUE, stakeless({ ...OWN, payment: script() })), /unknown address/],
    [output(SCRIPT, BUY_VALUE), /no datum/],
  ];
  for (const [order, why] of wrong) refuses(BUY, transaction([order, change()]), why);
  refuses(BUY, transaction([change()]), /others than the one order/);
  refuses(BUY, transaction([orderOutput({}, BUY_VALUE), theft]), /others than the one order/);
});

test('a limit order for a pool of Splash is signed as asked, and not otherwise', () => {
  const order = {
    ...{ redeemer: OWN, input: '.', output: TOKEN, amount: 5_000_000n, owner: WALLET.keyHash },
    ...{ stepLovelace: 600_000n, feeLovelace: 500_000n, minPartOutput: 850_000n },
    ...{ worstPrice: { numerator: 17n, denominator: 100n }, executors: ['5c'.repeat(28)] },
  };
  const made = (changed: Partial<LimitOrder>, lovelace = 7_600_000n) => {
    const { datum } = newLimitOrder({ ...order, ...changed }, ORDER_REF, 0);
    return transaction([{ ...orderOutput({}, coins(lovelace)), datum }, change()]);
  };
  accepts(BUY, made({}));
  refuses(BUY, made({ amount: 6_000_000n }), /offers more/);
  refuses(BUY, made({ owner: STRANGER.keyHash }), /not ours/);
  refuses(BUY, made({ redeemer: { ...OWN, stake: null } }), /not ours/);
  refuses(BUY, made({ worstPrice: { numerator: 0n, denominator: 1n } }), /worse price/);
  refuses(BUY, made({}, 7_600_001n), /on top/);
  refuses(BUY, made({ stepLovelace: 600_001n }), /executor/);
  refuses(BUY, made({ minPartOutput: 849_999n }), /smaller parts/);
});

test('orders that the Python client is tested with are signed here too', () => {
  const file = new URL('../../../clients/python/tests/splash_orders.json', import.meta.url);
  const orders = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(orders.length, 2);
  for (const { cbor, address, owner: keyHash, input, output, inputAmount, worstPrice } of orders) {
    const price = {
      numerator: BigInt(worstPrice.numerator),
      denominator: BigInt(worstPrice.denominator),
    };
    const least = minimumOutput(BigInt(inputAmount), price);
    const tx = decodeTransaction(fromHex(cbor));
    const scriptHash = parseAddress(tx.outputs[0]?.address ?? '')?.payment.hash ?? '';
    const terms = { input, output, inputAmount: BigInt(inputAmount), scriptHash: scriptHash };
    const fees = { feeLovelace: 2_000_000n, depositLovelace: 1_500_000n, refundBeforeMs: null };
    const asked = (minOutput: bigint) =>
      objectionTo(tx, { address, keyHash }, { kind: 'order', ...terms, ...fees, minOutput }, HELD);
    assert.equal(asked(least), null);
    assert.match(asked(least + 1n) ?? '', /worse price/);
  }
});

function script() {
  return { kind: 'script', hash: '77'.repeat(28) } as const;
}

test('a sell offers exactly its tokens', () => {
  const intent: Intent = { ...BUY, input: TOKEN, output: '.', inputAmount: 1000n, minOutput: 170n };
  const datum = { ...BUY_DATUM, input: TOKEN, output: '.' };
  const holding = (amount: bigint) => asValue(2_600_000n, [[TOKEN, amount]]);
  accepts(intent, transaction([orderOutput(datum, holding(1000n)), change()]));
  refuses(intent, transaction([orderOutput(datum, holding(1001n))]), /offers more/);
  const two = asValue(2_600_000n, [
    [TOKEN, 1000n],
    [OTHER_TOKEN, 1n],
  ]);
  refuses(intent, transaction([orderOutput(datum, two)]), /holds more/);
});

test('what was asked for with an end is not signed without one', () => {
  const order = [orderOutput({}, BUY_VALUE), change()];
  refuses({ ...BUY, mustExpire: true }, transaction(order), /never expires/);
  accepts({ ...BUY, mustExpire: true }, transaction(order, { validToSlot: 7 }));
  accepts({ ...BUY, mustExpire: false }, transaction(order));
});

test('what no request of ours needs is refused whatever was asked', () => {
  const order = [orderOutput({}, BUY_VALUE), change()];
  refuses(BUY, transaction(order, { isValid: false }), /scripts fail/);
  refuses(BUY, transaction(order, { hasCertificates: true }), /stake/);
  refuses(BUY, transaction(order, { hasWithdrawals: true }), /stake/);
  refuses(BUY, transaction(order, { feeLovelace: 400_000n }), /fee/);
  refuses(BUY, transaction(order, { mint: new Map([[TOKEN, 1n]]) }), /mints/);
  refuses(BUY, transaction(order, { requiredSigners: [STRANGER.keyHash] }), /signature of/);
  refuses(BUY, transaction(order, { collateralInputs: [ORDER_REF] }), /scripts/);
});

test('what may be lost as collateral is little, and the rest returns to whom it was', () => {
  const intent: Intent = { kind: 'reclaim', ref: ORDER_REF };
  const tx = (more: Partial<Transaction>) => transaction([change()], more);
  const [theirs, ours] = [[ORDER_REF], [{ ...ORDER_REF, index: 7 }]];
  refuses(intent, tx({ collateralInputs: theirs }), /too much collateral/);
  const risk = { collateralInputs: theirs, totalCollateralLovelace: 5_000_001n };
  refuses(intent, tx(risk), /too much collateral/);
  const small = { totalCollateralLovelace: 500_000n, collateralReturn: theft };
  accepts(intent, tx({ ...small, collateralInputs: theirs }));
  refuses(intent, tx({ ...small, collateralInputs: ours }), /someone else/);
  // A server may hide that an output belongs to the wallet, so an unknown collateral output may
  // lose no more than a server puts up.
  const hidden = (value: Value) => ({
    ...{ ...small, collateralInputs: theirs },
    collateralReturn: output(STRANGER.address, value),
  });
  accepts(intent, tx(hidden(coins(9_500_000n))));
  refuses(intent, tx(hidden(coins(9_500_001n))), /more collateral than a server puts up/);
  refuses(intent, tx(hidden(asValue(1_000_000n, [[TOKEN, 1n]]))), /more collateral/);
  accepts(intent, tx({ ...small, collateralInputs: ours, collateralReturn: change() }));
  refuses(intent, tx({ feeLovelace: 3_000_001n }), /fee/);
});

test('a cancel and a withdrawal spend what was named and pay no one else', () => {
  const intent: Intent = { kind: 'reclaim', ref: ORDER_REF };
  accepts(intent, transaction([change()]));
  refuses(intent, transaction([change()], { inputs: [{ ...ORDER_REF, index: 4 }] }), /not spend/);
  refuses(intent, transaction([change(), theft]), /someone else/);
});

test('a lock has the stages, the amount and the end that were asked', () => {
  const times = { startsMs: [10_000_000], lockEndMs: 20_000_000 };
  const intent: Intent = {
    ...{ kind: 'lock', asset: TOKEN, amount: 11n, stages: 2, scriptHash: '77'.repeat(28) },
    ...times,
  };
  const [half, end] = [15_000_000, 20_000_000];
  accepts(intent, transaction([lockOutput(5n, half + 60_000), lockOutput(6n, end), change()]));
  accepts(
    { ...intent, scriptHash: null },
    transaction([lockOutput(5n, half), lockOutput(6n, end)]),
  );
  refuses(intent, transaction([lockOutput(6n, half), lockOutput(5n, end)]), /stage 1 locks 6/);
  refuses(intent, transaction([lockOutput(5n, half), lockOutput(5n, end)]), /stage 2 locks 5/);
  refuses(intent, transaction([lockOutput(11n, end)]), /1 stages/);
  for (const wrong of [end + 1, end - 1]) {
    refuses(intent, transaction([lockOutput(5n, half), lockOutput(6n, wrong)]), /stage 2 opens/);
  }
  refuses(intent, transaction([lockOutput(5n, end), lockOutput(6n, end)]), /stage 1 opens/);
  const elsewhere = { ...intent, scriptHash: '78'.repeat(28) };
  refuses(elsewhere, transaction([lockOutput(5n, half), lockOutput(6n, end)]), /unknown address/);
  const foreign = lockOutput(6n, end, STRANGER.keyHash);
  refuses(intent, transaction([lockOutput(5n, half), foreign]), /not ours/);
  refuses(intent, transaction([lockOutput(5n, half), theft]), /unknown address/);
});

test('a transfer pays the one address what was named, or all of it', () => {
  const value = asValue(2_000_000n, [[TOKEN, 7n]]);
  const { lovelace, assets } = value;
  const intent: Intent = { kind: 'transfer', to: STRANGER.address, lovelace, assets };
  accepts(intent, transaction([output(STRANGER.address, value), change()]));
  refuses(intent, transaction([theft, change()]), /it pays 0 of/);
  refuses(
    intent,
    transaction([output(STRANGER.address, value), theft]),
    /it pays 4000000 lovelace/,
  );
  const more = asValue(2_000_000n, [
    [TOKEN, 7n],
    [OTHER_TOKEN, 1n],
  ]);
  refuses(intent, transaction([output(STRANGER.address, more)]), /it pays 1 of/);
  const most: Intent = { ...intent, lovelace: 'max' };
  accepts(most, transaction([output(STRANGER.address, asValue(9_000_000n, [[TOKEN, 7n]]))]));
  refuses(most, transaction([output(STRANGER.address, more)]), /it pays 1 of/);
  const all: Intent = { ...intent, to: WALLET.address, lovelace: 'max', assets: new Map() };
  accepts(all, transaction([change()]));
  refuses(all, transaction([change(), theft]), /someone else/);
});
