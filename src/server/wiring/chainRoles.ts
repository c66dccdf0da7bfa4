/**
 * The work on the chain in each role. A single node does all the work. Among several, the leader
 * writes the chain of its Cardano node into the log and fills orders; the others read blocks from
 * the log and pending transactions from their own Cardano node. Each submits to and looks up at its
 * own.
 *
 * A leader steps down if its Cardano node is away or behind for long. A node that does not reach
 * its Cardano node does not lead.
 */
import { chainTip } from '../../chain/chainPoints.ts';
import { Executor, type ExecutorDeps } from '../../chain/executor/executor.ts';
import { FundingUtxos } from '../../chain/executor/fundingUtxos.ts';
import { LeaderEligibility } from '../../chain/nodeLag.ts';
import type { NodeLink } from '../../chain/nodeLink.ts';
import type { ChainPolicy } from '../../chain/policy.ts';
import type { ChainTip } from '../../chain/port.ts';
import { type FollowingTask, SupervisedFollower } from '../../chain/supervisedFollower.ts';
import type { SyncMeter } from '../../chain/syncMeter.ts';
import type { ActiveRole, Role } from '../../cluster/leadership.ts';
import type { LogWriter } from '../../engine/log/writer.ts';
import type { Node } from '../../engine/node/node.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import { type Clock, pause, sleepUnless } from '../../engine/runtime/clock.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Reasons } from '../../engine/runtime/reasons.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { SnapshotTaker } from '../../engine/snapshots/taker.ts';
import type { AppDeps } from './appDeps.ts';
import type { Cluster } from './cluster.ts';
import { joinElection, type RoleState } from './election.ts';

/** Follows the chain; a new one replaces it when it has ended. */
interface ChainFollower extends FollowingTask {
  readonly waitsForNode: boolean;
}

/** The same on a node that does not lead. */
interface ChainListener extends FollowingTask {
  readonly isOpen: boolean;
}

type Ended = (error: unknown) => void;

export interface ChainRoleDeps {
  readonly policy: ChainPolicy;
  readonly link: NodeLink;
  /** Tip of our Cardano node; null: unknown. */
  readonly tip: () => ChainTip | null;
  readonly meter: SyncMeter;
  follow(writer: LogWriter, ended: Ended): ChainFollower;
  /** Adds the mempool of our Cardano node on a node that does not lead. */
  feedMempool(ended: Ended): ChainListener;
  /** null: this node fills no orders. */
  execute(): Service | null;
}

export interface ChainWork {
  readonly roles: RoleState | null;
  isStale(): boolean;
  readonly services: readonly Service[];
}

/** Longest pause between two checks of the leader's Cardano node. */
const LOOK_MS = 1_000;
/** A follower that waits for an entry lost with the log does not stop by itself. */
const STOP_MS = 2_000;

export function singleNodeWork(
  { link, meter, follow, execute }: ChainRoleDeps,
  writer: LogWriter,
  { clock }: AppDeps,
  reasons: Reasons,
  events: Events,
): ChainWork {
  const make = (ended: Ended) => follow(writer, ended);
  const kept = new SupervisedFollower({ make, meter, clock }, events);
  const executor = execute();
  reasons.watch('CHAIN_NOT_FOLLOWED', () => notFollowed(kept));
  return {
    roles: null,
    isStale: () => !link.isUp || kept.interruption !== null,
    services: executor === null ? [kept] : [kept, executor],
  };
}

export function clusterWork(
  parts: ChainRoleDeps,
  cluster: Cluster,
  appDeps: AppDeps,
  node: Node,
  reasons: Reasons,
  events: Events,
): ChainWork {
  const role = new ChainRole(parts, cluster, node, appDeps, events);
  reasons.watch('CHAIN_NOT_FOLLOWED', () => notFollowed(role));
  reasons.watch('NODE_BEHIND', () => (role.waitsForNode ? NODE_BEHIND : null));
  const { timeEntries } = parts.policy;
  const {
    state: roles,
    isStale,
    services,
  } = joinElection(role, cluster, appDeps, node, timeEntries, reasons, events);
  // All nodes follow one devnet: if this node cannot reach it, neither can the leader.
  const isDevnetAway = () => parts.policy.believesShorter && !parts.link.isUp;
  const stale = () => isStale() || (roles.leads() ? !role.isWell : isDevnetAway());
  return { roles, isStale: stale, services };
}

const NODE_BEHIND =
  'the log has blocks that our Cardano node does not have yet: nothing new is written until it ' +
  'has caught up; see that node';

function notFollowed({ interruption }: { readonly interruption: string | null }): string | null {
  return interruption === null ? null : `the chain is not followed: ${interruption}; tried again`;
}

class ChainRole implements Role {
  readonly #parts: ChainRoleDeps;
  readonly #cluster: Cluster;
  readonly #node: Node;
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #events: Events;
  readonly #eligibility: LeaderEligibility;
  #follower: ChainFollower | null = null;
  #listener: ChainListener | null = null;
  #kept: SupervisedFollower | null = null;

  constructor(
    parts: ChainRoleDeps,
    cluster: Cluster,
    node: Node,
    { clock, settings }: AppDeps,
    events: Events,
  ) {
    this.#parts = parts;
    this.#cluster = cluster;
    this.#node = node;
    this.#clock = clock;
    this.#patienceMs = settings.OGMIOS_PATIENCE_MS;
    this.#events = events;
    this.#eligibility = new LeaderEligibility(() => chainTip(node.fold.store)?.height ?? 0);
  }

  /** Our Cardano node is connected, on our chain, and lacks a block or two at most. */
  isEligible(): boolean {
    const { policy, link, tip } = this.#parts;
    if (this.#listener?.isOpen !== true) return false;
    // All nodes share one devnet, so its chain counts even if it is shorter or empty.
    return policy.believesShorter ? link.isUp : this.#eligibility.isEligible(tip());
  }

  /** Our Cardano node is connected and not behind the log. */
  get isWell(): boolean {
    return this.#parts.link.isUp && !this.waitsForNode && this.interruption === null;
  }

  get waitsForNode(): boolean {
    return this.#follower?.waitsForNode === true;
  }

  /** As of its follower. */
  get interruption(): string | null {
    return this.#kept?.interruption ?? null;
  }

  async lead(writer: LogWriter, failed: (error: unknown) => void): Promise<ActiveRole> {
    const ended = new AbortController();
    const kept = this.#keep((end) => {
      // Another leader writes the log now.
      const over = (error: unknown) =>
        isFault(error, 'writerConflict') ? failed(error) : end(error);
      const follower = this.#parts.follow(writer, over);
      this.#follower = follower;
      return { start: () => follower.start().catch(over), stop: () => follower.stop() };
    });
    const executor = this.#parts.execute();
    await executor?.start();
    const deps = { ...this.#cluster, node: this.#node, clock: this.#clock };
    const limits = { every: this.#cluster.every, trims: true };
    const snapshots = new SnapshotTaker(deps, limits, this.#events);
    snapshots.start();
    const watching = this.#untilAway(ended.signal, failed);
    return {
      stop: async () => {
        ended.abort();
        const following = sleepUnless(this.#clock, STOP_MS, kept.stop());
        await Promise.all([following, executor?.stop(), snapshots.stop(), watching]);
        this.#follower = null;
      },
    };
  }

  async follow(): Promise<ActiveRole> {
    return this.#keep((end) => {
      const listener = this.#parts.feedMempool(end);
      this.#listener = listener;
      return listener;
    });
  }

  #keep(make: (ended: Ended) => FollowingTask): SupervisedFollower {
    const { meter } = this.#parts;
    const kept = new SupervisedFollower({ make, meter, clock: this.#clock }, this.#events);
    this.#kept = kept;
    kept.start();
    return kept;
  }

  async #untilAway(signal: AbortSignal, failed: (error: unknown) => void): Promise<void> {
    const clock = this.#clock;
    const patienceMs = this.#patienceMs;
    let wellMs = clock.monotonicMs();
    while (!signal.aborted) {
      const nowMs = clock.monotonicMs();
      if (this.isWell) wellMs = nowMs;
      if (nowMs - wellMs > patienceMs) {
        this.#eligibility.steppedDown();
        this.#events.nodeAwayTooLong(patienceMs / 1000);
        return failed(new Error('its Cardano node is away or behind'));
      }
      await pause(clock, Math.min(LOOK_MS, patienceMs), signal);
    }
  }
}

/** Starts the executor when `deps` returns something: the node has caught up with its chain. */
export function startExecutorWhenReady(
  node: Node,
  deps: () => Omit<ExecutorDeps, 'funding' | 'onApplied'> | null,
  events: Events,
): Service {
  let executor: Executor | null = null;
  let unlisten = () => {};
  const tryStart = () => {
    const ready = deps();
    if (ready === null || executor !== null) return;
    unlisten();
    const funding = new FundingUtxos(ready.utxos);
    const onApplied: ExecutorDeps['onApplied'] = (listener) => node.onApplied(listener);
    executor = new Executor({ ...ready, funding, onApplied }, events);
    executor.start();
  };
  return {
    name: 'executor',
    start: () => {
      unlisten = node.onApplied(tryStart);
      tryStart();
    },
    stop: async () => {
      unlisten();
      await executor?.stop();
    },
  };
}
