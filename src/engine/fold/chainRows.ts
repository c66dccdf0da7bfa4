/**
 * A block of a chain as rows: pools, orders, locks, unspent outputs and what addresses hold; and as
 * trades, for the bars. The market cap of a token after each trade is a trade of its market-cap
 * pair.
 *
 * Assumes: events are as `chain/recognise` writes them; an event that contradicts the rows is a
 * fault.
 * Undo:    before-images, as for every row.
 */
import type { BlockPayload, ChainBlock, EmptyBlocksPayload } from '../log/entry.ts';
import type { AssetId } from '../market/asset.ts';
import type { LaunchedToken, MarketEvent, PlacedOrder, RefText } from '../market/events.ts';
import { type Listing, MARKET_CAP } from '../market/pair.ts';
import { marketCapOf, spotOf } from '../market/pool.ts';
import { reduced } from '../market/ratio.ts';
import { type EarlyBuy, earlyBuyOf, NO_HOLDERS } from '../market/trust.ts';
import type { PairTrade } from '../pools/tradedPairs.ts';
import { assert } from '../runtime/assert.ts';
import {
  type LockRecord,
  lastFill,
  type OrderRecord,
  type PointRecord,
  type PoolRecord,
  poolState,
  type SettingsRecord,
  type TradeRecord,
} from '../store/records.ts';
import { RowRecord } from '../store/rows.ts';
import { makeOutput, spendOutput } from './holderRows.ts';
import { closeOrder, continueOrder, isVenueChange, placeOrder, tradeOfOrder } from './orderRows.ts';
import type { RowDraft } from './rowDraft.ts';
import {
  LAUNCHES_TAG,
  noteLaunch,
  noteOrderChange,
  notePoolChange,
  tradesTag,
} from './streamTags.ts';
import { tradeLaunch, tradeOrder } from './traderRows.ts';
import { TrustFold } from './trustRows.ts';

/** The part of a block that concerns traded pairs; the rest is rows. */
export interface ChainTrades {
  /** Pairs that begin to exist, traded or not. */
  readonly listings: readonly Listing[];
  readonly trades: readonly PairTrade[];
}

/** Prefix of rows of pools that have reached their cap and wait for graduation. */
export const FULL = 'full:';

/** Blocks back to which a chain can be followed on from (docs/onchain.md, section The devnet). */
export const KEPT_POINTS = 2160;
export const TIP = 'tip';
/** The newest settings output; none before the first rotation that was seen. */
export const SETTINGS = 'settings';
/** Entry before the chain's first block. */
export const CHAIN_START = 'chainStart';

export function pointKey(height: number): string {
  return String(height).padStart(12, '0');
}

/** Transaction of a launch before the block that following began with. */
const NEVER_SEEN = '';

/** More than a token has open at once. */
const MAX_OPEN = 1_000_000;

export function foldChainBlock(
  payload: BlockPayload,
  seq: number,
  marketMs: number,
  rows: RowDraft,
): ChainTrades {
  const { chain, atMs } = payload;
  assert(chain !== undefined, 'a block of a chain');
  const fold = new BlockFold(rows, chain, atMs);
  for (const event of chain.events) fold.apply(event);
  fold.finish();
  const { slot, hash, height } = chain;
  movePoint(rows, { slot, hash, height, timeMs: marketMs, seq }, 1);
  return fold;
}

/** Only the position in the chain changes. */
export function foldEmptyBlocks(
  { slot, hash, height, blocks }: EmptyBlocksPayload,
  seq: number,
  marketMs: number,
  rows: RowDraft,
): void {
  movePoint(rows, { slot, hash, height, timeMs: marketMs, seq }, blocks);
  // A block leaves behind one point; a run of them leaves behind several.
  const oldest = pointKey(Math.max(0, height - KEPT_POINTS));
  for (const key of rows.points(KEPT_POINTS + 1)) if (key < oldest) rows.set('points', key, null);
}

/**
 * Throws where `point` is higher than `blocks` lead to: no points of the chain would be left to go
 * back to.
 */
function movePoint(rows: RowDraft, point: PointRecord, blocks: number): void {
  const most = (rows.record<PointRecord>('market', TIP)?.height ?? point.height) + blocks;
  assert(point.height <= most, `block ${point.height} follows the block before it`);
  const row = RowRecord.of(point);
  if (rows.get('market', CHAIN_START) === null) {
    rows.set('market', CHAIN_START, String(point.seq - 1));
  }
  rows.set('points', pointKey(point.height), row);
  rows.set('points', pointKey(point.height - KEPT_POINTS - 1), null);
  rows.set('market', TIP, row);
}

class BlockFold implements ChainTrades {
  readonly listings: Listing[] = [];
  readonly trades: PairTrade[] = [];
  readonly #rows: RowDraft;
  readonly #trust: TrustFold;
  readonly #slot: number;
  readonly #height: number;
  readonly #atMs: number;

  constructor(rows: RowDraft, { slot, height }: Pick<ChainBlock, 'slot' | 'height'>, atMs: number) {
    this.#rows = rows;
    this.#trust = new TrustFold(rows);
    this.#slot = slot;
    this.#height = height;
    this.#atMs = atMs;
  }

  finish(): void {
    this.#trust.finish();
  }

  apply(event: MarketEvent): void {
    this.#trust.nextEvent(event);
    if (event.kind === 'launched') this.#launch(event.pool, event.tx, this.#atMs);
    else if (event.kind === 'adopted') this.#adopt(event);
    else if (event.kind === 'filled') this.#fill(event);
    else if (event.kind === 'moved') this.#movePool(event);
    else if (event.kind === 'graduated') this.#graduate(event);
    else if (event.kind === 'placed') this.#place(event.order);
    else if (event.kind === 'partlyExecuted') this.#executePart(event);
    else if (event.kind === 'executed') this.#close(event, event.order, event.received);
    else if (event.kind === 'refunded') this.#close(event, event.order, '0');
    else if (event.kind === 'cancelled') this.#close(event, event.order, '0');
    else if (event.kind === 'locked') this.#lock(event);
    else if (event.kind === 'withdrawn') this.#withdraw(event);
    else if (event.kind === 'settings') this.#setSettings(event);
    else if (event.kind === 'made') makeOutput(this.#rows, this.#trust, event);
    else if (event.kind === 'spent') spendOutput(this.#rows, this.#trust, event.ref);
  }

  #setSettings({ ref, executor, feeAddress }: MarketEvent & { kind: 'settings' }): void {
    const record: SettingsRecord = { ref, executor, feeAddress };
    this.#rows.put('market', SETTINGS, record);
  }

  #adopt({ pool, createdMs, to }: MarketEvent & { kind: 'adopted' }): void {
    this.#launch(pool, NEVER_SEEN, createdMs ?? null);
    if (to !== undefined) this.#update(pool.token, { firstReserves: to });
  }

  #launch(pool: LaunchedToken, launchTx: string, createdMs: number | null): void {
    const record: PoolRecord = {
      ...pool,
      reserves: { venue: 'CURVE', x: '0', y: pool.supply, owed: '0' },
      ref: '',
      launchTx,
      createdMs,
      firstMs: this.#atMs,
      movedMs: this.#atMs,
      lastTradeMs: null,
      graduatedMs: null,
      crownedMs: null,
      volumeLovelace: '0',
      fills: 0,
      launchHeight: launchTx === NEVER_SEEN ? null : this.#height,
      trust: NO_HOLDERS,
      sinceSlot: launchTx === NEVER_SEEN ? this.#slot : null,
    };
    this.#rows.put('pools', pool.token, record);
    notePoolChange(this.#rows, pool.token);
    if (launchTx === NEVER_SEEN) this.#rows.tags.add(LAUNCHES_TAG);
    else noteLaunch(this.#rows, pool);
    this.listings.push(coinListing(pool.token), capListing(pool.token));
  }

  #place(placed: PlacedOrder): void {
    const { launchHeight } = this.#pool(placed.token);
    const isBuy = placed.side === 'buy' && launchHeight !== null;
    const early: EarlyBuy | null = isBuy ? earlyBuyOf(launchHeight, this.#height) : null;
    this.#trust.orderPlaced(placeOrder(this.#rows, placed, this.#atMs, early));
  }

  #fill(event: MarketEvent & { kind: 'filled' }): void {
    const { at, token, tokens, lovelace, after } = event;
    const pool = this.#pool(token);
    this.#update(token, {
      reserves: after,
      lastTradeMs: this.#atMs,
      volumeLovelace: String(BigInt(pool.volumeLovelace) + BigInt(lovelace)),
      fills: pool.fills + 1,
    });
    const isInitialBuy = event.order === null && event.tx === pool.launchTx;
    if (isInitialBuy) tradeLaunch(this.#rows, pool, event, this.#atMs);
    // Dust has no price.
    if (tokens === '0' || lovelace === '0') return;
    const state = poolState({ ...pool, reserves: after });
    const spot = spotOf(state);
    const step = {
      isBuy: event.side === 'buy',
      before: spotOf(poolState(pool)),
      after: spot,
    };
    const amounts = { baseAmount: tokens, quoteAmount: lovelace };
    this.trades.push({ ...coinListing(token), id: at, ...amounts, step });
    const { exact } = marketCapOf(state);
    const { numerator, denominator } = reduced(exact.numerator, exact.denominator);
    const cap = { baseAmount: String(denominator), quoteAmount: String(numerator) };
    this.trades.push({ ...capListing(token), id: at, ...cap });
    const trade: TradeRecord = {
      side: event.side,
      tokens,
      lovelace,
      tx: event.tx,
      pkh: this.#traderOf(event, pool),
      atMs: this.#atMs,
      ...(after.venue === 'AMM' ? { isOnAmm: true as const } : {}),
      spot: { numerator: String(spot.numerator), denominator: String(spot.denominator) },
    };
    this.#rows.put('trades', `${token}/${at}`, trade);
    this.#rows.noteChange(tradesTag(token), at);
    if (event.order === null) return;
    const order = this.#there<OrderRecord>('orders', event.order);
    tradeOfOrder(this.#rows, order, at);
  }

  /** Empty where a movement of the pool could not be told to be one order's. */
  #traderOf({ order, tx }: MarketEvent & { kind: 'filled' }, pool: PoolRecord): string {
    if (order === null) return tx === pool.launchTx ? pool.author.pkh : '';
    return this.#there<OrderRecord>('orders', order).pkh;
  }

  #graduate({ token, nft }: MarketEvent & { kind: 'graduated' }): void {
    this.#update(token, {
      graduatedMs: this.#atMs,
      ...(nft === undefined ? {} : { ammNft: nft }),
    });
    this.#rows.tags.add(LAUNCHES_TAG);
  }

  #movePool({ token, ref, to }: MarketEvent & { kind: 'moved' }): void {
    const { thresholdLovelace, reserves } = this.#pool(token);
    this.#update(token, { ref, reserves: to, movedMs: this.#atMs });
    const isFull = to.venue === 'CURVE' && BigInt(to.x) >= BigInt(thresholdLovelace);
    this.#rows.set('market', `${FULL}${token}`, isFull ? ref : null);
    if (isVenueChange(reserves, to)) noteOpenOrderChanges(this.#rows, token);
  }

  #close(event: MarketEvent, ref: RefText, received: string): void {
    const { kind, tx } = event;
    assert(kind === 'executed' || kind === 'refunded' || kind === 'cancelled', 'an order ends');
    const order = this.#there<OrderRecord>('orders', ref);
    const { venue } = this.#pool(order.token).reserves;
    const sum = String(BigInt(order.received) + BigInt(received));
    const came = kind === 'executed' && event.unspent !== undefined ? event.unspent : null;
    const unspent = came === null ? {} : { unspent: came };
    const ended = { state: kind, closedMs: this.#atMs, closedTx: tx, received: sum, venue };
    closeOrder(this.#rows, order, { ...ended, ...unspent });
    if (kind !== 'executed') {
      this.#trust.orderEnded(order, (order.rest ?? order).amount, '0');
      return;
    }
    const fill = { ...lastFill({ ...order, ...unspent }), received };
    this.#trust.fill(order, fill.amount);
    this.#trust.orderEnded(order, came ?? '0', received);
    tradeOrder(this.#rows, order, fill, this.#atMs);
  }

  #executePart(event: MarketEvent & { kind: 'partlyExecuted' }): void {
    const order = this.#there<OrderRecord>('orders', event.order);
    continueOrder(this.#rows, order, event, this.#atMs);
    this.#trust.fill(order, event.amount);
    tradeOrder(this.#rows, order, event, this.#atMs);
  }

  #lock({ lock }: MarketEvent & { kind: 'locked' }): void {
    const record: LockRecord = { ...lock, lockedMs: this.#atMs, withdrawnBy: null };
    this.#rows.put('locks', lock.ref, record);
    for (const key of lockKeys(record)) this.#rows.set('lock_index', key, lock.ref);
    this.#trust.lock(lock.token, BigInt(lock.amount));
    notePoolChange(this.#rows, lock.token);
  }

  #withdraw({ tx, lock: ref }: MarketEvent & { kind: 'withdrawn' }): void {
    const lock = this.#there<LockRecord>('locks', ref);
    this.#rows.put('locks', ref, { ...lock, withdrawnBy: tx });
    for (const key of lockKeys(lock)) this.#rows.set('lock_index', key, null);
    this.#trust.lock(lock.token, -BigInt(lock.amount));
    this.#trust.excuse(lock.token, lock.owner, BigInt(lock.amount));
    notePoolChange(this.#rows, lock.token);
  }

  #pool(token: AssetId): PoolRecord {
    return this.#there<PoolRecord>('pools', token);
  }

  #update(token: AssetId, news: Partial<PoolRecord>): void {
    this.#rows.put('pools', token, { ...this.#pool(token), ...news });
    notePoolChange(this.#rows, token);
  }

  #there<T extends object>(table: 'pools' | 'orders' | 'locks', key: string): T {
    const record = this.#rows.record<T>(table, key);
    assert(record !== null, `${key} is in ${table}`);
    return record;
  }
}

function coinListing(token: AssetId): Listing {
  return { base: token, quote: '.', baseDecimals: 0, quoteDecimals: 6 };
}

function capListing(token: AssetId): Listing {
  return { base: token, quote: MARKET_CAP, baseDecimals: 0, quoteDecimals: 6 };
}

function lockKeys({ owner, token, ref }: LockRecord): string[] {
  return [`owner/${owner}/${ref}`, `token/${token}/${ref}`];
}

/** Where they are expected to fill has changed. */
export function noteOpenOrderChanges(rows: RowDraft, token: AssetId): void {
  for (const ref of rows.openOrders(token, MAX_OPEN)) {
    const order = rows.record<OrderRecord>('orders', ref);
    if (order !== null) noteOrderChange(rows, order);
  }
}
