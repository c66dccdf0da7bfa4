/** The state of a small market, and its pools as arithmetic and events take them. */
import { createHash } from 'node:crypto';
import { DEFAULT_CURVE } from '../../src/engine/market/curve.ts';
import type { LaunchedToken, Reserves } from '../../src/engine/market/events.ts';
import type { Exchange } from '../../src/engine/market/exchange.ts';
import type { PoolState } from '../../src/engine/market/pool.ts';

export const THRESHOLD = 200_000_000n;
export const START_MS = Date.UTC(2026, 1, 28, 23, 57);
export const USERS = 14;
export const SUPPLY = DEFAULT_CURVE.supply;

export interface ModelTrade {
  readonly atMs: number;
  readonly at: string;
  readonly tokens: bigint;
  readonly lovelace: bigint;
  readonly side: 'buy' | 'sell';
  /** Reserves before and after it. */
  readonly before: Reserves;
  readonly after: Reserves;
}

export interface ModelPool {
  readonly token: string;
  readonly nft: string;
  readonly author: string;
  readonly launchTx: string;
  readonly createdMs: number;
  venue: 'CURVE' | 'AMM';
  x: bigint;
  y: bigint;
  owed: bigint;
  ref: string;
  movedMs: number;
  graduatedMs: number | null;
  trades: ModelTrade[];
}

export interface ModelOrder {
  readonly ref: string;
  readonly at: string;
  readonly token: string;
  readonly side: 'buy' | 'sell';
  readonly amount: bigint;
  readonly user: number;
  state: 'open' | 'executed' | 'refunded' | 'cancelled';
  received: bigint;
}

interface ModelLock {
  readonly ref: string;
  readonly token: string;
  readonly amount: bigint;
  readonly owner: string;
  withdrawnBy: string | null;
}

interface ModelOutput {
  readonly address: string;
  readonly assets: Readonly<Record<string, string>>;
}

export interface ModelState {
  readonly pools: Map<string, ModelPool>;
  readonly orders: Map<string, ModelOrder>;
  readonly locks: Map<string, ModelLock>;
  readonly outputs: Map<string, ModelOutput>;
  height: number;
  slot: number;
  atMs: number;
}

export function hashOf(text: string, length = 64): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

export function addressOf(user: number): string {
  return `addr_test1user${user}`;
}

export function ownerOf(user: number): string {
  return hashOf(`user ${user}`, 56);
}

export function beaconOf(ref: string): string {
  return hashOf(ref, 56);
}

/** Payment key of an address; addresses of no user belong to the deployment. */
export function whoseIs(address: string): {
  readonly pkh: string | null;
  readonly isOurs: boolean;
} {
  const users = Array.from({ length: USERS }, (_, user) => user);
  const user = users.find((each) => addressOf(each) === address);
  return { pkh: user === undefined ? null : ownerOf(user), isOurs: user === undefined };
}

export function stateOf({ venue, x, y, owed }: ModelPool): PoolState {
  if (venue === 'AMM') return { venue, x, y, owed, supply: SUPPLY };
  return { venue, x, y, curve: DEFAULT_CURVE, thresholdLovelace: THRESHOLD };
}

export function reservesOf({ venue, x, y, owed }: ModelPool): Reserves {
  return { venue, x: String(x), y: String(y), owed: String(owed) };
}

export function reservesIn({ next }: Exchange): Pick<ModelPool, 'x' | 'y' | 'owed'> {
  return { x: next.x, y: next.y, owed: next.venue === 'AMM' ? next.owed : 0n };
}

export function authorOf(user: number): LaunchedToken['author'] {
  return { pkh: ownerOf(user), skh: hashOf(`stake ${user}`, 56), address: addressOf(user) };
}

export function pick<T>(items: readonly T[], index: number): T | undefined {
  return items.length === 0 ? undefined : items[index % items.length];
}

/** Fields that all launches have in common. */
export const LAUNCHED = {
  aNum: String(DEFAULT_CURVE.aNum),
  bNum: String(DEFAULT_CURVE.bNum),
  supply: String(SUPPLY),
  thresholdLovelace: String(THRESHOLD),
  executor: hashOf('executor', 56),
  seed: null,
  name: 'tok',
  ticker: 'TOK',
  logoCID: 'bafkreitest',
  description: 'A token.',
  launchType: 0,
  socials: { twitter: '', telegram: '', discord: 'https://example.org/d', website: '' },
};
