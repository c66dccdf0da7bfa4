/**
 * Transactions of mainnet (`test/data/mainnet`) in a market that is followed to the rows of the
 * fold. Their parents are not in the test data: the outputs that they spend are made up here, with
 * amounts that follow from the execution.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Orders } from '../../src/api/orders/orderLookup.ts';
import { scriptAddress } from '../../src/cardano/codec/address.ts';
import { blake2b224 } from '../../src/cardano/codec/hash.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import type { Output, OutputRef } from '../../src/cardano/codec/output.ts';
import { Constr, type PlutusData } from '../../src/cardano/codec/plutusData.ts';
import { decodeTransaction, type Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { addressData, assetData } from '../../src/cardano/datums/datums.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { recogniseBlock, recognisePending } from '../../src/chain/recognise/block.ts';
import { BlockState, knownState } from '../../src/chain/recognise/knownState.ts';
import { rulesOf } from '../../src/chain/recognise/rules.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import {
  type OrderRecord,
  readRecord,
  type TradeRecord,
  type TraderRecord,
} from '../../src/engine/store/records.ts';
import { readDeployment } from '../../src/server/settings/deployments.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { dataText } from '../support/testData.ts';
import { appendBlock, appendMempool, rollBackTo, rowsOf } from './foldChain.ts';
import { transaction } from './recogniseWorld.ts';

const { partial } = readDeployment('mainnet');
assert.ok(partial);
export const MAINNET = partial;
export const MAINNET_RULES = rulesOf(partial);

export function transactionOf(name: string): Transaction {
  return decodeTransaction(fromHex(dataText(`mainnet/${name}.hex`).trim()));
}

/** A transaction of ours around outputs, with the id under which the chain's own spend them. */
export function holding(id: string, outputs: readonly Output[], inputs?: OutputRef[]): Transaction {
  const made = transaction(inputs === undefined ? { outputs: [] } : { outputs: [], inputs });
  return { ...made, id, outputs };
}

/** A market in the fold, block after block, five seconds apart. */
export class MainnetMarket {
  readonly world: FoldWorld;
  #height = 0;

  private constructor(world: FoldWorld) {
    this.world = world;
  }

  static async open(t: TestContext): Promise<MainnetMarket> {
    return new MainnetMarket(await FoldWorld.open(t, join(temporaryDirectory(), 'data')));
  }

  async block(...transactions: readonly Transaction[]): Promise<MarketEvent[]> {
    this.#height += 1;
    const height = this.#height;
    const known = knownState(this.world.fold.store);
    const slot = 150_000_000 + 5 * height;
    const events = recogniseBlock(slot, transactions, known, MAINNET_RULES);
    const hash = height.toString(16).padStart(64, '0');
    await appendBlock(this.world, { slot, hash, height, atMs: 5_000 * height, events });
    return events;
  }

  /**
   * A transaction that waits for a block; the market recognises its effects as the follower does.
   */
  async pending(tx: Transaction): Promise<void> {
    const market = new BlockState(knownState(this.world.fold.store));
    const events = recognisePending(tx, 0, market, MAINNET_RULES);
    const added = [{ id: tx.id, events }];
    await appendMempool(this.world, { added, removed: [], seenMs: 0, whole: false });
  }

  async back(blocks: number): Promise<void> {
    this.#height -= blocks;
    await rollBackTo(this.world, this.#height);
  }

  get orders(): Orders {
    return new Orders({ fold: this.world.fold });
  }

  order(ref: string): OrderRecord {
    const text = this.world.fold.store.get('orders', ref) ?? assert.fail(`order ${ref}`);
    return readRecord<OrderRecord>(text);
  }

  /** Oldest first. */
  trades(): TradeRecord[] {
    return [...rowsOf(this.world, 'trades').values()].map((text) => readRecord<TradeRecord>(text));
  }

  trader(pkh: string, token: string): TraderRecord {
    const text = this.world.fold.store.get('traders', `${pkh}/${token}`) ?? assert.fail(pkh);
    return readRecord<TraderRecord>(text);
  }
}

export interface PretendedOrder {
  readonly owner: { readonly payment: string; readonly stake: string };
  readonly token: string;
  readonly side: 'buy' | 'sell';
  /** Offered. */
  readonly amount: bigint;
  readonly stepLovelace: bigint;
  readonly feeLovelace: bigint;
  /** Held beyond the offer, the fees and the steps. */
  readonly depositLovelace: bigint;
  readonly heldTokens?: bigint;
  readonly script: 'limitOrder' | 'firstInstantOrder';
  readonly beacon: string;
}

/** The output of an order in the layout of an earlier validator. */
export function pretendedOrder(order: PretendedOrder): Output {
  const { owner, token, side, amount, script, beacon, heldTokens = 0n } = order;
  const { stepLovelace, feeLovelace, depositLovelace } = order;
  const isBuy = side === 'buy';
  const [input, output] = [assetData(isBuy ? '.' : token), assetData(isBuy ? token : '.')];
  const key = { kind: 'key', hash: owner.payment } as const;
  const stake = { kind: 'key', hash: owner.stake } as const;
  const redeemer = addressData({ network: 'mainnet', payment: key, stake, pointer: false });
  const price = new Constr(0, [1n, 1_000_000_000n]);
  const executor = '1e'.repeat(28);
  const limit: PlutusData[] = [
    ...['00', beacon, input, amount, stepLovelace, 1n, output, price, feeLovelace],
    ...[redeemer, owner.payment, [executor]],
  ];
  const instant: PlutusData[] = [
    ...['01', redeemer, input, amount, stepLovelace, output, price, feeLovelace, executor],
    ...[1_000n, owner.payment, beacon],
  ];
  const lovelace = stepLovelace + feeLovelace + depositLovelace + (isBuy ? amount : 0n);
  const tokens = isBuy ? heldTokens : amount;
  return {
    address: scriptAddress('mainnet', MAINNET.scripts[script]?.hash ?? '', stake),
    value: asValue(lovelace, tokens === 0n ? [] : [[token, tokens]]),
    datum: dataHex(new Constr(0, script === 'limitOrder' ? limit : instant)),
    scriptHash: null,
    cbor: '',
  };
}

/** As executors derive it: of an input, the output's index and the datum without a beacon. */
export function newBeacon(order: Omit<PretendedOrder, 'beacon'>, input: OutputRef): string {
  const { datum } = pretendedOrder({ ...order, beacon: '00'.repeat(28) });
  const place = [BigInt(input.index), 0n].map((each) => each.toString(16).padStart(16, '0'));
  const parts = [input.txHash, ...place, blake2b224(fromHex(datum ?? ''))];
  return blake2b224(fromHex(parts.join('')));
}
