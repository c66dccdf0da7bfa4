/** Compares the rows and bars of a world with the market that made its blocks. */
import assert from 'node:assert/strict';
import { pointKey } from '../../src/engine/fold/chainRows.ts';
import type { Bar } from '../../src/engine/market/bar.ts';
import { decodeBar } from '../../src/engine/market/barText.ts';
import { DEFAULT_CURVE } from '../../src/engine/market/curve.ts';
import type { Reserves } from '../../src/engine/market/events.ts';
import type { Ratio } from '../../src/engine/market/ratio.ts';
import {
  type LockRecord,
  type OrderRecord,
  type OutputRecord,
  type PoolRecord,
  readRecord,
  type TradeRecord,
} from '../../src/engine/store/records.ts';
import { endOf } from '../support/foldModel.ts';
import type { FoldWorld } from '../support/foldWorld.ts';
import { INTERVALS, type Interval, startOf } from '../support/model.ts';
import { rowsOf } from './foldChain.ts';
import {
  addressOf,
  beaconOf,
  type ModelOrder,
  type ModelPool,
  type ModelState,
  type ModelTrade,
  ownerOf,
  reservesOf,
  SUPPLY,
  USERS,
} from './foldState.ts';

const FOREVER_MS = Number.MAX_SAFE_INTEGER;

export function checkRows(world: FoldWorld, state: ModelState): void {
  assert.deepEqual(world.said.foldFailures, []);
  assert.deepEqual(world.said.quarantined, []);
  checkPools(world, state);
  checkOrders(world, state);
  checkTrades(world, state);
  checkLocks(world, state);
  const outputs = [...rowsOf(world, 'outputs')].map(([ref, text]) => {
    const { address, assets } = readRecord<OutputRecord>(text);
    return [ref, { address, assets }] as const;
  });
  assert.deepEqual(new Map(outputs), state.outputs, 'unspent outputs');
  assert.deepEqual(rowsOf(world, 'holdings'), holdingsOf(state), 'what addresses hold');
  const heights = Array.from({ length: state.height }, (_, index) => pointKey(index + 1));
  assert.deepEqual([...rowsOf(world, 'points').keys()], heights, 'blocks to go back to');
}

function checkPools(world: FoldWorld, { pools }: ModelState): void {
  const rows = rowsOf(world, 'pools');
  assert.deepEqual(new Set(rows.keys()), new Set(pools.keys()));
  for (const [token, pool] of pools) {
    const record = readRecord<PoolRecord>(rows.get(token) ?? '{}');
    const { reserves, ref, createdMs, movedMs, graduatedMs, lastTradeMs } = record;
    const { fills, volumeLovelace, author, nft, launchTx } = record;
    const said = { reserves, ref, createdMs, movedMs, graduatedMs, lastTradeMs };
    const more = { fills, volumeLovelace, author: author.pkh, nft, launchTx };
    const volume = pool.trades.reduce((sum, { lovelace }) => sum + lovelace, 0n);
    assert.deepEqual(
      { ...said, ...more },
      {
        reserves: reservesOf(pool),
        ref: pool.ref,
        createdMs: pool.createdMs,
        movedMs: pool.movedMs,
        graduatedMs: pool.graduatedMs,
        lastTradeMs: pool.trades.at(-1)?.atMs ?? null,
        fills: pool.trades.length,
        volumeLovelace: String(volume),
        author: pool.author,
        nft: pool.nft,
        launchTx: pool.launchTx,
      },
    );
  }
}

function checkOrders(world: FoldWorld, { orders }: ModelState): void {
  const rows = [...rowsOf(world, 'orders')].map(([ref, text]) => {
    const { state, received, amount, side, token } = readRecord<OrderRecord>(text);
    return [ref, [state, received, amount, side, token]] as const;
  });
  const expected = [...orders].map(([ref, { state, received, amount, side, token }]) => {
    return [ref, [state, String(received), String(amount), side, token]] as const;
  });
  assert.deepEqual(new Map(rows), new Map(expected), 'orders');
  const open = [...orders.values()].filter(({ state }) => state === 'open');
  const index = open.map(({ token, at, ref }) => [`${token}/${at}`, ref] as const);
  assert.deepEqual(rowsOf(world, 'open_orders'), new Map(index), 'open orders');
  checkOrderLists(world, [...orders.values()]);
}

/** Every list of orders that is kept, in its order, and its count. */
function checkOrderLists(world: FoldWorld, orders: readonly ModelOrder[]): void {
  const expected = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const { ref, at, token, user, state } of orders) {
    const pkh = ownerOf(user);
    const lists = [`token/${token}`, `key/${pkh}`, `both/${pkh}/${token}`];
    if (state === 'open') lists.push(`open/${pkh}`);
    for (const list of lists) {
      expected.set(`${list}/${at}`, ref);
      counts.set(list, (counts.get(list) ?? 0) + 1);
    }
    assert.equal(world.fold.store.get('beacons', beaconOf(ref)), ref, 'found by its beacon');
  }
  assert.deepEqual(rowsOf(world, 'order_index'), expected, 'lists of orders');
  const ofOrders = [...rowsOf(world, 'counts')].filter(
    ([key]) => !/^(holders|traders)\//.test(key),
  );
  assert.deepEqual(
    new Map(ofOrders),
    new Map([...counts].map(([list, count]) => [list, String(count)])),
    'counts of orders',
  );
}

function checkTrades(world: FoldWorld, { pools }: ModelState): void {
  const expected = [...pools.values()].flatMap(({ token, trades }) =>
    trades
      .filter(({ tokens, lovelace }) => tokens > 0n && lovelace > 0n)
      .map(({ at, atMs, tokens, lovelace }) => {
        return [`${token}/${at}`, [atMs, String(tokens), String(lovelace)]] as const;
      }),
  );
  const rows = [...rowsOf(world, 'trades')].map(([key, text]) => {
    const { atMs, tokens, lovelace } = readRecord<TradeRecord>(text);
    return [key, [atMs, tokens, lovelace]] as const;
  });
  assert.deepEqual(new Map(rows), new Map(expected), 'trades');
}

function checkLocks(world: FoldWorld, { locks }: ModelState): void {
  const rows = [...rowsOf(world, 'locks')].map(([ref, text]) => {
    const { token, amount, owner, withdrawnBy } = readRecord<LockRecord>(text);
    return [ref, { ref, token, amount: BigInt(amount), owner, withdrawnBy }] as const;
  });
  assert.deepEqual(new Map(rows), locks, 'locks');
  const unspent = [...locks.values()].filter(({ withdrawnBy }) => withdrawnBy === null);
  const index = unspent.flatMap(({ owner, token, ref }) => [
    [`owner/${owner}/${ref}`, ref] as const,
    [`token/${token}/${ref}`, ref] as const,
  ]);
  assert.deepEqual(rowsOf(world, 'lock_index'), new Map(index), 'unspent locks');
}

function holdingsOf({ outputs, pools }: ModelState): Map<string, string> {
  const held = new Map<string, bigint>();
  const users = new Set(Array.from({ length: USERS }, (_, user) => addressOf(user)));
  for (const { address, assets } of outputs.values()) {
    // Outputs at scripts belong to their users and are not counted.
    if (!users.has(address)) continue;
    for (const [asset, amount] of Object.entries(assets)) {
      const key = `${asset}/${address}`;
      if (pools.has(asset)) held.set(key, (held.get(key) ?? 0n) + BigInt(amount));
    }
  }
  return new Map([...held].map(([key, amount]) => [key, String(amount)]));
}

/** A fraction: lovelace per token, or lovelace of a market cap. */
export interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

export function priceAfter({ lovelace, tokens }: ModelTrade): Fraction {
  return { top: lovelace, bottom: tokens };
}

/** Spot × supply, from the formulas of onchain.md. */
export function capAfter({ after }: Pick<ModelTrade, 'after'>): Fraction {
  const { top, bottom } = spotAt(after);
  return { top: top * SUPPLY, bottom };
}

export function spotAt({ venue, ...reserves }: Reserves): Fraction {
  const [x, y] = [BigInt(reserves.x), BigInt(reserves.y)];
  if (venue === 'AMM') return { top: x, bottom: y };
  const sold = SUPPLY - y;
  const { aNum, bNum } = DEFAULT_CURVE;
  return { top: aNum * sold * sold + bNum * 10n ** 21n, bottom: 10n ** 27n };
}

export interface TruthBar {
  readonly startMs: number;
  readonly open: Fraction;
  readonly high: Fraction;
  readonly low: Fraction;
  readonly close: Fraction;
  readonly trades: number;
  readonly volume: bigint;
}

export function barsOf(
  pool: ModelPool,
  interval: Interval,
  worth: (trade: ModelTrade) => Fraction,
): TruthBar[] {
  const groups = Map.groupBy(pool.trades, ({ atMs }) => startOf(interval, atMs) * 1000);
  return [...groups].map(([startMs, trades]) => {
    const all = trades.map(worth);
    const [first = { top: 0n, bottom: 1n }] = all;
    return {
      startMs,
      open: first,
      high: all.reduce((most, each) => (less(most, each) ? each : most)),
      low: all.reduce((least, each) => (less(each, least) ? each : least)),
      close: all.at(-1) ?? first,
      trades: trades.length,
      volume: trades.reduce((sum, { lovelace }) => sum + lovelace, 0n),
    };
  });
}

function less(a: Fraction, b: Fraction): boolean {
  return a.top * b.bottom < b.top * a.bottom;
}

/** At every resolution, price and market-cap bars follow exactly from the trades. */
export function checkBars(world: FoldWorld, state: ModelState): void {
  for (const pool of state.pools.values()) {
    for (const interval of INTERVALS) {
      const prices = storedBars(world, `${pool.token}_.`, interval);
      checkSeries(world, prices, barsOf(pool, interval, priceAfter), interval);
      const volumes = barsOf(pool, interval, priceAfter).map(({ volume }) => volume);
      assert.deepEqual(
        prices.map(({ quoteVolume }) => quoteVolume),
        volumes,
      );
      checkPoolRanges(prices, pool, interval);
      const caps = storedBars(world, `${pool.token}_mcap`, interval);
      checkSeries(world, caps, barsOf(pool, interval, capAfter), interval);
    }
  }
}

/** Spot before and after each trade, and who bought. */
function checkPoolRanges(bars: readonly Bar[], pool: ModelPool, interval: Interval): void {
  const groups = Map.groupBy(pool.trades, ({ atMs }) => startOf(interval, atMs) * 1000);
  for (const { startMs, pool: range } of bars) {
    const trades = groups.get(startMs) ?? [];
    const ends = trades.flatMap(({ before, after }) => [spotAt(before), spotAt(after)]);
    assert(range !== null && ends[0] !== undefined, 'a bar of a pool has its range');
    const expected = {
      open: ends[0],
      high: ends.reduce((most, each) => (less(most, each) ? each : most)),
      low: ends.reduce((least, each) => (less(each, least) ? each : least)),
      close: ends.at(-1) ?? ends[0],
    };
    assert.equal(range.buys, trades.filter(({ side }) => side === 'buy').length);
    for (const end of ['open', 'high', 'low', 'close'] as const) {
      const { numerator, denominator }: Ratio = range[end];
      const { top, bottom } = expected[end];
      assert.equal(numerator * bottom, denominator * top, `spot ${end} of ${interval} ${startMs}`);
    }
  }
}

function storedBars({ fold }: FoldWorld, name: string, interval: Interval): Bar[] {
  const actor = fold.pairBars(name);
  assert(actor !== null && actor !== 'quarantined', `${name} is known`);
  const index = INTERVALS.indexOf(interval);
  const rows = fold.store.bars(actor.pair.id, index, 0, FOREVER_MS, 100_000).reverse();
  const newest = rows.at(-1);
  assert.equal(actor.series(interval).newest?.startMs, newest?.start, `newest of ${name}`);
  return rows.map(({ start, value }) => decodeBar(start, value ?? ''));
}

function checkSeries(
  { fold }: FoldWorld,
  bars: readonly Bar[],
  expected: readonly TruthBar[],
  interval: Interval,
): void {
  assert.deepEqual(
    bars.map(({ startMs, trades, final }) => [startMs, trades, final]),
    expected.map(({ startMs, trades }) => {
      return [startMs, trades, endOf(interval, startMs) <= fold.marketMs];
    }),
  );
  for (const [at, bar] of bars.entries()) {
    for (const end of ['open', 'high', 'low', 'close'] as const) {
      const { top, bottom } = expected[at]?.[end] ?? { top: 0n, bottom: 0n };
      const { quoteAmount, baseAmount } = bar[end];
      assert.equal(quoteAmount * bottom, baseAmount * top, `${end} of ${interval} ${bar.startMs}`);
    }
  }
}
