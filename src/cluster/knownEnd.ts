/**
 * The end of the log, from the answers of NATS and of the other nodes. Servers that lost the end of
 * a log answer with an earlier end, while a living node still has the later entries: until a new
 * epoch begins, a node must not treat a position beyond that end as gone.
 */
import type { Node } from '../engine/node/node.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { Position } from '../engine/runtime/position.ts';
import type { Announcements } from './nats/announcements.ts';
import type { NatsLink } from './nats/connection.ts';

interface KnownEndDeps {
  readonly name: string;
  readonly node: Pick<Node, 'logEnd'>;
  readonly link: Pick<NatsLink, 'onStatus'>;
  readonly announcements: Pick<Announcements, 'receivedSince' | 'refusedMs'>;
  readonly leaseMs: number;
  readonly clock: Clock;
}

/**
 * A living node announces three times within a lease, as soon as NATS stores that: with a short
 * lease its servers may need longer to elect a leader. A lease later the node is counted out.
 */
const LEASES = 2;

export class KnownEnd {
  readonly #deps: KnownEndDeps;
  /** When NATS last came back after an outage, by the monotonic clock. */
  #reconnectedMs = Number.NEGATIVE_INFINITY;

  constructor(deps: KnownEndDeps) {
    this.#deps = deps;
    deps.link.onStatus(({ status }) => {
      if (status === 'reconnected') this.#reconnectedMs = deps.clock.monotonicMs();
    });
  }

  /**
   * null: unknown, because the other nodes were not heard for long enough after an outage, or
   * because another node has more entries of this epoch than the log. Rejects where the log does
   * not answer.
   */
  async ask(): Promise<Position | null> {
    const { name, node, announcements, clock, leaseMs } = this.#deps;
    const sinceMs = clock.monotonicMs() - LEASES * leaseMs;
    // Read before the end: every position in them was in the log before.
    const others = announcements.receivedSince(name, sinceMs);
    const end = await node.logEnd();
    // NATS may have been away while it was asked.
    const awayMs = Math.max(this.#reconnectedMs, announcements.refusedMs);
    if (end === null || awayMs > sinceMs) return null;
    return others.some(({ epoch, seq }) => epoch === end.epoch && seq > end.seq) ? null : end;
  }
}
