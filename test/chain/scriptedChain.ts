/** A chain whose events a test writes, and a follower that appends them to a world's log. */
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { Follower } from '../../src/chain/follower.ts';
import type { Block, ChainEvent, ChainSource, ChainStream, Point } from '../../src/chain/port.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { DEVNET_POLICY } from '../support/chainPolicies.ts';
import type { FoldWorld } from '../support/foldWorld.ts';
import type { Scope } from '../support/server.ts';
import { until } from '../support/until.ts';
import { hashOf, START_MS } from './foldState.ts';
import { RULES } from './recogniseWorld.ts';

export class ScriptedChain implements ChainSource {
  readonly #events: ChainEvent[] = [];
  readonly #blocks: Block[] = [];
  #wake: (() => void) | null = null;
  #isClosed = false;
  #made = 0;
  nowMs = START_MS;

  /** Blocks that the follower knows are not told again. */
  async open(points: readonly Point[]): Promise<ChainStream | null> {
    this.#isClosed = false;
    const known = this.#blocks.findLastIndex(({ point }) =>
      points.some(({ hash }) => hash === point.hash),
    );
    if (points.length > 0 && known < 0) return null;
    const found = this.#blocks[known];
    const back = found === undefined ? [] : [{ kind: 'back', point: found.point } as const];
    const after = this.#blocks
      .slice(known + 1)
      .map((block) => ({ kind: 'forward', block }) as const);
    const told = this.#events.splice(0).filter(({ kind }) => kind === 'mempool');
    this.#events.push(...back, ...after, ...told);
    return {
      next: () => this.#next(),
      close: async () => {
        this.#isClosed = true;
        this.#wake?.();
      },
    };
  }

  /** Waits until the events are in the log and applied, or their reader has gone. */
  async told(): Promise<void> {
    const isRead = () => this.#events.length === 0 && this.#wake !== null;
    await until('all events are read', () => isRead() || this.#isClosed);
  }

  block(...transactions: Transaction[]): Promise<void> {
    this.#made += 1;
    const height = this.#blocks.length + 1;
    const slot = (this.#blocks.at(-1)?.point.slot ?? 0) + 20;
    const hash = hashOf(`scripted ${this.#made}`);
    const timeMs = START_MS + slot * 1000;
    const block = { point: { slot, hash }, height, timeMs, transactions };
    this.#blocks.push(block);
    return this.#tell({ kind: 'forward', block });
  }

  back(blocks: number): Promise<void> {
    this.#blocks.splice(-blocks);
    return this.#tell({ kind: 'back', point: this.#blocks.at(-1)?.point ?? null });
  }

  waits(added: readonly Transaction[], removed: readonly Transaction[] = []): Promise<void> {
    const gone = removed.map(({ id }) => ({ id, reason: 'EXPIRED' }) as const);
    return this.#tell({ kind: 'mempool', whole: false, added, removed: gone });
  }

  whole(...added: Transaction[]): Promise<void> {
    return this.#tell({ kind: 'mempool', whole: true, added, removed: [] });
  }

  #tell(event: ChainEvent): Promise<void> {
    this.nowMs += 3_000;
    this.#events.push(event);
    this.#wake?.();
    return this.told();
  }

  async #next(): Promise<ChainEvent | null> {
    while (this.#events.length === 0 && !this.#isClosed) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
      this.#wake = null;
    }
    return this.#isClosed ? null : (this.#events.shift() ?? null);
  }
}

/** Follows until the scope ends, or `stop` is called. */
export async function follow(
  scope: Scope,
  world: FoldWorld,
  chain: ScriptedChain,
  faults: unknown[],
): Promise<() => Promise<void>> {
  const { node, writer, log } = world;
  const clock = { ...systemClock, nowMs: () => chain.nowMs };
  const place = { source: chain, node, writer, log, rules: RULES, rng: seededRng(3), clock };
  const follower = new Follower(
    { ...place, policy: DEVNET_POLICY, tip: () => null },
    {
      nodeBehind: () => {},
      chainFollowed: () => {},
      chainRolledBack: () => {},
      orderRefused: () => undefined,
      followerFailed: (error) => void faults.push(error),
    },
  );
  scope.after(() => follower.stop());
  const opened = follower.start();
  // A stream begins with all pending transactions.
  void chain.whole();
  await opened;
  return () => follower.stop();
}
