/**
 * The content of blocks as plain lists: launches, pool outputs, orders, trades, outputs. Built in
 * one walk by the rules of onchain.md, without undo and without the server's code. The walk checks
 * that the amounts of fills equal the differences between a pool's outputs.
 *
 * Not checked: that a token’s policy is the template applied to its NFT; no test forges a launch.
 */
import assert from 'node:assert/strict';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { datumOf, type Output, refText } from '../../../src/cardano/codec/output.ts';
import { Constr } from '../../../src/cardano/codec/plutusData.ts';
import type { Transaction } from '../../../src/cardano/codec/transaction.ts';
import { amountOf } from '../../../src/cardano/codec/value.ts';
import {
  type OrderDatum,
  readAmmData,
  readOrderData,
  readPoolData,
} from '../../../src/cardano/datums/datums.ts';
import type { Deployment } from '../../../src/cardano/datums/deployment.ts';
import { readMetadata, type TokenMetadata } from '../../../src/cardano/datums/metadata.ts';
import type { Block } from '../../../src/chain/port.ts';
import type { Ratio } from './exact.ts';
import { afterBuy, afterSell, buyable, type Moved, type Reserves, spotOf } from './modelVenue.ts';

/** A transaction's place on the chain. */
interface Moment {
  readonly height: number;
  readonly slot: number;
  readonly timeMs: number;
  readonly txIndex: number;
  readonly txHash: string;
}

export interface Held {
  readonly ref: string;
  readonly output: Output;
  readonly made: Moment;
  spent: Moment | null;
}

export interface Launch {
  readonly token: string;
  readonly nft: string;
  readonly made: Moment;
  readonly executor: string;
  readonly metadata: TokenMetadata;
  /** Reference of the metadata output. */
  readonly ref: string;
}

/** A pool's output and its content. */
export interface PoolStep extends Reserves {
  readonly token: string;
  readonly ref: string;
  readonly made: Moment;
}

export interface Closed {
  readonly kind: 'executed' | 'expired' | 'cancelled';
  readonly at: Moment;
  /** The part of the payment beyond the deposit; 0 unless executed. */
  readonly received: bigint;
  readonly venue: Reserves['venue'];
  readonly moved: Moved | null;
}

export interface Order {
  readonly ref: string;
  readonly index: number;
  readonly placed: Moment;
  readonly tx: Transaction;
  readonly datum: OrderDatum;
  readonly token: string;
  readonly isBuy: boolean;
  readonly amount: bigint;
  closed: Closed | null;
}

export interface Trade extends Moved {
  readonly token: string;
  readonly at: Moment;
  readonly fillIndex: number;
  readonly isBuy: boolean;
  readonly pkh: string;
  /** null: the initial buy of a launch. */
  readonly order: Order | null;
  readonly spotBefore: Ratio;
  readonly spotAfter: Ratio;
}

interface Spending {
  readonly order: Order;
  readonly payment: Output;
  readonly tag: number;
}

export class ModelChain {
  readonly deployment: Deployment;
  readonly blocks: readonly Block[];
  readonly outputs = new Map<string, Held>();
  readonly launches: Launch[] = [];
  readonly poolSteps: PoolStep[] = [];
  readonly orders: Order[] = [];
  readonly trades: Trade[] = [];

  constructor(blocks: readonly Block[], deployment: Deployment) {
    this.deployment = deployment;
    this.blocks = blocks;
    for (const { point, height, timeMs, transactions } of blocks) {
      for (const [txIndex, tx] of transactions.entries()) {
        assert(tx.isValid, 'no script fails on this chain');
        this.#take(tx, { height, slot: point.slot, timeMs, txIndex, txHash: tx.id });
      }
    }
  }

  /** The pool's state after this block; absent: not launched yet. */
  poolAt(token: string, height: number): PoolStep | undefined {
    return this.poolSteps.findLast((step) => step.token === token && step.made.height <= height);
  }

  /** Which script of the deployment an address belongs to. */
  scriptOf(address: string): string | null {
    const payment = parseAddress(address)?.payment;
    if (payment?.kind !== 'script') return null;
    const { scripts } = this.deployment;
    return Object.entries(scripts).find(([, { hash }]) => hash === payment.hash)?.[0] ?? null;
  }

  #take(tx: Transaction, at: Moment): void {
    const spent = tx.inputs.map((ref) => this.outputs.get(refText(ref)) ?? null);
    for (const held of spent) {
      if (held === null) continue;
      assert.equal(held.spent, null, `${held.ref} is spent once`);
      held.spent = at;
    }
    for (const [index, output] of tx.outputs.entries()) {
      const ref = refText({ txHash: tx.id, index });
      this.outputs.set(ref, { ref, output, made: at, spent: null });
    }
    this.#launch(tx, at);
    this.#close(tx, at);
    this.#place(tx, at);
  }

  #launch(tx: Transaction, at: Moment): void {
    const { launchPolicyId, metadataAddress } = this.deployment;
    const nft = [...tx.mint.keys()].find((asset) => asset.startsWith(`${launchPolicyId}.`));
    if (nft === undefined) return;
    const index = tx.outputs.findIndex((output) => this.scriptOf(output.address) === 'curvePool');
    const pool = tx.outputs[index] ?? assert.fail('a launch has a pool');
    const datum = readPoolData(datumOf(pool)) ?? assert.fail('a pool has its datum');
    assert.deepEqual([datum.nft, amountOf(pool.value, nft), tx.mint.get(nft)], [nft, 1n, 1n]);
    const { token, executor } = datum;
    const described = tx.outputs.findIndex(({ address }) => address === metadataAddress);
    const output = tx.outputs[described] ?? assert.fail('a launch describes its token');
    const metadata = readMetadata(datumOf(output)) ?? assert.fail('metadata can be read');
    assert.equal(metadata.asset, token);
    const ref = refText({ txHash: tx.id, index: described });
    this.launches.push({ token, nft, made: at, executor, metadata, ref });
    const reserves = this.#reserves(pool);
    this.#step(token, refText({ txHash: tx.id, index }), at, reserves);
    const tokens = (tx.mint.get(token) ?? 0n) - reserves.y;
    if (reserves.x === 0n || tokens === 0n) return;
    const empty: Reserves = { venue: 'CURVE', x: 0n, y: tx.mint.get(token) ?? 0n, owed: 0n };
    this.trades.push({
      token,
      at,
      fillIndex: 0,
      isBuy: true,
      pkh: metadata.author.pkh,
      order: null,
      spotBefore: spotOf(this.deployment, empty),
      spotAfter: spotOf(this.deployment, reserves),
      tokens,
      lovelace: reserves.x,
    });
  }

  #step(token: string, ref: string, made: Moment, reserves: Reserves): void {
    this.poolSteps.push({ token, ref, made, ...reserves });
  }

  #reserves(output: Output): Reserves {
    const x = output.value.lovelace - this.deployment.fees.poolKeepLovelace;
    const curve = readPoolData(datumOf(output));
    if (curve !== null) {
      return { venue: 'CURVE', x, y: amountOf(output.value, curve.token), owed: 0n };
    }
    const amm = readAmmData(datumOf(output)) ?? assert.fail('a pool has the datum of one');
    const { owedLovelace: owed, token } = amm;
    return { venue: 'AMM', x: x - owed, y: amountOf(output.value, token), owed };
  }

  /** Orders that it spends, by the order of their placement, and pools: input i has output i. */
  #close(tx: Transaction, at: Moment): void {
    const refs = tx.inputs.map(refText);
    const spendings = this.orders.flatMap((order): Spending[] => {
      const index = refs.indexOf(order.ref);
      if (index < 0) return [];
      const redeemer = tx.redeemers.find((one) => one.purpose === 'spend' && one.index === index);
      assert(redeemer?.data instanceof Constr, 'an order is spent with a redeemer');
      const payment = tx.outputs[index] ?? assert.fail('every input has its output');
      return [{ order, payment, tag: Number(redeemer.data.index) }];
    });
    const pools = new Map(this.launches.map(({ token }) => [token, this.#newest(token)]));
    const reserves = new Map<string, Reserves>(pools);
    let fillIndex = 0;
    for (const spending of spendings) {
      const { order } = spending;
      const { token, isBuy } = order;
      const before = reserves.get(token) ?? assert.fail();
      const filled = this.#closeOne(spending, before, at);
      if (filled === null) continue;
      assert(refs.includes(pools.get(token)?.ref ?? ''), 'a fill spends its pool');
      reserves.set(token, filled.after);
      const pkh = order.datum.redeemer.payment.hash;
      const spotBefore = spotOf(this.deployment, before);
      const spotAfter = spotOf(this.deployment, filled.after);
      const fill = { token, at, fillIndex, isBuy, pkh, order, spotBefore, spotAfter };
      this.trades.push({ ...fill, ...filled.moved });
      fillIndex += 1;
    }
    for (const [token, { ref }] of pools) {
      const index = refs.indexOf(ref);
      if (index < 0) continue;
      const after = this.#reserves(tx.outputs[index] ?? assert.fail('the pool has a next output'));
      const { x, y, owed } = reserves.get(token) ?? assert.fail();
      assert.deepEqual([after.x, after.y], [x, y], `${tx.id} moves what its fills say`);
      assert(after.owed === owed || after.owed === 0n, 'owed grows by fills and is paid out whole');
      this.#step(token, refText({ txHash: tx.id, index }), at, after);
    }
  }

  #newest(token: string): PoolStep {
    return this.poolSteps.findLast((step) => step.token === token) ?? assert.fail(token);
  }

  #closeOne(spending: Spending, before: Reserves, at: Moment) {
    const { order, payment, tag } = spending;
    const { datum, isBuy, amount, token } = order;
    const { venue } = before;
    assert.equal(order.closed, null);
    const tokens = amountOf(payment.value, token);
    if (tag === 0 || (isBuy ? tokens === 0n : tokens > 0n)) {
      const kind = tag === 0 ? 'cancelled' : 'expired';
      order.closed = { kind, at, received: 0n, venue, moved: null };
      return null;
    }
    assert(tag === 1 || tag === 2);
    const beyond = payment.value.lovelace - datum.depositLovelace;
    const filled = isBuy
      ? { ...afterBuy(this.deployment, before, amount, tokens), paid: beyond }
      : afterSell(this.deployment, before, amount);
    assert.equal(filled.paid, beyond, 'a seller gets what the tokens free, less the fees');
    if (isBuy) assert.equal(tokens, buyable(this.deployment, before, amount), 'no token less');
    const received = isBuy ? tokens : beyond;
    order.closed = { kind: 'executed', at, received, venue, moved: filled.moved };
    return filled;
  }

  #place(tx: Transaction, placed: Moment): void {
    const { executorKeyHash, fees, addressNetwork } = this.deployment;
    for (const [index, output] of tx.outputs.entries()) {
      if (this.scriptOf(output.address) !== 'order') continue;
      const datum = readOrderData(datumOf(output), addressNetwork);
      if (datum === null || datum.executor !== executorKeyHash) continue;
      const { input, worstPrice, feeLovelace, depositLovelace } = datum;
      if (feeLovelace < fees.executorFeeLovelace) continue;
      if (depositLovelace < fees.orderDepositLovelace) continue;
      if (worstPrice.numerator < 1n || worstPrice.denominator < 1n) continue;
      const isBuy = input === '.';
      const token = isBuy ? datum.output : input;
      if (!isBuy && datum.output !== '.') continue;
      if (!this.launches.some((launch) => launch.token === token)) continue;
      const { lovelace, assets } = output.value;
      const coins = lovelace - feeLovelace - depositLovelace;
      const amount = isBuy ? coins : amountOf(output.value, token);
      if (amount < 1n || assets.size !== (isBuy ? 0 : 1) || (!isBuy && coins !== 0n)) continue;
      const { redeemer } = datum;
      if (redeemer.payment.kind !== 'key' || redeemer.stake?.kind === 'script') continue;
      const ref = refText({ txHash: tx.id, index });
      const closed = null;
      this.orders.push({ ref, index, placed, tx, datum, token, isBuy, amount, closed });
    }
  }
}
