/**
 * Who leads, as this node sees it in the lease: for readiness, so that a market in which no node
 * leads says so. One request to NATS for each lease.
 */
import type { Clock } from '../engine/runtime/clock.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';

export interface LeaderSeenDeps {
  /** The name in the lease; null: nobody holds it. */
  holder(): Promise<{ readonly node: string } | null | 'unreachable'>;
  readonly leaseMs: number;
  readonly clock: Clock;
}

export class LeaderSeen implements Service {
  readonly name = 'who leads';
  readonly #deps: LeaderSeenDeps;
  readonly #looking: Task;
  #leader: string | null = null;
  #absentSinceMs: number | null = null;

  constructor(deps: LeaderSeenDeps) {
    this.#deps = deps;
    this.#looking = new Task({ clock: deps.clock });
  }

  /** null: no node, as of the last look. */
  get leader(): string | null {
    return this.#leader;
  }

  /** How long no node has led; 0 while one does. What NATS does not answer counts as no change. */
  get absentMs(): number {
    const since = this.#absentSinceMs;
    return since === null ? 0 : this.#deps.clock.monotonicMs() - since;
  }

  async start(): Promise<void> {
    await this.#look();
    this.#looking.start(async () => {
      while (await this.#looking.pause(this.#deps.leaseMs)) await this.#look();
    });
  }

  stop(): Promise<void> {
    return this.#looking.stop();
  }

  async #look(): Promise<void> {
    const { holder, clock } = this.#deps;
    const found = await holder();
    if (found === 'unreachable') return;
    this.#leader = found?.node ?? null;
    if (found !== null) this.#absentSinceMs = null;
    else this.#absentSinceMs ??= clock.monotonicMs();
  }
}
