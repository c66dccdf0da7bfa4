/**
 * A run's world and its active disturbances. Each disturbance knows its end, which comes when its
 * time is over, or when all is mended.
 */
import type { Clock } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { Marks } from './marks.ts';
import type { LifeChain, LifeDisks, LifeNats, LifeNode, NodeEnv } from './ports.ts';
import type { LifeSettings } from './schedule.ts';
import type { Timeline } from './timeline.ts';
import { Truths } from './truths.ts';

/** 'leader' and 'follower': of the moment; a number: the nodes in turn. */
export type NodeChoice = 'leader' | 'follower' | number;

interface LifeDeps {
  readonly settings: LifeSettings;
  readonly nats: LifeNats;
  readonly chain: LifeChain;
  readonly disks: LifeDisks;
  readonly nodes: readonly LifeNode[];
  readonly clock: Clock;
  readonly rng: Rng;
  readonly timeline: Timeline;
  /** `isAlone`: without NATS, in its own directory. */
  newNode(name: string, options?: { readonly isAlone?: boolean }): LifeNode;
  /** A node of the version before leads, and appends this many entries of this version. */
  leadAs04(life: Life, version: number, entries: number): Promise<void>;
  /** The rule that is broken first ends the run. */
  broken(invariant: string, why: string): void;
}

/** The methods of a client that steps use. */
interface LifeReader {
  /** Asks again since an earlier position. */
  goBack(): void;
  /** Answers how it continues. */
  stopReading(): () => void;
}

const NATS_FORMS_MS = 4_000;

export class Life {
  readonly deps: LifeDeps;
  /** Includes nodes that joined later. */
  readonly nodes: LifeNode[];
  /** By the clock of the run: when something was disturbed or mended last. */
  disturbedMs = 0;
  /** Until when the log may have no leader, because it lost entries. */
  lossMs = 0;
  /**
   * Number of copies with which all nodes were last restarted, and of the log's losses at that
   * time.
   */
  copies: { readonly count: number; readonly losses: number } | null = null;
  /** The longest lease that a node was started with. */
  leaseMs: number;
  /** The shortest one. */
  shortestLeaseMs: number;
  /** Since when nothing is disturbed but that a replica of NATS lags; null: something is. */
  onlyLagsSinceMs: number | null = null;
  /** Since when nothing is disturbed but that one node must not lead; null: something is. */
  onlyUnfitSinceMs: number | null = null;
  /** By their roles: null where none leads. */
  leaderName: string | null = null;
  /** Nodes that NATS does not reach, or that do not reach it. */
  readonly cut: Marks;
  /** Nodes whose messages are late, doubled or lost, or that were frozen a moment ago. */
  readonly heldUp: Marks;
  /** Nodes that do not reach the chain. */
  readonly chainCut: Marks;
  /** By name, nodes whose clocks were set wrong, and by how much. */
  readonly clocksAhead = new Map<string, number>();
  /** How often the log lost something. */
  losses = 0;
  readonly clients: LifeReader[] = [];
  /** Texts of entries that no node wrote. */
  readonly strangers = new Set<string>();
  /** Traders rest: what clients have is compared. */
  isResting = false;
  /** A directory of another market of the same network; null: none was made yet. */
  foreign: string | null = null;
  readonly truths = new Truths();
  readonly #open = new Set<() => void>();
  /** Disturbances that several steps share, by name. */
  readonly #shared = new Map<string, { holders: number; readonly ends: (() => void)[] }>();
  #joined = 0;
  /** Nodes that a step keeps down. */
  readonly #held = new Map<LifeNode, number>();
  /** Starts and stops that are under way. */
  readonly pending = new Set<Promise<unknown>>();

  constructor(deps: LifeDeps) {
    this.deps = deps;
    this.leaseMs = deps.settings.leaseMs;
    this.shortestLeaseMs = this.leaseMs;
    this.nodes = [...deps.nodes];
    this.cut = new Marks(deps.clock);
    this.heldUp = new Marks(deps.clock);
    this.chainCut = new Marks(deps.clock);
  }

  /** Runs `end` after `forMs`, or when all is mended. */
  during(forMs: number, end: () => void): void {
    const finish = () => {
      if (!this.#open.delete(finish)) return;
      timer.cancel();
      this.disturbed();
      end();
    };
    const timer = this.deps.clock.after(forMs, finish);
    this.#open.add(finish);
    this.disturbed();
  }

  /**
   * As `during`, for what several steps may do to one thing: it lasts until the last of them is
   * over, and then the ends of all run. `what`: the thing and its disturbance.
   */
  share(what: string, forMs: number, end: () => void): void {
    const shared = this.#shared.get(what) ?? { holders: 0, ends: [] };
    this.#shared.set(what, shared);
    shared.holders += 1;
    shared.ends.push(end);
    this.during(forMs, () => {
      shared.holders -= 1;
      if (shared.holders > 0) return;
      this.#shared.delete(what);
      for (const each of shared.ends) each();
    });
  }

  /** `begin` disturbs what keeps one node from leading, and no other. */
  unfit(begin: () => void): void {
    const isAlone = !this.isDisturbed;
    begin();
    if (isAlone) this.onlyUnfitSinceMs = this.deps.clock.monotonicMs();
  }

  get isDisturbed(): boolean {
    return this.#open.size > 0 || this.pending.size > 0;
  }

  /** As `during`, and until then the node is not started again by itself. */
  hold(node: LifeNode, forMs: number, end: () => void): void {
    this.#held.set(node, (this.#held.get(node) ?? 0) + 1);
    this.during(forMs, () => {
      this.#held.set(node, (this.#held.get(node) ?? 1) - 1);
      end();
    });
  }

  isHeld(node: LifeNode): boolean {
    return (this.#held.get(node) ?? 0) > 0;
  }

  /** Ends every disturbance now. */
  mend(): void {
    for (const finish of [...this.#open]) finish();
    this.deps.nats.heal();
    this.deps.chain.heal();
  }

  disturbed(): void {
    this.onlyLagsSinceMs = null;
    this.onlyUnfitSinceMs = null;
    this.disturbedMs = this.deps.clock.monotonicMs();
  }

  /**
   * The log lost something. NATS takes seconds to agree on its own leader; then a candidate waits
   * two leases to be sure of the loss, and leaves the lease to a node with more, twice at worst.
   */
  lost(): void {
    this.losses += 1;
    this.disturbed();
    this.lossMs = this.disturbedMs + NATS_FORMS_MS + 6 * this.leaseMs;
  }

  /** A start or stop, whose failure the timeline has. */
  follow(what: string, done: Promise<unknown>): Promise<void> {
    const settled = done.then(
      () => this.disturbed(),
      (error: unknown) => {
        this.disturbed();
        this.deps.timeline.note('', `${what}: ${messageOf(error)}`);
      },
    );
    this.pending.add(settled);
    return settled.finally(() => this.pending.delete(settled));
  }

  /** Restarts one node after the other, with these settings from now on. */
  roll(env: NodeEnv, forMs: number): void {
    const { nodes, settings, clock } = this.deps;
    const copies = Number(env.NATS_REPLICAS ?? 1);
    if (copies > settings.natsServers) return;
    const leaseMs = Number(env.LEASE_MS ?? this.leaseMs);
    this.leaseMs = Math.max(this.leaseMs, leaseMs);
    this.shortestLeaseMs = Math.min(this.shortestLeaseMs, leaseMs);
    const { losses } = this;
    let restarted = 0;
    const next = async (node: LifeNode) => {
      if (this.isHeld(node)) return;
      if (node.app !== null) await node.stop();
      await node.start(env);
      restarted += 1;
      if (restarted === nodes.length && copies > 1) this.copies = { count: copies, losses };
    };
    for (const [index, node] of nodes.entries()) {
      clock.after((index * forMs) / nodes.length, () => {
        void this.follow(`restart ${node.name}`, next(node));
      });
    }
    this.during(forMs, () => {});
  }

  /**
   * `what` names a position. null: the text equals the text of all others at that position; else
   * the node with another text.
   */
  told(what: string, text: string, node: string): string | null {
    const { losses } = this;
    const isLiving = (name: string) => this.living.some((one) => one.name === name);
    return this.truths.tell(what, text, { node, losses, isLiving });
  }

  /** A name for a node that joins: no other node of the run has it. */
  newName(): string {
    this.#joined += 1;
    return `j${this.deps.nodes.length + this.#joined - 1}`;
  }

  pick(choice: NodeChoice): LifeNode {
    const { nodes } = this.deps;
    const leader = nodes.find(({ name }) => name === this.leaderName);
    const follower = nodes.find((node) => node !== leader && node.app !== null);
    const found = choice === 'leader' ? leader : choice === 'follower' ? follower : undefined;
    const node = found ?? nodes[typeof choice === 'number' ? choice % nodes.length : 0];
    if (node === undefined) throw new Error('a run has nodes');
    return node;
  }

  get living(): readonly LifeNode[] {
    return this.nodes.filter(({ app, isPaused }) => app !== null && !isPaused);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
