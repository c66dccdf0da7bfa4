/**
 * Reads transactions of a block as market events. Pure: the same block and the same known market
 * give the same events on every node.
 *
 * Order of the events of one transaction: outputs spent, launch, adopted pools, fills and the new
 * state of their pool, ends of orders, ends of locks, new locks and orders, outputs made.
 */
import { parseAddress } from '../../cardano/codec/address.ts';
import { type Output, refText } from '../../cardano/codec/output.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { chainOrder, type MarketEvent, type RefText } from '../../engine/market/events.ts';
import type { Executed } from './fillOrder.ts';
import { poolEvents } from './fills.ts';
import { BlockState, type KnownOrder, type KnownState, launchedTokens } from './knownState.ts';
import { adoptedPools, recogniseLaunch } from './launch.ts';
import {
  type Execution,
  outcomeOf,
  recogniseLock,
  recogniseOrder,
  type TxPosition,
} from './orders.ts';
import { type Rules, recogniseSettings, scriptOf } from './rules.ts';

/** `txIndexes`: see `Block`. */
export function recogniseBlock(
  slot: number,
  transactions: readonly Transaction[],
  known: KnownState,
  rules: Rules,
  txIndexes?: readonly number[],
): MarketEvent[] {
  return recogniseNext(slot, transactions, new BlockState(known), rules, txIndexes);
}

/** The same for one block after another: `known` takes in the events. */
export function recogniseNext(
  slot: number,
  transactions: readonly Transaction[],
  known: BlockState,
  rules: Rules,
  txIndexes?: readonly number[],
): MarketEvent[] {
  const events: MarketEvent[] = [];
  const note = (event: MarketEvent) => {
    known.apply(event);
    events.push(event);
  };
  for (const [at, tx] of transactions.entries()) {
    const txIndex = txIndexes?.[at] ?? at;
    if (tx.isValid) recogniseTransaction(tx, { slot, txIndex }, known, rules, note);
    else moveCollateral(tx, known, rules, note);
  }
  return events;
}

/** Slot of pending orders: later than every real slot. */
const MEMPOOL_SLOT = 999_999_999_999;

/**
 * A pending transaction; `known` takes in its events. `place` counts arrivals, below a million.
 * Where a script fails, only the collateral moves, as in a block.
 */
export function recognisePending(
  tx: Transaction,
  place: number,
  known: BlockState,
  rules: Rules,
): MarketEvent[] {
  const events: MarketEvent[] = [];
  const note = (event: MarketEvent) => {
    known.apply(event);
    events.push(event);
  };
  const at = { slot: MEMPOOL_SLOT, txIndex: place };
  if (tx.isValid) recogniseTransaction(tx, at, known, rules, note);
  else moveCollateral(tx, known, rules, note);
  return events;
}

type Note = (event: MarketEvent) => void;

function recogniseTransaction(
  tx: Transaction,
  place: TxPosition,
  known: BlockState,
  rules: Rules,
  note: Note,
): void {
  const inputs = tx.inputs.map(refText);
  const closed = closedOrders(tx, inputs, known, rules);
  const hasUnknownScripts = runsUnknownScripts(tx, inputs, known);
  const withdrawn = inputs.filter((ref) => known.lock(ref) !== null);
  spend(tx, inputs, known, note);
  noteLaunch(tx, place, known, rules, note);
  for (const event of adoptedPools(tx, known, rules)) note(event);
  for (const { token, executed } of spentPools(tx, inputs, closed, known)) {
    const pool = known.pool(token);
    if (pool === null) continue;
    const batch = { executed, hasUnknownScripts };
    for (const event of poolEvents(tx, token, pool, batch, place, rules)) note(event);
  }
  for (const { event } of inOrder(closed)) note(event);
  for (const lock of withdrawn) note({ tx: tx.id, kind: 'withdrawn', lock });
  noteOutputs(tx, { place, mayContinue: hasUnknownScripts }, known, rules, note);
}

/** Whether a script ran for an input that is not known. */
function runsUnknownScripts(
  { redeemers }: Transaction,
  inputs: readonly RefText[],
  known: KnownState,
): boolean {
  return redeemers.some(({ purpose, index }) => {
    const input = purpose === 'spend' ? inputs[index] : undefined;
    return input !== undefined && !known.isWatched(input);
  });
}

interface Closed {
  readonly event: MarketEvent;
  /** Position of the order on the chain; the ends of one transaction are in this order. */
  readonly placedAt: string;
  readonly executed: Executed | null;
}

/** Orders whose output is spent, in the order of the inputs. */
function closedOrders(
  tx: Transaction,
  inputs: readonly RefText[],
  known: KnownState,
  rules: Rules,
): Closed[] {
  const closed: Closed[] = [];
  for (const [index, ref] of inputs.entries()) {
    const order = known.order(ref);
    if (order !== null) closed.push(closedOrder(tx, index, ref, order, rules));
  }
  return closed;
}

function closedOrder(
  tx: Transaction,
  index: number,
  ref: RefText,
  known: KnownOrder,
  rules: Rules,
): Closed {
  const { order } = known;
  const placedAt = order.at;
  const outcome = outcomeOf(tx, index, known, rules);
  if (outcome.kind !== 'executed') {
    const event = { tx: tx.id, kind: outcome.kind, order: order.ref } as const;
    return { event, placedAt, executed: null };
  }
  const event = executionEvent(tx.id, known, ref, outcome);
  const { amount, received, feeLovelace } = outcome;
  return { event, placedAt, executed: { order, amount, received, feeLovelace } };
}

function executionEvent(
  tx: string,
  { order: { ref: order }, rest: offered }: KnownOrder,
  from: RefText,
  { amount, received, feeLovelace, rest }: Execution,
): MarketEvent {
  if (rest === null) {
    const unspent = BigInt(offered.amount) - amount;
    const came = unspent === 0n ? {} : { unspent: String(unspent) };
    return { tx, kind: 'executed', order, received: String(received), ...came };
  }
  const amounts = { amount: String(amount), received: String(received) };
  return {
    ...{ tx, kind: 'partlyExecuted', order, from },
    ...{ ...amounts, feeLovelace: String(feeLovelace), rest },
  };
}

function inOrder(closed: readonly Closed[]): readonly Closed[] {
  if (closed.length < 2) return closed;
  return [...closed].sort((a, b) => (a.placedAt < b.placedAt ? -1 : 1));
}

/** Pools whose output this transaction spends, with the orders that it executed on each. */
function spentPools(
  tx: Transaction,
  inputs: readonly RefText[],
  closed: readonly Closed[],
  known: KnownState,
): { token: AssetId; executed: Executed[] }[] {
  const spent = new Set<AssetId>();
  for (const output of tx.outputs) {
    for (const token of launchedTokens(output, known)) {
      if (inputs.includes(known.pool(token)?.ref ?? '')) spent.add(token);
    }
  }
  return [...spent].map((token) => ({
    token,
    executed: closed.flatMap(({ executed }) => (executed?.order.token === token ? [executed] : [])),
  }));
}

function noteLaunch(
  tx: Transaction,
  place: TxPosition,
  known: KnownState,
  rules: Rules,
  note: Note,
): void {
  const launch = recogniseLaunch(tx, rules);
  // A token has one pool. Where its policy is not derived from the pool's, others may name it.
  if (launch === null || known.pool(launch.pool.token) !== null) return;
  const { pool, index, xLovelace, yTokens } = launch;
  const { token, supply } = pool;
  note({ tx: tx.id, kind: 'launched', pool });
  const to = { venue: 'CURVE', x: String(xLovelace), y: String(yTokens), owed: '0' } as const;
  const tokens = BigInt(supply) - yTokens;
  if (tokens > 0n && xLovelace > 0n) {
    const bought = { side: 'buy', tokens: String(tokens), lovelace: to.x, after: to } as const;
    const at = chainOrder(place.slot, place.txIndex, 0);
    note({ tx: tx.id, kind: 'filled', at, token, order: null, ...bought });
  }
  note({ tx: tx.id, kind: 'moved', token, ref: refText({ txHash: tx.id, index }), to });
}

function noteOutputs(
  tx: Transaction,
  { place, mayContinue }: { readonly place: TxPosition; readonly mayContinue: boolean },
  known: BlockState,
  rules: Rules,
  note: Note,
): void {
  for (const [index, output] of tx.outputs.entries()) {
    const ref = refText({ txHash: tx.id, index });
    const lock = recogniseLock(tx, index, known, rules);
    const isRest = known.order(ref) !== null;
    const order =
      lock === null && !isRest ? recogniseOrder(tx, index, place, known, rules, mayContinue) : null;
    if (lock !== null) note({ tx: tx.id, kind: 'locked', lock });
    if (order !== null) note({ tx: tx.id, kind: 'placed', order });
    const settings = recogniseSettings(tx.id, index, output, rules);
    if (settings !== null) note(settings);
    const holds = settings !== null || isRest || launchedTokens(output, known).length > 0;
    if (lock !== null || order !== null || holds) note(made(tx.id, ref, output, rules));
  }
}

/** A script failed: the collateral is spent, and its return is the only output. */
function moveCollateral(tx: Transaction, known: BlockState, rules: Rules, note: Note): void {
  spend(tx, tx.collateralInputs.map(refText), known, note);
  const { collateralReturn } = tx;
  if (collateralReturn === null || launchedTokens(collateralReturn, known).length === 0) return;
  const ref = refText({ txHash: tx.id, index: tx.outputs.length });
  note(made(tx.id, ref, collateralReturn, rules));
}

function spend(tx: Transaction, inputs: readonly RefText[], known: BlockState, note: Note): void {
  for (const ref of inputs) {
    if (known.isWatched(ref)) note({ tx: tx.id, kind: 'spent', ref });
  }
}

function made(tx: string, ref: string, output: Output, rules: Rules): MarketEvent {
  const { lovelace, assets } = output.value;
  const payment = parseAddress(output.address)?.payment;
  return {
    tx,
    kind: 'made',
    ref,
    address: output.address,
    pkh: payment?.kind === 'key' ? payment.hash : null,
    isOurs: scriptOf(output, rules) !== null,
    lovelace: String(lovelace),
    assets: Object.fromEntries([...assets].map(([asset, amount]) => [asset, String(amount)])),
    datum: output.datum,
  };
}
