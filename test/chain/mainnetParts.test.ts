/** Orders that are executed in parts: one order to clients, whatever outputs it passes through. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress } from '../../src/cardano/codec/address.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import {
  datumOf,
  decodeOutput,
  type Output,
  type OutputRef,
} from '../../src/cardano/codec/output.ts';
import { Constr } from '../../src/cardano/codec/plutusData.ts';
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { readPoolData } from '../../src/cardano/datums/datums.ts';
import { readPartialOrder } from '../../src/cardano/datums/partialOrder.ts';
import { planOrder } from '../../src/cardano/transactions/order.ts';
import { readOrderOutput } from '../../src/chain/recognise/orderOutput.ts';
import { buyTokens, sellLovelace } from '../../src/engine/market/curve.ts';
import { fillsOfOrder } from '../../src/engine/store/records.ts';
import { checkRebuild } from '../support/foldCheck.ts';
import { dataText } from '../support/testData.ts';
import { appendMempool, rowsOf } from './foldChain.ts';
import {
  holding,
  MAINNET,
  MAINNET_RULES,
  MainnetMarket,
  newBeacon,
  type PretendedOrder,
  pretendedOrder,
  transactionOf,
} from './mainnetWorld.ts';
import { eventOf, someRef } from './recogniseWorld.ts';

const SUPPLY = 1_000_000_000n;
const ADA = 1_000_000n;
const { curve, fees } = MAINNET;
const poolOutput = transactionOf('batch-12-buys').outputs[5] ?? assert.fail();
const { nft = '', token = '' } = readPoolData(datumOf(poolOutput)) ?? {};
const owner = { payment: 'aa'.repeat(28), stake: 'bb'.repeat(28) };
const address = formatAddress({
  network: 'mainnet',
  payment: { kind: 'key', hash: owner.payment },
  stake: { kind: 'key', hash: owner.stake },
  pointer: false,
});

function baseOf(side: 'buy' | 'sell', script: PretendedOrder['script']) {
  const amounts = { stepLovelace: 600_000n, feeLovelace: 500_000n, depositLovelace: 2_700_000n };
  const amount = side === 'buy' ? 30n * ADA : 6_000_000n;
  return { owner, token, side, script, amount, ...amounts };
}

function pool(sold: bigint, x: bigint): Output {
  const value = asValue(x + fees.poolKeepLovelace, [
    [nft, 1n],
    [token, SUPPLY - sold],
  ]);
  return { ...poolOutput, value };
}

function paid(lovelace: bigint, tokens: bigint): Output {
  const value = asValue(lovelace, tokens === 0n ? [] : [[token, tokens]]);
  return { address, value, datum: null, scriptHash: null, cbor: '' };
}

/** The batch that spends pool and order into these; its inputs are sorted as a ledger has them. */
function batch(
  id: string,
  [poolRef, poolTo]: [OutputRef, Output],
  [orderRef, orderTo]: [OutputRef, Output],
): Transaction {
  const isFirst = poolRef.txHash < orderRef.txHash;
  const inputs = isFirst ? [poolRef, orderRef] : [orderRef, poolRef];
  const outputs = isFirst ? [poolTo, orderTo] : [orderTo, poolTo];
  const redeemers = inputs.map((ref, index) => {
    const data = ref === poolRef ? new Constr(0, [0n, 0n]) : new Constr(1, []);
    return { purpose: 'spend', index, data, memory: 0n, cpu: 0n } as const;
  });
  return { ...holding(id, outputs, inputs), redeemers };
}

const idOf = (number: number) => number.toString(16).padStart(64, 'd');
const at = (tx: Transaction, output: Output): OutputRef => ({
  txHash: tx.id,
  index: tx.outputs.indexOf(output),
});

/** Two parts of a third each, placed in one block. */
async function played(
  market: MainnetMarket,
  side: 'buy' | 'sell',
  script: PretendedOrder['script'],
) {
  const base = baseOf(side, script);
  const seed = someRef();
  const whole = { ...base, beacon: newBeacon(base, seed) };
  const order = pretendedOrder(whole);
  const placing = holding(idOf(1), [order], [seed]);
  let sold = side === 'buy' ? 0n : 9_000_000n;
  let x = sellLovelace(curve, sold, sold);
  let held = pool(sold, x);
  const first = holding(idOf(2), [held]);
  await market.block(first);
  await market.block(placing);
  let [poolRef, orderRef] = [at(first, held), at(placing, order)];
  let rest = whole;
  let brought = 0n;
  const parts: { amount: bigint; received: bigint; lovelace: bigint; tokens: bigint }[] = [];
  for (const number of [3, 4]) {
    const amount = base.amount / 3n;
    const net = amount - amount / 100n;
    const gross = side === 'buy' ? 0n : sellLovelace(curve, sold, amount);
    const received = side === 'buy' ? buyTokens(curve, sold, net) : gross - gross / 100n;
    const fee = number === 3 ? 166_666n : 166_667n;
    brought += received;
    sold += side === 'buy' ? received : -amount;
    x += side === 'buy' ? net : -gross;
    // A step's cost is paid from the order's deposit, not from its offer; a sale's coin joins it.
    const deposit = rest.depositLovelace - rest.stepLovelace + (side === 'buy' ? 0n : received);
    rest = { ...rest, amount: rest.amount - amount, feeLovelace: rest.feeLovelace - fee };
    rest = { ...rest, depositLovelace: deposit };
    const next = pretendedOrder({ ...rest, heldTokens: side === 'buy' ? brought : 0n });
    held = pool(sold, x);
    const tx = batch(idOf(number), [poolRef, held], [orderRef, next]);
    const events = await market.block(tx);
    const fill = eventOf(events, 'filled');
    const part = eventOf(events, 'partlyExecuted');
    assert.deepEqual([part.amount, part.received], [String(amount), String(received)]);
    assert.equal(part.feeLovelace, String(fee + base.stepLovelace));
    assert.equal(fill.exact, undefined);
    [poolRef, orderRef] = [at(tx, held), at(tx, next)];
    const [lovelace, tokens] = side === 'buy' ? [net, received] : [gross, amount];
    parts.push({ amount, received, lovelace, tokens });
  }
  return {
    ref: `${idOf(1)}:0`,
    beacon: whole.beacon,
    parts,
    brought,
    rest,
    sold,
    x,
    poolRef,
    orderRef,
  };
}

for (const script of ['limitOrder', 'firstInstantOrder'] as const) {
  for (const side of ['buy', 'sell'] as const) {
    test(`${script}, ${side}: parts, then the rest`, async (t) => {
      const market = await MainnetMarket.open(t);
      const { ref, beacon, parts, brought, rest, sold, x, poolRef, orderRef } = await played(
        market,
        side,
        script,
      );
      const open = market.orders.byBeacon(beacon) ?? assert.fail();
      assert.deepEqual(
        [open.entityId, open.status, open.toAmount, open.evaluatedTransactionId],
        [ref, 'Pending', String(brought), idOf(4)],
      );
      const { amount } = baseOf(side, script);
      assert.equal(open.filledAmount, String((amount / 3n) * 2n));
      assert.equal(open.remaining, String(rest.amount));
      assert.deepEqual([...rowsOf(market.world, 'order_outputs').values()], [ref]);
      const net = rest.amount - rest.amount / 100n;
      const gross = side === 'buy' ? 0n : sellLovelace(curve, sold, rest.amount);
      const received = side === 'buy' ? buyTokens(curve, sold, net) : gross - gross / 100n;
      const deposit = rest.depositLovelace;
      const payment =
        side === 'buy' ? paid(deposit, brought + received) : paid(deposit + received, 0n);
      const to =
        side === 'buy' ? pool(sold + received, x + net) : pool(sold - rest.amount, x - gross);
      const events = await market.block(batch(idOf(5), [poolRef, to], [orderRef, payment]));
      assert.equal(eventOf(events, 'executed').received, String(received));
      assert.equal(eventOf(events, 'filled').order, ref);
      const done = market.orders.view(ref) ?? assert.fail();
      assert.deepEqual(
        [done.status, done.toAmount, done.filledAmount, done.remaining],
        ['Evaluated', String(brought + received), String(amount), '0'],
      );
      const fills = fillsOfOrder(market.order(ref));
      assert.deepEqual(
        fills.map((fill) => [fill.amount, fill.received]),
        [...parts, { amount: rest.amount, received }].map((each) => [
          String(each.amount),
          String(each.received),
        ]),
      );
      const paidFees = fills.reduce((sum, { feeLovelace }) => sum + BigInt(feeLovelace), 0n);
      assert.equal(paidFees, 500_000n + 3n * 600_000n, 'the fee and three steps');
      assert.equal(new Set(fills.map(({ tradeAt }) => tradeAt)).size, 3, 'each with its trade');
      const trades = market.trades();
      assert.deepEqual(
        trades.slice(0, 2).map(({ tokens, lovelace, pkh }) => [tokens, lovelace, pkh]),
        parts.map(({ tokens, lovelace }) => [String(tokens), String(lovelace), owner.payment]),
      );
      const trader = market.trader(owner.payment, token);
      const [buys, sells] = side === 'buy' ? [3, 0] : [0, 3];
      assert.deepEqual([trader.buyCount, trader.sellCount], [buys, sells]);
      if (side === 'buy') assert.equal(trader.spentLovelace, String(amount + paidFees));
      else assert.equal(trader.receivedLovelace, String(brought + received));
      assert.equal(rowsOf(market.world, 'order_outputs').size, 0);
      assert.equal(rowsOf(market.world, 'open_orders').size, 0);
      await checkRebuild(market.world);
    });
  }
}

test('an order that is taken back after two parts keeps what they brought', async (t) => {
  const market = await MainnetMarket.open(t);
  const { ref, brought, orderRef } = await played(market, 'buy', 'limitOrder');
  const cancel = holding(idOf(6), [paid(ADA, brought)], [orderRef]);
  const redeemer = {
    purpose: 'spend',
    index: 0,
    data: new Constr(0, []),
    memory: 0n,
    cpu: 0n,
  } as const;
  const events = await market.block({ ...cancel, redeemers: [redeemer] });
  assert.equal(eventOf(events, 'cancelled').order, ref);
  const shown = market.orders.view(ref) ?? assert.fail();
  assert.deepEqual(
    [shown.status, shown.toAmount, shown.filledAmount, shown.refundReason],
    ['Refunded', String(brought), String(20n * ADA), 'cancelled'],
  );
  assert.equal(market.trader(owner.payment, token).buyCount, 2);
});

test('rolled back, a part is not executed, and the output before it is the order', async (t) => {
  const market = await MainnetMarket.open(t);
  const { ref, parts } = await played(market, 'sell', 'limitOrder');
  await market.back(1);
  const shown = market.orders.view(ref) ?? assert.fail();
  assert.deepEqual([shown.status, shown.toAmount], ['Pending', String(parts[0]?.received)]);
  assert.equal(shown.evaluatedTransactionId, idOf(3));
  assert.deepEqual([...rowsOf(market.world, 'order_outputs').values()], [ref]);
  await market.back(1);
  assert.equal(market.orders.view(ref)?.filledAmount, '0');
  assert.equal(rowsOf(market.world, 'order_outputs').size, 0);
  await checkRebuild(market.world);
});

test('a part in the mempool names its transaction; amounts are those of blocks', async (t) => {
  const market = await MainnetMarket.open(t);
  const { ref, rest, brought, sold, x, poolRef, orderRef } = await played(
    market,
    'buy',
    'limitOrder',
  );
  const amount = rest.amount / 2n;
  const net = amount - amount / 100n;
  const received = buyTokens(curve, sold, net);
  const left = {
    ...{ ...rest, amount: rest.amount - amount },
    depositLovelace: rest.depositLovelace - rest.stepLovelace,
  };
  const next = pretendedOrder({ ...left, heldTokens: brought + received });
  const tx = batch(idOf(7), [poolRef, pool(sold + received, x + net)], [orderRef, next]);
  const before = market.orders.view(ref) ?? assert.fail();
  await market.pending(tx);
  const waiting = market.orders.view(ref) ?? assert.fail();
  assert.deepEqual(waiting, { ...before, evaluatedTransactionId: tx.id });
  const removed = [{ id: tx.id, reason: 'replaced' }];
  await appendMempool(market.world, { added: [], removed, seenMs: 0, whole: false });
  assert.deepEqual(market.orders.view(ref), before, 'as if it had never been');
  await market.block(tx);
  const done = market.orders.view(ref) ?? assert.fail();
  assert.equal(done.evaluatedTransactionId, tx.id);
  assert.equal(done.filledAmount, String(BigInt(before.filledAmount) + amount));
});

test('of an instant order that a nearly full pool took in part, that part counts', async (t) => {
  const market = await MainnetMarket.open(t);
  const held = pool(0n, 0n);
  const first = holding(idOf(1), [held]);
  const key = { kind: 'key', hash: owner.payment } as const;
  const redeemer = { ...(parseAddress(address) ?? assert.fail()), payment: key };
  const { plan } = planOrder(
    MAINNET,
    {
      ...{ owner: redeemer, token, poolNft: nft, executor: '1e'.repeat(28), kind: 'buy' },
      ...{ inputAmount: 30n * ADA, worstPrice: { numerator: 1n, denominator: 30n * ADA } },
    },
    [],
    0,
  );
  const [output = assert.fail()] = plan.outputs;
  const order: Output = { ...output, scriptHash: null, cbor: '' };
  const placing = holding(idOf(2), [order], [someRef()]);
  await market.block(first);
  await market.block(placing);
  const [taken, came] = [12n * ADA, 18n * ADA];
  const net = taken - taken / 100n;
  const received = buyTokens(curve, 0n, net);
  const payment = paid(fees.orderDepositLovelace + came, received);
  const to = pool(received, net);
  const events = await market.block(
    batch(idOf(3), [at(first, held), to], [at(placing, order), payment]),
  );
  assert.equal(eventOf(events, 'executed').unspent, String(came));
  assert.equal(eventOf(events, 'filled').exact, undefined);
  const ref = `${idOf(2)}:0`;
  const shown = market.orders.view(ref) ?? assert.fail();
  assert.deepEqual(
    [shown.status, shown.filledAmount, shown.remaining, shown.toAmount],
    ['Evaluated', String(taken), String(came), String(received)],
  );
  assert.deepEqual(
    fillsOfOrder(market.order(ref)).map((fill) => [fill.amount, fill.received]),
    [[String(taken), String(received)]],
  );
  const { spentLovelace } = market.trader(owner.payment, token);
  assert.equal(spentLovelace, String(taken + fees.executorFeeLovelace));
  await checkRebuild(market.world);
  await market.back(1);
  assert.equal(market.orders.view(ref)?.status, 'Pending');
});

test('what stood on mainnet: both layouts, one of them partly filled', () => {
  const read = (name: string) => {
    const output = decodeOutput(fromHex(dataText(`mainnet/${name}.hex`).trim()));
    const found = readOrderOutput(output, MAINNET_RULES) ?? assert.fail(name);
    const { tag } = readPartialOrder(datumOf(output), 'mainnet') ?? assert.fail(name);
    const { input, amount, feeLovelace, stepLovelace, depositLovelace, heldTokens } = found;
    const sum = amount + feeLovelace + depositLovelace;
    assert.equal(sum, output.value.lovelace, 'every lovelace has a meaning');
    return { tag, input, amount, feeLovelace, stepLovelace, depositLovelace, heldTokens };
  };
  assert.deepEqual(read('output-first-instant'), {
    ...{ tag: '01', input: '.', amount: 1_000n * ADA, feeLovelace: 1_100_000n },
    ...{ stepLovelace: 600_000n, depositLovelace: 1_500_000n, heldTokens: 0n },
  });
  assert.deepEqual(read('output-limit-partly-filled'), {
    ...{ tag: '00', input: '.', amount: 318_992_042n, feeLovelace: 1_023_886n },
    ...{ stepLovelace: 900_000n, depositLovelace: 5_100_000n, heldTokens: 139_881n },
  });
});
