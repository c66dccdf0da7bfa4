/** A wallet signs what was asked, and refuses what a lying server might slip in. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import type { Output } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../../src/cardano/codec/value.ts';
import { type LimitOrder, newLimitOrder } from '../../../src/cardano/datums/partialOrder.ts';
import { type Intent, objectionTo } from '../../../src/client/trade/transactionCheck.ts';
import {
  BUY_DATUM,
  change,
  lockOutput,
  ORDER_REF,
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
  worstPrice: { numerator: 17n, denominator: 100n },
};
const BUY_VALUE = coins(7_600_000n);

function refuses(intent: Intent, tx: Transaction, why: RegExp): void {
  assert.match(objectionTo(tx, WALLET, intent) ?? 'nothing', why);
}

function accepts(intent: Intent, tx: Transaction): void {
  assert.equal(objectionTo(tx, WALLET, intent), null);
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
    ...{ stepLovelace: 1_000_000n, feeLovelace: 1_000_000n, leastOutput: 1n },
    ...{ worstPrice: { numerator: 17n, denominator: 100n }, executors: ['5c'.repeat(28)] },
  };
  const made = (changed: Partial<LimitOrder>, lovelace = 8_500_000n) => {
    const { datum } = newLimitOrder({ ...order, ...changed }, ORDER_REF, 0);
    return transaction([{ ...orderOutput({}, coins(lovelace)), datum }, change()]);
  };
  accepts(BUY, made({}));
  refuses(BUY, made({ amount: 6_000_000n }), /offers more/);
  refuses(BUY, made({ owner: STRANGER.keyHash }), /not ours/);
  refuses(BUY, made({ redeemer: { ...OWN, stake: null } }), /not ours/);
  refuses(BUY, made({ worstPrice: { numerator: 0n, denominator: 1n } }), /worse price/);
  refuses(BUY, made({}, 10_000_001n), /on top/);
});

test('orders that the Python client is tested with are signed here too', () => {
  const file = new URL('../../../clients/python/tests/splash_orders.json', import.meta.url);
  const orders = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(orders.length, 2);
  for (const { cbor, address, owner: keyHash, input, output, inputAmount, worstPrice } of orders) {
    const price = [BigInt(worstPrice.numerator), BigInt(worstPrice.denominator)] as const;
    const intent = { kind: 'order', input, output, inputAmount: BigInt(inputAmount) } as const;
    const asked = (numerator: bigint, denominator: bigint) =>
      objectionTo(
        decodeTransaction(fromHex(cbor)),
        { address, keyHash },
        { ...intent, worstPrice: { numerator, denominator } },
      );
    assert.equal(asked(...price), null);
    assert.match(asked(price[0] + 1n, price[1]) ?? '', /worse price/);
  }
});

function script() {
  return { kind: 'script', hash: '77'.repeat(28) } as const;
}

test('a sell offers exactly its tokens', () => {
  const intent: Intent = { ...BUY, input: TOKEN, output: '.', inputAmount: 1000n };
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
  refuses(BUY, transaction(order, { feeLovelace: 3_000_001n }), /fee/);
  refuses(BUY, transaction(order, { mint: new Map([[TOKEN, 1n]]) }), /mints/);
  refuses(BUY, transaction(order, { requiredSigners: [STRANGER.keyHash] }), /signature of/);
  const collateralInputs = [ORDER_REF];
  refuses(BUY, transaction(order, { collateralInputs }), /collateral/);
  const risk = { collateralInputs, totalCollateralLovelace: 6_000_000n };
  refuses(BUY, transaction(order, risk), /collateral/);
  accepts(BUY, transaction(order, { collateralInputs, totalCollateralLovelace: 500_000n }));
});

test('a cancel and a withdrawal spend what was named and pay no one else', () => {
  const intent: Intent = { kind: 'reclaim', ref: ORDER_REF };
  accepts(intent, transaction([change()]));
  refuses(intent, transaction([change()], { inputs: [{ ...ORDER_REF, index: 4 }] }), /not spend/);
  refuses(intent, transaction([change(), theft]), /someone else/);
});

test('a lock has the stages, the amount and the end that were asked', () => {
  const intent: Intent = { kind: 'lock', asset: TOKEN, amount: 10n, stages: 2, lockEndMs: 2_000 };
  accepts(intent, transaction([lockOutput(5n, 1_000), lockOutput(5n, 2_000), change()]));
  refuses(intent, transaction([lockOutput(5n, 1_000), lockOutput(6n, 2_000)]), /locks 11/);
  refuses(intent, transaction([lockOutput(10n, 2_000)]), /1 stages/);
  refuses(intent, transaction([lockOutput(5n, 1_000), lockOutput(5n, 2_001)]), /longer/);
  const foreign = lockOutput(5n, 2_000, STRANGER.keyHash);
  refuses(intent, transaction([lockOutput(5n, 1_000), foreign]), /not ours/);
  refuses(
    intent,
    transaction([lockOutput(5n, 1_000), lockOutput(5n, 2_000), theft]),
    /unknown address/,
  );
});

test('a transfer pays the one address what was named, or all of it', () => {
  const value = asValue(2_000_000n, [[TOKEN, 7n]]);
  const intent: Intent = { kind: 'transfer', to: STRANGER.address, value };
  accepts(intent, transaction([output(STRANGER.address, value), change()]));
  refuses(intent, transaction([theft, change()]), /it pays 0 of/);
  refuses(intent, transaction([output(STRANGER.address, value), theft]), /it pays 4000000 of/);
  const more = asValue(2_000_000n, [
    [TOKEN, 7n],
    [OTHER_TOKEN, 1n],
  ]);
  refuses(intent, transaction([output(STRANGER.address, more)]), /it pays 1 of/);
  const all: Intent = { kind: 'transfer', to: WALLET.address, value: null };
  accepts(all, transaction([change()]));
  refuses(all, transaction([change(), theft]), /someone else/);
});

test('a launch mints token and NFT, pays about its price and keeps the initial buy', () => {
  const nft = `${'ef'.repeat(28)}.00`;
  const intent: Intent = {
    kind: 'launch',
    asset: TOKEN,
    name: 'TOK',
    initialLovelace: 100_000_000n,
    userTokens: 30n,
  };
  const mint = new Map([
    [TOKEN, 1_000n],
    [nft, 1n],
  ]);
  const pool = (lovelace: bigint, tokens: bigint) =>
    output(SCRIPT, asValue(lovelace, [...[[TOKEN, tokens] as const], [nft, 1n]]));
  const kept = output(WALLET.address, asValue(2_000_000n, [[TOKEN, 30n]]));
  const honest = [pool(103_000_000n, 970n), output(STRANGER.address, coins(10_000_000n)), kept];
  accepts(intent, transaction(honest, { mint }));
  refuses(intent, transaction(honest), /does not mint/);
  refuses(
    intent,
    transaction([...honest, ...Array.from({ length: 5 }, () => theft)], { mint }),
    /pays .* away/,
  );
  refuses(intent, transaction([pool(103_000_000n, 1_000n)], { mint }), /keeps 0 tokens/);
  refuses({ ...intent, name: 'TOKEN' }, transaction(honest, { mint }), /another name/);
  const extra = new Map([...mint, [OTHER_TOKEN, 1n]]);
  refuses(intent, transaction(honest, { mint: extra }), /mints more/);
  const gift = output(STRANGER.address, asValue(2_000_000n, [[OTHER_TOKEN, 5n]]));
  refuses(intent, transaction([...honest, gift], { mint }), /other tokens/);
  refuses(
    { ...intent, userTokens: 0n },
    transaction([pool(103_000_000n, 1_000n)], { mint }),
    /brings/,
  );
});
