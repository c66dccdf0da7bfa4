/**
 * The fills of a transaction on one pool, in the order that `fillOrder` finds. The pool's change is
 * decisive: if the fills do not add up to it, the change counts as one fill.
 */

import { datumOf, type Output, refText } from '../../cardano/codec/output.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { readAmmData, readPoolData, readSplashPool } from '../../cardano/datums/datums.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { chainOrder, type MarketEvent, type Reserves } from '../../engine/market/events.ts';
import { areSplashFees, type SplashFees } from '../../engine/market/splash.ts';
import { type Executed, executedOnSplash, executedOrder, type PoolAmounts } from './fillOrder.ts';
import type { KnownPool } from './knownState.ts';
import type { TxPosition } from './orders.ts';
import { type Rules, scriptOf } from './rules.ts';

/** Fills of one pool by a transaction, by its known inputs. */
interface ExecutedOrders {
  readonly executed: readonly Executed[];
  /** It spends outputs of unknown scripts, such as orders from before following started. */
  readonly hasUnknownScripts: boolean;
}

interface Successor {
  /** Where it has another one than before. */
  readonly nft?: AssetId;
  readonly index: number;
  readonly state: PoolAmounts;
  /** Fees of a pool of Splash; a trade does not change them. */
  readonly splash?: SplashFees;
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
  const { state: after, index, splash } = successor;
  const events: MarketEvent[] = [];
  if (pool.ammNft !== undefined && splash !== undefined) {
    events.push(...splashFills(tx.id, token, before, after, { ...batch, fees: splash }, place));
  } else if (before.venue === after.venue) {
    events.push(...fillEvents(tx.id, token, pool, before, after, batch, place, rules));
  } else {
    const { nft } = successor;
    events.push({ tx: tx.id, kind: 'graduated', token, ...(nft === undefined ? {} : { nft }) });
  }
  if (after.owed < before.owed) {
    const lovelace = String(before.owed - after.owed);
    events.push({ tx: tx.id, kind: 'collected', token, lovelace });
  }
  const ref = refText({ txHash: tx.id, index });
  events.push({ tx: tx.id, kind: 'moved', token, ref, to: reservesOf(after, splash) });
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
  const nft = pool.ammNft ?? pool.nft;
  const index = tx.outputs.findIndex((output) => output.value.assets.get(nft) === 1n);
  const output = tx.outputs[index];
  if (output === undefined) return pool.ammNft === undefined ? graduated(tx, token, rules) : null;
  if (pool.ammNft !== undefined) {
    const state = splashState(output, token, rules);
    return state?.nft === nft ? { index, state: state.amounts, splash: state.fees } : null;
  }
  const state = stateOf(output, token, pool, rules);
  return state === null ? null : { index, state };
}

/** The pool of Splash into which this transaction moves the curve's reserves. */
function graduated(tx: Transaction, token: AssetId, rules: Rules): Successor | null {
  for (const [index, output] of tx.outputs.entries()) {
    const found = splashState(output, token, rules);
    if (found !== null && tx.mint.get(found.nft) === 1n) {
      return { index, state: found.amounts, nft: found.nft, splash: found.fees };
    }
  }
  return null;
}

function splashState(
  output: Output,
  token: AssetId,
  rules: Rules,
): {
  readonly nft: AssetId;
  readonly amounts: PoolAmounts;
  readonly fees: SplashFees;
} | null {
  if (scriptOf(output, rules) !== 'splashPool') return null;
  const datum = readSplashPool(datumOf(output));
  if (datum?.token !== token || output.value.assets.get(datum.nft) !== 1n) return null;
  const x = output.value.lovelace - datum.earnedLovelace;
  const y = (output.value.assets.get(token) ?? 0n) - datum.earnedTokens;
  if (x <= 0n || y <= 0n) return null;
  return { nft: datum.nft, amounts: { venue: 'AMM', x, y, owed: 0n }, fees: datum.fees };
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
  const found = executedOrder(executed, before, pool, rules.deployment.fees);
  let { isExact } = found;
  let steps = found.steps.map(({ executed: { order }, from, to }) => ({
    order: order.ref,
    from,
    to,
  }));
  const last = steps.at(-1)?.to ?? before;
  const owedFalls = after.owed < last.owed;
  const agrees =
    last.x === after.x && last.y === after.y && (owedFalls || last.owed === after.owed);
  if (!agrees) {
    const [only = null] = steps.length === 1 && !hasUnknownScripts ? steps : [];
    isExact &&= steps.length < 2;
    const order = only?.order ?? '';
    steps = before.y === after.y ? [] : [{ order, from: before, to: after }];
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
    ...(isExact ? {} : { exact: false }),
  }));
}

/**
 * Movements of a pool of Splash: one for each order if they add up to the pool's change; else a
 * single one, for the only order if there is just one. A change of both sides in the same direction
 * is not a trade.
 */
function splashFills(
  tx: string,
  token: AssetId,
  before: PoolAmounts,
  after: PoolAmounts,
  { executed, hasUnknownScripts, fees }: ExecutedOrders & { readonly fees: SplashFees },
  place: TxPosition,
): MarketEvent[] {
  const isBatch = executed.length > 1 && !hasUnknownScripts && areSplashFees(fees);
  const batch = isBatch ? executedOnSplash(executed, before, after, fees) : null;
  if (batch !== null) {
    return batch.steps.map(({ order, to, lovelace, tokens }, index) => ({
      ...{ tx, kind: 'filled', at: chainOrder(place.slot, place.txIndex, index), token },
      ...{ order: order.ref, side: order.side },
      ...{ tokens: String(tokens), lovelace: String(lovelace), after: reservesOf(to) },
      ...(batch.isExact ? {} : { exact: false }),
    }));
  }
  const [inX, inY] = [after.x - before.x, after.y - before.y];
  if (inX === 0n || inY === 0n || inX > 0n === inY > 0n) return [];
  const [only, ...more] = executed;
  const isKnown = only !== undefined && more.length === 0 && !hasUnknownScripts;
  return [
    {
      ...{ tx, kind: 'filled', at: chainOrder(place.slot, place.txIndex, 0), token },
      order: isKnown ? only.order.ref : null,
      side: inY < 0n ? 'buy' : 'sell',
      tokens: String(distance(before.y, after.y)),
      lovelace: String(distance(before.x, after.x)),
      after: reservesOf(after),
    },
  ];
}

function readState({ venue, x, y, owed }: Reserves): PoolAmounts {
  return { venue, x: BigInt(x), y: BigInt(y), owed: BigInt(owed) };
}

export function reservesOf({ venue, x, y, owed }: PoolAmounts, splash?: SplashFees): Reserves {
  const reserves = { venue, x: String(x), y: String(y), owed: String(owed) };
  if (splash === undefined) return reserves;
  const { feeNum, treasuryFee, royaltyFee } = splash;
  return {
    ...reserves,
    splash: {
      feeNum: String(feeNum),
      treasuryFee: String(treasuryFee),
      royaltyFee: String(royaltyFee),
    },
  };
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b;
}
