/** A chain made elsewhere: a test extends it, forks it and decides how much of it is reported. */
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { Follower, type FollowerDeps } from '../../src/chain/follower.ts';
import type { ChainPolicy } from '../../src/chain/policy.ts';
import type {
  Block,
  ChainEvent,
  ChainSource,
  ChainStream,
  ChainTip,
  Point,
} from '../../src/chain/port.ts';
import { type Clock, systemClock } from '../../src/engine/runtime/clock.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { PUBLIC_POLICY } from '../support/chainPolicies.ts';
import type { FoldWorld } from '../support/foldWorld.ts';
import type { Scope } from '../support/server.ts';
import { hashOf, START_MS } from './foldState.ts';
import { RULES } from './recogniseWorld.ts';

export const SLOTS_APART = 20;
/** A follower's waits are no longer than this; `nowMs` reports the ends of those waits. */
const MAX_WAIT_MS = 20;

export class MadeElsewhere implements ChainSource {
  readonly blocks: Block[] = [];
  /** Blocks above this height are not told yet. */
  toldTo = Number.POSITIVE_INFINITY;
  /** The time by which a minute ends. */
  nowMs = START_MS;
  /** How often a follower set out to wait. */
  waits = 0;
  opened = 0;
  closed = 0;
  /** The highest block that anybody was told. */
  told = 0;
  /** `open` waits for this. */
  reached: Promise<void> = Promise.resolve();
  /** The whole mempool, whatever blocks are missing. null: it is not reported. */
  #waiting: readonly Transaction[] | null = null;
  readonly #streams = new Set<() => void>();
  /** Wake-ups of readers that have read every event. */
  readonly #idle = new Set<() => void>();
  readonly #name: string;
  #made = 0;

  /** Chains of another name share no block. */
  constructor(name = 'elsewhere') {
    this.#name = name;
  }

  readonly clock: Clock = {
    ...systemClock,
    nowMs: () => this.nowMs,
    after: (delayMs, run) => {
      this.waits += 1;
      return systemClock.after(Math.min(delayMs, MAX_WAIT_MS), run);
    },
  };

  get tip(): ChainTip | null {
    const newest = this.blocks.at(-1);
    return newest === undefined ? null : { ...newest.point, height: newest.height };
  }

  /** Number of open streams. */
  get streams(): number {
    return this.#streams.size;
  }

  /** There is a reader, and all readers have read everything. */
  get isHeard(): boolean {
    return this.#streams.size > 0 && this.#idle.size === this.#streams.size;
  }

  block(transactions: readonly Transaction[] = [], slotsApart = SLOTS_APART): Block {
    this.#made += 1;
    const before = this.blocks.at(-1);
    const slot = (before?.point.slot ?? 0) + slotsApart;
    const point = { slot, hash: hashOf(`${this.#name} ${this.#made}`) };
    const height = (before?.height ?? 0) + 1;
    const block = { point, height, timeMs: START_MS + slot * 1000, transactions };
    this.blocks.push(block);
    this.#wake();
    return block;
  }

  empty(count: number): void {
    for (let made = 0; made < count; made += 1) this.block();
  }

  /** Blocks that were cut off, on top of what there is. */
  again(...blocks: readonly Block[]): void {
    this.blocks.push(...blocks);
    this.#wake();
  }

  wait(...waiting: Transaction[]): void {
    this.#waiting = waiting;
    this.#wake();
  }

  /** Takes blocks away, down to `height`. */
  cut(height: number): void {
    const kept = this.blocks.findLastIndex((block) => block.height <= height);
    this.blocks.splice(kept + 1);
    this.#wake();
  }

  tellTo(height: number): void {
    this.toldTo = height;
    this.#wake();
  }

  async open(points: readonly Point[]): Promise<ChainStream | null> {
    this.opened += 1;
    await this.reached;
    const known = this.blocks.findLast(({ point }) => points.some((p) => p.hash === point.hash));
    if (points.length > 0 && known === undefined) return null;
    return this.#stream(known ?? null);
  }

  #stream(from: Block | null): ChainStream {
    /** Blocks that the reader has. */
    const told: Block[] = from === null ? [] : this.blocks.slice(0, this.blocks.indexOf(from) + 1);
    let [isFirst, isClosed] = [true, false];
    let toldWaiting: readonly Transaction[] | null = null;
    let wake = () => {};
    const wakeUp = () => {
      this.#idle.delete(wakeUp);
      wake();
    };
    this.#streams.add(wakeUp);
    const event = (): ChainEvent | null => {
      const shared = this.#shared(told);
      if (isFirst || shared < told.length) {
        isFirst = false;
        told.splice(shared);
        return { kind: 'back', point: told.at(-1)?.point ?? null };
      }
      if (this.#waiting !== toldWaiting) {
        toldWaiting = this.#waiting;
        return { kind: 'mempool', whole: true, added: toldWaiting ?? [], removed: [] };
      }
      const block = this.blocks[told.length];
      if (block === undefined || block.height > this.toldTo) return null;
      told.push(block);
      this.told = Math.max(this.told, block.height);
      return { kind: 'forward', block };
    };
    return {
      next: async () => {
        for (;;) {
          const next = isClosed ? null : event();
          if (next !== null || isClosed) return next;
          this.#idle.add(wakeUp);
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          this.#idle.delete(wakeUp);
        }
      },
      close: async () => {
        if (!isClosed) this.closed += 1;
        isClosed = true;
        this.#streams.delete(wakeUp);
        this.#idle.delete(wakeUp);
        wake();
      },
    };
  }

  /** How many of the blocks that a reader has are still on the chain. */
  #shared(told: readonly Block[]): number {
    let count = told.length;
    while (count > 0 && this.blocks[count - 1] !== told[count - 1]) count -= 1;
    return count;
  }

  #wake(): void {
    for (const wake of this.#streams) wake();
  }
}

export interface Following {
  readonly follower: Follower;
  readonly faults: unknown[];
  /** Heights gone back to, and of the block that was the newest. */
  readonly rolledBack: (readonly [to: number, from: number])[];
  /** Heights that the node was at while the log had more, and of the log. */
  readonly late: (readonly [own: number, logged: number])[];
}

export type FollowingChange = Partial<ChainPolicy & Pick<FollowerDeps, 'tip' | 'isShared'>>;

/** Follows as a public network is followed, but for `change`, until the scope ends. */
export function followFrom(
  scope: Scope,
  { node, writer, log }: FoldWorld,
  source: MadeElsewhere,
  { tip = () => source.tip, isShared = false, ...change }: FollowingChange = {},
): Following {
  const faults: unknown[] = [];
  const rolledBack: [number, number][] = [];
  const late: [number, number][] = [];
  const { clock } = source;
  const policy = { ...PUBLIC_POLICY, ...change };
  const place = { source, node, writer, log, rules: RULES, rng: seededRng(3), clock };
  const follower = new Follower(
    { ...place, policy, tip, isShared },
    {
      nodeBehind: (own, logged) => void late.push([own, logged]),
      chainFollowed: () => {},
      chainRolledBack: (to, blocks) => void rolledBack.push([to, to + blocks]),
      orderRefused: () => undefined,
      followerFailed: (error) => void faults.push(error),
    },
  );
  scope.after(() => follower.stop());
  follower.start().catch((error: unknown) => void faults.push(error));
  return { follower, faults, rolledBack, late };
}
