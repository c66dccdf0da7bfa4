/**
 * A market as transactions of blocks: launches, orders, batches that execute them, and movements of
 * pools by something else. Recognised from the first block, or from a later one on.
 */
import assert from 'node:assert/strict';
import type { NewOutput } from '../../src/cardano/codec/encode.ts';
import { compareRefs, type OutputRef, refText } from '../../src/cardano/codec/output.ts';
import { Constr, type PlutusData } from '../../src/cardano/codec/plutusData.ts';
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../src/cardano/codec/value.ts';
import { poolData } from '../../src/cardano/datums/datums.ts';
import { capLovelace } from '../../src/cardano/datums/deployment.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { recogniseBlock } from '../../src/chain/recognise/block.ts';
import { BlockState, type KnownState } from '../../src/chain/recognise/knownState.ts';
import type { Rules } from '../../src/chain/recognise/rules.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import { buy, type Exchange, sell } from '../../src/engine/market/exchange.ts';
import type { CurvePool } from '../../src/engine/market/pool.ts';
import {
  ADA,
  aliceText,
  atScript,
  deployment,
  launchOf,
  orderOf,
  RULES,
  transaction,
} from './recogniseWorld.ts';

/** As a real network has it: there one may begin in the middle. */
export const REAL: Rules = { ...RULES, deployment: { ...deployment, network: 'preview' } };

export const NOTHING: KnownState = {
  pool: () => null,
  order: () => null,
  lock: () => null,
  isWatched: () => false,
};

export type Step =
  | { readonly do: 'launch' }
  | { readonly do: 'order'; readonly pool: number; readonly side: 'buy' | 'sell'; size: number }
  | { readonly do: 'execute'; readonly pool: number; readonly most: number }
  | { readonly do: 'foreign'; readonly pool: number; readonly size: number }
  | { readonly do: 'block' };

interface Pool {
  readonly token: string;
  readonly nft: string;
  ref: OutputRef;
  state: CurvePool;
}

interface Open {
  readonly ref: OutputRef;
  readonly token: string;
  readonly side: 'buy' | 'sell';
  readonly amount: bigint;
}

const { fees, curve } = deployment;

export class MiddleMarket {
  readonly blocks: Transaction[][] = [[]];
  readonly #pools: Pool[] = [];
  #open: Open[] = [];

  perform(step: Step): void {
    if (step.do === 'block') this.blocks.push([]);
    else if (step.do === 'launch') this.#launch();
    else {
      const pool = this.#pools[step.pool % Math.max(1, this.#pools.length)];
      if (pool === undefined) return;
      if (step.do === 'order') this.#order(pool, step.side, BigInt(step.size));
      else if (step.do === 'execute') this.#execute(pool, step.most);
      else this.#foreign(pool, BigInt(step.size) * ADA);
    }
  }

  #say(tx: Transaction): void {
    this.blocks.at(-1)?.push(tx);
  }

  #launch(): void {
    const { tx, token, nft, pool } = launchOf(`Token ${this.#pools.length}`);
    this.#say(tx);
    const x = 5n * ADA - fees.poolKeepLovelace;
    const thresholdLovelace = deployment.thresholdLovelace;
    const state = {
      venue: 'CURVE',
      x,
      y: curve.supply - 1_000n,
      curve,
      thresholdLovelace,
    } as const;
    this.#pools.push({ token, nft, ref: pool, state });
  }

  #order({ token }: Pool, side: 'buy' | 'sell', size: bigint): void {
    const onTop = fees.executorFeeLovelace + fees.orderDepositLovelace;
    const amount = side === 'buy' ? size * ADA : size * 10_000n;
    const value = side === 'buy' ? coins(amount + onTop) : asValue(onTop, [[token, amount]]);
    const { tx, ref } = orderOf(token, side, { value });
    this.#say(tx);
    this.#open.push({ ref, token, side, amount });
  }

  #execute(pool: Pool, most: number): void {
    const filled: { order: Open; exchange: Exchange }[] = [];
    let { state } = pool;
    for (const order of this.#open) {
      if (order.token !== pool.token || filled.length >= most) continue;
      const exchange = (order.side === 'buy' ? buy : sell)(state, fees, order.amount);
      if (exchange.outcome === 'refused' || exchange.next.venue !== 'CURVE') continue;
      filled.push({ order, exchange });
      state = exchange.next;
    }
    if (filled.length === 0) return;
    this.#open = this.#open.filter((open) => !filled.some(({ order }) => order === open));
    const payments = filled.map(({ order, exchange }) => [order.ref, paymentOf(order, exchange)]);
    // trust: pairs of a reference and its payment
    this.#move(pool, state, payments as [OutputRef, NewOutput][]);
  }

  /** Somebody's order in a layout that we do not know, say. */
  #foreign(pool: Pool, lovelace: bigint): void {
    const exchange = buy(pool.state, fees, lovelace);
    if (exchange.outcome === 'refused' || exchange.next.venue !== 'CURVE') return;
    this.#move(pool, exchange.next, []);
  }

  #move(pool: Pool, to: CurvePool, payments: readonly [OutputRef, NewOutput][]): void {
    const all = [[pool.ref, outputOf(pool, to)] as const, ...payments];
    all.sort(([a], [b]) => compareRefs(a, b));
    const spends: Record<number, PlutusData> = {};
    for (const [index, [ref]] of all.entries()) {
      spends[index] = new Constr(ref === pool.ref ? 0 : 1, [BigInt(index)]);
    }
    const inputs = all.map(([ref]) => ref);
    const tx = transaction({ inputs, outputs: all.map(([, output]) => output), spends });
    pool.ref = { txHash: tx.id, index: inputs.indexOf(pool.ref) };
    pool.state = to;
    this.#say(tx);
  }
}

function paymentOf({ side, token }: Open, { outputAmount }: Exchange): NewOutput {
  const deposit = fees.orderDepositLovelace;
  const value =
    side === 'buy' ? asValue(deposit, [[token, outputAmount]]) : coins(deposit + outputAmount);
  return { address: aliceText, value };
}

function outputOf({ token, nft }: Pool, { x, y }: CurvePool): NewOutput {
  const { executorKeyHash: executor, settings, scripts } = deployment;
  const witness2 = settings.policyId;
  const cap = capLovelace(deployment);
  const datum = { nft, token, ...curve, executor, capLovelace: cap };
  const value = asValue(x + fees.poolKeepLovelace, [
    [nft, 1n],
    [token, y],
  ]);
  const data = poolData({ ...datum, witness1: scripts.ammPool.hash, witness2 });
  return { address: atScript('curvePool'), value, datum: dataHex(data) };
}

/** Events of the blocks from `first` on, recognised with no knowledge of those before. */
export function recognised(
  blocks: readonly Transaction[][],
  first: number,
  rules: Rules = REAL,
): MarketEvent[] {
  const market = new BlockState(NOTHING);
  return blocks.slice(first).flatMap((transactions, index) => {
    const events = recogniseBlock(first + index, transactions, market, rules);
    for (const event of events) market.apply(event);
    return events;
  });
}

export function refOf(tx: Transaction, index = 0): string {
  assert.ok(tx.outputs[index]);
  return refText({ txHash: tx.id, index });
}
