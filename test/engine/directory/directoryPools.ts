/** Rows of table `pools` for a directory, and what lists, top and search are, the plain way. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PoolDirectory } from '../../../src/engine/directory/directory.ts';
import type { PoolList } from '../../../src/engine/market/poolView.ts';
import { NO_HOLDERS } from '../../../src/engine/market/trust.ts';
import { PoolActors } from '../../../src/engine/pools/poolActors.ts';
import type { PoolRecord } from '../../../src/engine/store/records.ts';
import { StateStore } from '../../../src/engine/store/state.ts';
import { inlineWriter } from '../../../src/engine/store/stateWriter.ts';
import { authorOf, hashOf, LAUNCHED, START_MS } from '../../chain/foldState.ts';
import { capAfter } from '../../chain/foldTruth.ts';
import { temporaryDirectory } from '../../support/server.ts';

export interface Say {
  readonly name?: string;
  readonly ticker?: string;
  /** After START_MS. */
  readonly createdMs?: number | null;
  readonly lastTradeMs?: number | null;
  readonly graduated?: boolean;
  /** Tokens sold, or with `graduated` lovelace of the pool. */
  readonly amount?: number;
}

export function tokenAt(index: number): string {
  return `${hashOf(`token ${index}`, 56)}.${Buffer.from(`t${index}`).toString('hex')}`;
}

export function somePool(token: string, say: Say = {}): PoolRecord {
  const { name = 'tok', ticker = 'TOK', createdMs = 0, lastTradeMs = null } = say;
  const { graduated = false, amount = 0 } = say;
  const y = 500_000_000n;
  const reserves: PoolRecord['reserves'] = graduated
    ? { venue: 'AMM', x: String(1_000_000_000 + amount), y: String(y), owed: '0' }
    : { venue: 'CURVE', x: '0', y: String(BigInt(LAUNCHED.supply) - BigInt(amount)), owed: '0' };
  return {
    ...LAUNCHED,
    token,
    nft: token,
    author: authorOf(0),
    metadataRef: null,
    name,
    ticker,
    reserves,
    ref: `${hashOf(token)}:0`,
    launchTx: hashOf(token),
    createdMs: createdMs === null ? null : START_MS + createdMs,
    firstMs: START_MS + (createdMs ?? 0),
    movedMs: START_MS + (createdMs ?? 0),
    lastTradeMs: lastTradeMs === null ? null : START_MS + lastTradeMs,
    graduatedMs: graduated ? START_MS : null,
    crownedMs: null,
    launchHeight: 1,
    trust: NO_HOLDERS,
    sinceSlot: null,
    volumeLovelace: '0',
    fills: 0,
  };
}

/** Lovelace, a half upwards. */
function capOf({ reserves }: PoolRecord): bigint {
  const { top, bottom } = capAfter({ after: reserves });
  return (2n * top + bottom) / (2n * bottom);
}

/** A time that is not known comes last. */
const second = (timeMs: number | null) => BigInt(timeMs === null ? -1 : Math.floor(timeMs / 1000));

/** Largest key first, ties by asset id. */
function sortedBy(pools: readonly PoolRecord[], key: (pool: PoolRecord) => bigint): string[] {
  return pools
    .map((pool) => ({ token: pool.token, rank: key(pool) }))
    .sort((a, b) => (a.rank === b.rank ? (a.token < b.token ? -1 : 1) : a.rank > b.rank ? -1 : 1))
    .map(({ token }) => token);
}

/** Source: protocol.md section 2, sort keys. */
export function naiveList(list: PoolList | 'all', pools: readonly PoolRecord[]): string[] {
  const completed = pools.filter(({ graduatedMs }) => graduatedMs !== null);
  const open = pools.filter(({ graduatedMs }) => graduatedMs === null);
  const launch = ({ createdMs }: PoolRecord) => second(createdMs);
  if (list === 'New') return sortedBy(pools, launch);
  if (list === 'CompletedCreateOn') return sortedBy(completed, launch);
  if (list === 'CompletedMCap') return sortedBy(completed, capOf);
  if (list === 'MCapDesc') return sortedBy(open, capOf);
  if (list === 'all') return sortedBy(pools, capOf);
  return sortedBy(pools, ({ lastTradeMs, createdMs }) => second(lastTradeMs ?? createdMs));
}

/** Names of the test are of scripts in which lower case says it all. */
export function naiveSearch(pattern: string, pools: readonly PoolRecord[]): string[] {
  const sought = pattern.toLowerCase();
  const ranks = new Map<string, number>();
  for (const { token, name, ticker } of pools) {
    const texts = [token, name.toLowerCase(), ticker.toLowerCase()];
    const found = texts.filter((text) => text.includes(sought));
    if (found.length === 0) continue;
    if (found.includes(sought)) ranks.set(token, 0);
    else ranks.set(token, found.some((text) => text.startsWith(sought)) ? 1 : 2);
  }
  const byCap = naiveList('all', pools);
  return [0, 1, 2].flatMap((rank) => byCap.filter((token) => ranks.get(token) === rank));
}

export function tokensOf(pools: readonly { readonly pool: PoolRecord }[]): string[] {
  return pools.map(({ pool }) => pool.token);
}

export function rowsOf(pools: Iterable<PoolRecord>): { key: string; value: string }[] {
  const rows = Array.from(pools, (pool) => ({ key: pool.token, value: JSON.stringify(pool) }));
  assert(new Set(rows.map(({ key }) => key)).size === rows.length, 'tokens are different');
  return rows;
}

/** Empty: actors of pools read nothing of it until they are asked for more than their row. */
const store = new StateStore(join(temporaryDirectory(), 'state.sqlite'), {
  ...{ horizonBlocks: 10, maxMb: 0, writer: inlineWriter },
});

export function directoryOf(rows: ReturnType<typeof rowsOf>, seq: number): PoolDirectory {
  return new PoolDirectory(new PoolActors(store), rows, seq);
}
