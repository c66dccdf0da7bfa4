/**
 * A block of a chain as rows: pools, orders, locks, unspent outputs and what addresses hold; and as
 * trades, for the bars. What a token is worth after a trade is a trade of its market-cap pair.
 *
 * Assumes: events are as `chain/recognise` writes them; one that contradicts the rows is a fault.
 * Undo:    before-images, as for every row.
 */
import type { BlockPayload, TradeEvent } from '../log/entry.ts';
import type { AssetId } from '../market/asset.ts';
import type { MarketEvent, RefText } from '../market/events.ts';
import { type Listing, MARKET_CAP } from '../market/pair.ts';
import { marketCapOf } from '../market/pool.ts';
import { reduced } from '../market/ratio.ts';
import { assert } from '../runtime/assert.ts';
import {
  type LockRecord,
  type OrderRecord,
  type OutputRecord,
  type PointRecord,
  type PoolRecord,
  poolState,
  readRecord,
} from '../store/records.ts';
import type { RowChange, TableName } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { RowDraft } from './rowDraft.ts';

export interface ChainEffects {
  readonly changes: readonly RowChange[];
  readonly tags: ReadonlySet<string>;
  /** Pairs that begin to exist, traded or not. */
  readonly listings: readonly Listing[];
  readonly trades: readonly TradeEvent[];
}

/** What every list of pools listens to. */
export const POOLS_TAG = 'pools';
export function poolTag(token: AssetId): string {
  return `pool:${token}`;
}

/** Tags of what a row of a chain belongs to, for rows that a rollback puts back. */
export function chainTags(table: TableName, key: string): string[] {
  if (table === 'pools') return [POOLS_TAG, poolTag(key)];
  const [token] = key.split('/');
  const ofToken = table === 'holdings' || table === 'open_orders';
  return ofToken && token !== undefined ? [POOLS_TAG, poolTag(token)] : [];
}

/** Prefix of rows of pools that have reached their cap and wait for graduation. */
export const FULL = 'full:';

/** Blocks back to which a chain can be followed on from (onchain.md: k). */
export const KEPT_POINTS = 2160;
export const TIP = 'tip';
/** Entry before the chain's first block. */
export const CHAIN_START = 'chainStart';

export function pointKey(height: number): string {
  return String(height).padStart(12, '0');
}

export function foldChainBlock(
  payload: BlockPayload,
  seq: number,
  marketMs: number,
  store: StateStore,
): ChainEffects {
  const { chain, atMs } = payload;
  assert(chain !== undefined, 'a block of a chain');
  const fold = new BlockFold(store, atMs);
  for (const event of chain.events) fold.take(event);
  const { slot, hash, height } = chain;
  fold.movePoint({ slot, hash, height, timeMs: marketMs, seq });
  return fold.effects();
}

class BlockFold {
  readonly #rows: RowDraft;
  readonly #atMs: number;
  readonly #tags = new Set<string>();
  readonly #listings: Listing[] = [];
  readonly #trades: TradeEvent[] = [];

  constructor(store: StateStore, atMs: number) {
    this.#rows = new RowDraft(store);
    this.#atMs = atMs;
  }

  effects(): ChainEffects {
    const changes = this.#rows.changes();
    return { changes, tags: this.#tags, listings: this.#listings, trades: this.#trades };
  }

  movePoint(point: PointRecord): void {
    const text = JSON.stringify(point);
    if (this.#rows.get('market', CHAIN_START) === null) {
      this.#rows.set('market', CHAIN_START, String(point.seq - 1));
    }
    this.#rows.set('points', pointKey(point.height), text);
    this.#rows.set('points', pointKey(point.height - KEPT_POINTS - 1), null);
    this.#rows.set('market', TIP, text);
  }

  take(event: MarketEvent): void {
    if (event.kind === 'launched') this.#launch(event);
    else if (event.kind === 'filled') this.#fill(event);
    else if (event.kind === 'moved') this.#movePool(event);
    else if (event.kind === 'graduated') this.#update(event.token, { graduatedMs: this.#atMs });
    else if (event.kind === 'placed') this.#place(event);
    else if (event.kind === 'executed') this.#close(event, event.order, event.received);
    else if (event.kind === 'refunded') this.#close(event, event.order, '0');
    else if (event.kind === 'cancelled') this.#close(event, event.order, '0');
    else if (event.kind === 'locked') this.#lock(event);
    else if (event.kind === 'withdrawn') this.#withdraw(event);
    else if (event.kind === 'made') this.#make(event);
    else if (event.kind === 'spent') this.#spend(event.ref);
  }

  #launch({ pool, tx }: MarketEvent & { kind: 'launched' }): void {
    const record: PoolRecord = {
      ...pool,
      reserves: { venue: 'CURVE', x: '0', y: pool.supply, owed: '0' },
      ref: '',
      launchTx: tx,
      createdMs: this.#atMs,
      movedMs: this.#atMs,
      lastTradeMs: null,
      graduatedMs: null,
      volumeLovelace: '0',
      fills: 0,
    };
    this.#rows.set('pools', pool.token, JSON.stringify(record));
    this.#touchPool(pool.token);
    this.#listings.push(coinListing(pool.token), capListing(pool.token));
  }

  #fill({ at, token, tokens, lovelace, after }: MarketEvent & { kind: 'filled' }): void {
    const pool = this.#pool(token);
    this.#update(token, {
      reserves: after,
      lastTradeMs: this.#atMs,
      volumeLovelace: String(BigInt(pool.volumeLovelace) + BigInt(lovelace)),
      fills: pool.fills + 1,
    });
    // Dust has no price.
    if (tokens === '0' || lovelace === '0') return;
    const amounts = { baseAmount: tokens, quoteAmount: lovelace };
    this.#trades.push({ ...coinListing(token), id: at, ...amounts });
    const { exact } = marketCapOf(poolState({ ...pool, reserves: after }));
    const { numerator, denominator } = reduced(exact.numerator, exact.denominator);
    const cap = { baseAmount: String(denominator), quoteAmount: String(numerator) };
    this.#trades.push({ ...capListing(token), id: at, ...cap });
  }

  #movePool({ token, ref, to }: MarketEvent & { kind: 'moved' }): void {
    this.#update(token, { ref, reserves: to, movedMs: this.#atMs });
    const { thresholdLovelace } = this.#pool(token);
    const isFull = to.venue === 'CURVE' && BigInt(to.x) >= BigInt(thresholdLovelace);
    this.#rows.set('market', `${FULL}${token}`, isFull ? ref : null);
  }

  #place({ order }: MarketEvent & { kind: 'placed' }): void {
    const record: OrderRecord = {
      ...order,
      placedMs: this.#atMs,
      state: 'open',
      closedMs: null,
      closedTx: null,
      received: '0',
      venue: null,
    };
    this.#rows.set('orders', order.ref, JSON.stringify(record));
    this.#rows.set('open_orders', `${order.token}/${order.at}`, order.ref);
    this.#touchPool(order.token);
  }

  #close(event: MarketEvent, ref: RefText, received: string): void {
    const { kind, tx } = event;
    assert(kind === 'executed' || kind === 'refunded' || kind === 'cancelled', 'an order ends');
    const order = readRecord<OrderRecord>(this.#there('orders', ref));
    const venue = kind === 'executed' ? this.#pool(order.token).reserves.venue : null;
    const closed = { state: kind, closedMs: this.#atMs, closedTx: tx, received, venue };
    this.#rows.set('orders', ref, JSON.stringify({ ...order, ...closed }));
    this.#rows.set('open_orders', `${order.token}/${order.at}`, null);
    this.#touchPool(order.token);
  }

  #lock({ lock }: MarketEvent & { kind: 'locked' }): void {
    const record: LockRecord = { ...lock, lockedMs: this.#atMs, withdrawnBy: null };
    this.#rows.set('locks', lock.ref, JSON.stringify(record));
    for (const key of lockKeys(record)) this.#rows.set('lock_index', key, lock.ref);
    this.#touchPool(lock.token);
  }

  #withdraw({ tx, lock: ref }: MarketEvent & { kind: 'withdrawn' }): void {
    const lock = readRecord<LockRecord>(this.#there('locks', ref));
    this.#rows.set('locks', ref, JSON.stringify({ ...lock, withdrawnBy: tx }));
    for (const key of lockKeys(lock)) this.#rows.set('lock_index', key, null);
    this.#touchPool(lock.token);
  }

  #make({ ref, address, lovelace, assets, datum }: MarketEvent & { kind: 'made' }): void {
    const record: OutputRecord = { address, lovelace, assets, datum };
    this.#rows.set('outputs', ref, JSON.stringify(record));
    this.#hold(record, 1n);
  }

  #spend(ref: RefText): void {
    this.#hold(readRecord<OutputRecord>(this.#there('outputs', ref)), -1n);
    this.#rows.set('outputs', ref, null);
  }

  /** Adds an output's tokens to what its address holds, or takes them away. */
  #hold({ address, assets }: OutputRecord, sign: bigint): void {
    for (const [token, amount] of Object.entries(assets)) {
      if (this.#rows.get('pools', token) === null) continue;
      const key = `${token}/${address}`;
      const held = BigInt(this.#rows.get('holdings', key) ?? 0) + sign * BigInt(amount);
      assert(held >= 0n, `${address} holds what it spends`);
      this.#rows.set('holdings', key, held === 0n ? null : String(held));
      this.#touchPool(token);
    }
  }

  #pool(token: AssetId): PoolRecord {
    return readRecord<PoolRecord>(this.#there('pools', token));
  }

  #update(token: AssetId, news: Partial<PoolRecord>): void {
    this.#rows.set('pools', token, JSON.stringify({ ...this.#pool(token), ...news }));
    this.#touchPool(token);
  }

  #there(table: 'pools' | 'orders' | 'locks' | 'outputs', key: string): string {
    const text = this.#rows.get(table, key);
    assert(text !== null, `${key} is in ${table}`);
    return text;
  }

  #touchPool(token: AssetId): void {
    this.#tags.add(POOLS_TAG);
    this.#tags.add(poolTag(token));
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
