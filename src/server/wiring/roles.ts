/**
 * What works on the chain: all of it on the only node; among several, whoever leads follows the
 * chain, fills orders and is asked by the others, whose ledgers copy what the log says.
 */

import type { Counter, Devnet } from '../../chain/devnet.ts';
import { Copying, type MakeReplica } from '../../cluster/copying.ts';
import { answerCall, LeaderCaller, type LeaderWork } from '../../cluster/leaderCalls.ts';
import type { Crew, Duty } from '../../cluster/leadership.ts';
import { ask, serve } from '../../cluster/nats/requests.ts';
import { Snapshots } from '../../cluster/snapshots.ts';
import { LedgerReplica } from '../../devnet/chainReplica.ts';
import type { EmulatedChain } from '../../devnet/emulated.ts';
import { submitDurably, untilShown, untilWritten } from '../../devnet/submitDurably.ts';
import type { Node } from '../../engine/actors/node.ts';
import type { LogWriter } from '../../engine/log/writer.ts';
import { type Clock, sleepUnless } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Service } from '../../engine/runtime/service.ts';
import type { ChainParts } from './chain.ts';
import { type Cluster, leaderSubject } from './cluster.ts';
import { type Roles, takingTurns } from './turns.ts';
import type { World } from './world.ts';

export interface Work {
  readonly submitter: Counter;
  readonly devnet: Devnet;
  readonly roles: Roles | null;
  stale(): boolean;
  readonly services: readonly Service[];
}

/** A follower that waits for an entry which was lost with the log does not stop by itself. */
const STOP_MS = 2_000;

export function alone(
  { ledger, follow, execute }: ChainParts,
  writer: LogWriter,
  node: Node,
  clock: Clock,
): Work {
  const follower = follow(writer, () => {});
  const executor = execute();
  return {
    submitter: ledger,
    devnet: devnetOf(ledger, node, clock),
    roles: null,
    stale: () => follower.failed,
    services: [
      { name: 'follower', start: () => follower.start(), stop: () => follower.stop() },
      { name: 'executor', start: () => executor.start(), stop: () => executor.stop() },
    ],
  };
}

export function among(
  parts: ChainParts,
  cluster: Cluster,
  world: World,
  node: Node,
  events: Events,
): Work {
  const { clock, settings } = world;
  const crew = new ChainCrew(parts, cluster, node, clock, events);
  const { roles, isStale, services } = takingTurns(crew, cluster, world, node, events);
  const subject = leaderSubject(settings.MARKET_NAME);
  const caller = new LeaderCaller({
    work: () => crew.work,
    ask: (bytes) => ask(cluster.link, subject, bytes),
    reached: (seq, givenUp) => node.reached(seq, givenUp),
    clock,
  });
  const stale = () => isStale() || crew.copyIsOld;
  return { submitter: caller, devnet: caller, roles, stale, services };
}

/** What this node does with the chain in each role. */
class ChainCrew implements Crew {
  /** Of the leader. */
  work: LeaderWork | null = null;
  readonly #parts: ChainParts;
  readonly #cluster: Cluster;
  readonly #node: Node;
  readonly #clock: Clock;
  readonly #events: Events;
  #copying: Copying | null = null;

  constructor(parts: ChainParts, cluster: Cluster, node: Node, clock: Clock, events: Events) {
    this.#parts = parts;
    this.#cluster = cluster;
    this.#node = node;
    this.#clock = clock;
    this.#events = events;
  }

  get copyIsOld(): boolean {
    return this.#copying?.failed === true;
  }

  async lead(writer: LogWriter, failed: (error: unknown) => void): Promise<Duty> {
    const copy = this.#copy(this.#events.ledgerDiverged);
    await copy.start();
    await copy.stop();
    this.#copying = null;
    const clock = this.#clock;
    const duty = await leadChain(this.#parts, this.#cluster, this.#node, clock, writer, failed);
    this.work = duty.work;
    const { ledger } = this.#parts;
    const place = { ...this.#cluster, node: this.#node, ledger, clock };
    const snapshots = new Snapshots(place, this.#events);
    snapshots.start();
    return {
      stop: async () => {
        this.work = null;
        await Promise.all([snapshots.stop(), duty.stop()]);
      },
    };
  }

  async follow(): Promise<Duty> {
    const make: MakeReplica = (failed) => this.#copy(failed);
    const copying = new Copying(make, () => this.#renew(), this.#clock, this.#events);
    this.#copying = copying;
    await copying.start();
    return copying;
  }

  #copy(failed: (error: unknown) => void): LedgerReplica {
    const { log } = this.#cluster;
    const { ledger } = this.#parts;
    const ledgerStalled = (message: string) => {
      this.#events.ledgerStalled(message);
      this.#cluster.disk.refused(message);
    };
    const place = { ledger, node: this.#node, log, clock: this.#clock };
    return new LedgerReplica(place, { ledgerStalled, ledgerDiverged: failed });
  }

  async #renew(): Promise<void> {
    const path = await this.#cluster.joining.takeLedger();
    if (path !== null) await this.#parts.ledger.replaceBy(path);
  }
}

async function leadChain(
  { ledger, follow, execute }: ChainParts,
  { link, market }: Cluster,
  node: Node,
  clock: Clock,
  writer: LogWriter,
  failed: (error: unknown) => void,
): Promise<Duty & { readonly work: LeaderWork }> {
  const undo: (() => unknown)[] = [() => ledger.follow()];
  const stop = () => undoAll(undo.toReversed());
  try {
    await ledger.lead();
    const follower = follow(writer, failed);
    undo.push(() => sleepUnless(clock, STOP_MS, follower.stop()));
    await follower.start();
    const executor = execute();
    executor.start();
    undo.push(() => executor.stop());
    const work: LeaderWork = {
      ...devnetOf(ledger, node, clock),
      submit: (bytes) => submitDurably(ledger, node, bytes, clock),
      async faucet(address, lovelace) {
        return untilWritten(await ledger.faucet(address, lovelace), ledger, node, clock);
      },
    };
    const desk = serve(link, leaderSubject(market), (bytes) =>
      answerCall(work, bytes, () => node.applied().seq),
    );
    undo.push(() => desk.stop());
    return { work, stop };
  } catch (error) {
    // The lease may end before the first entry: then this ledger copies again.
    await stop().catch(() => {});
    throw error;
  }
}

/** Each of them, whatever the others do; rejects with the first fault. */
async function undoAll(steps: readonly (() => unknown)[]): Promise<void> {
  const faults: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}

function devnetOf(ledger: EmulatedChain, node: Node, clock: Clock): Devnet {
  const height = async () => (await ledger.tip()).tip?.height ?? 0;
  const shown = async (found: number) => {
    await untilShown(found, ledger, node, clock);
    return found;
  };
  return {
    faucet: (address, lovelace) => ledger.faucet(address, lovelace),
    async fork(depth, resubmit) {
      const result = await ledger.fork(Math.min(depth, await height()), { resubmit });
      return result instanceof Failure ? result : shown(result.tip?.height ?? 0);
    },
    async mine(blocks) {
      const newest = await ledger.mine(blocks);
      return newest instanceof Failure ? newest : shown(newest?.height ?? 0);
    },
  };
}
