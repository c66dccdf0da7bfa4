/**
 * What a transaction did to a pool, order by order. Fills apply in the order in which the orders
 * were placed, each computed forward by the venue's arithmetic. The pool's change is decisive:
 * where the fills do not add up to it, it counts as one fill.
 */

import { datumOf, type Output, refText } from '../../cardano/codec/output.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { readAmmData, readPoolData } from '../../cardano/datums/datums.ts';
import { amountOut } from '../../engine/market/amm.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { sellLovelace } from '../../engine/market/curve.ts';
import {
  chainOrder,
  type MarketEvent,
  type PlacedOrder,
  type Reserves,
} from '../../engine/market/events.ts';
import { netOf, sharesOf } from '../../engine/market/fees.ts';
import type { KnownPool } from './knownMarket.ts';
import type { TxPosition } from './orders.ts';
import { type Rules, scriptOf } from './rules.ts';

/** An order that a transaction executed, and the amount that it received. */
export interface Executed {
  readonly order: PlacedOrder;
  readonly received: bigint;
}

/** What a transaction did to one pool, as far as its inputs are known. */
interface ExecutedOrders {
  readonly executed: readonly Executed[];
  /** It spends outputs of unknown scripts, such as orders from before following started. */
  readonly hasUnknownScripts: boolean;
}

interface PoolAmounts {
  readonly venue: Reserves['venue'];
  readonly x: bigint;
  readonly y: bigint;
  readonly owed: bigint;
}

interface Successor {
  readonly index: number;
  readonly state: PoolAmounts;
}

/**
 * Fills, graduation, payout to the creator and the pool's new output; empty when that cannot be
 * read. Where the AMM is unknown, a pool that left the curve counts as graduated, and nothing more.
 */
export function poolEvents(
  tx: Transaction,
  token: AssetId,
  pool: KnownPool,
  batch: ExecutedOrders,
  place: TxPosition,
  rules: Rules,
): MarketEvent[] {
  const successor = findSuccessor(tx, token, pool, rules);
  if (successor === null) {
    const hasLeft = rules.deployment.scripts.ammPool === null && !isOnCurve(tx, pool, rules);
    return hasLeft ? [{ tx: tx.id, kind: 'graduated', token }] : [];
  }
  const before = readState(pool.reserves);
  const { state: after, index } = successor;
  const events: MarketEvent[] = [];
  if (before.venue === after.venue) {
    events.push(...fillEvents(tx.id, token, pool, before, after, batch, place, rules));
  } else {
    events.push({ tx: tx.id, kind: 'graduated', token });
  }
  if (after.owed < before.owed) {
    const lovelace = String(before.owed - after.owed);
    events.push({ tx: tx.id, kind: 'collected', token, lovelace });
  }
  const ref = refText({ txHash: tx.id, index });
  events.push({ tx: tx.id, kind: 'moved', token, ref, to: reservesOf(after) });
  return events;
}

function isOnCurve(tx: Transaction, { nft }: KnownPool, rules: Rules): boolean {
  return tx.outputs.some(
    (output) => output.value.assets.has(nft) && scriptOf(output, rules) === 'curvePool',
  );
}

function findSuccessor(
  tx: Transaction,
  token: AssetId,
  pool: KnownPool,
  rules: Rules,
): Successor | null {
  const index = tx.outputs.findIndex((output) => output.value.assets.get(pool.nft) === 1n);
  const output = tx.outputs[index];
  if (output === undefined) return null;
  const state = stateOf(output, token, pool, rules);
  return state === null ? null : { index, state };
}

export function stateOf(
  output: Output,
  token: AssetId,
  pool: Pick<KnownPool, 'nft'>,
  rules: Rules,
): PoolAmounts | null {
  const script = scriptOf(output, rules);
  const keep = rules.deployment.fees.poolKeepLovelace;
  const { lovelace } = output.value;
  const y = output.value.assets.get(token) ?? 0n;
  if (script === 'curvePool') {
    const datum = readPoolData(datumOf(output));
    if (datum?.nft !== pool.nft) return null;
    return { venue: 'CURVE', x: lovelace - keep, y, owed: 0n };
  }
  const datum = script === 'ammPool' ? readAmmData(datumOf(output)) : null;
  if (datum?.nft !== pool.nft) return null;
  const owed = datum.owedLovelace;
  return { venue: 'AMM', x: lovelace - keep - owed, y, owed };
}

function fillEvents(
  tx: string,
  token: AssetId,
  pool: KnownPool,
  before: PoolAmounts,
  after: PoolAmounts,
  { executed, hasUnknownScripts }: ExecutedOrders,
  place: TxPosition,
  rules: Rules,
): MarketEvent[] {
  const ordered = [...executed].sort((a, b) => (a.order.at < b.order.at ? -1 : 1));
  let state = before;
  const steps = ordered.map((each) => {
    const from = state;
    state = step(from, each, pool, rules);
    return { order: each.order.ref, from, to: state };
  });
  const owedFalls = after.owed < state.owed;
  const agrees =
    state.x === after.x && state.y === after.y && (owedFalls || state.owed === after.owed);
  if (!agrees) {
    const [only = null] = ordered.length === 1 && !hasUnknownScripts ? ordered : [];
    const order = only?.order.ref ?? null;
    steps.splice(0, steps.length);
    if (before.y !== after.y) steps.push({ order: order ?? '', from: before, to: after });
  }
  return steps.map(({ order, from, to }, index) => ({
    tx,
    kind: 'filled',
    at: chainOrder(place.slot, place.txIndex, index),
    token,
    order: order === '' ? null : order,
    side: to.y < from.y ? 'buy' : 'sell',
    tokens: String(distance(from.y, to.y)),
    lovelace: String(distance(from.x, to.x)),
    after: reservesOf(to),
  }));
}

/** The pool after one order, by the venue's arithmetic. */
function step(
  from: PoolAmounts,
  { order, received }: Executed,
  pool: KnownPool,
  rules: Rules,
): PoolAmounts {
  const { fees } = rules.deployment;
  const amount = BigInt(order.amount);
  const gross = order.side === 'buy' ? amount : grossOf(from, amount, pool, rules);
  const shares = sharesOf(from.venue, fees, gross);
  const owed = from.owed + shares.creator;
  if (order.side === 'sell') return { ...from, x: from.x - gross, y: from.y + amount, owed };
  return { ...from, x: from.x + netOf(gross, shares), y: from.y - received, owed };
}

/** Lovelace that a sale takes from the reserve, shares included. */
function grossOf(
  { venue, x, y }: PoolAmounts,
  tokens: bigint,
  pool: KnownPool,
  rules: Rules,
): bigint {
  if (venue === 'AMM') return amountOut(tokens, y, x, rules.deployment.fees.lpFeePer10k);
  const supply = BigInt(pool.supply);
  const curve = { aNum: BigInt(pool.aNum), bNum: BigInt(pool.bNum), supply };
  const sold = supply - y;
  return tokens > sold ? 0n : sellLovelace(curve, sold, tokens);
}

function readState({ venue, x, y, owed }: Reserves): PoolAmounts {
  return { venue, x: BigInt(x), y: BigInt(y), owed: BigInt(owed) };
}

export function reservesOf({ venue, x, y, owed }: PoolAmounts): Reserves {
  return { venue, x: String(x), y: String(y), owed: String(owed) };
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b;
}
