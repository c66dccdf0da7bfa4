/**
 * The state of each living node, in the lease's bucket: when stream and leader are both lost, the
 * node with the highest (term, seq) opens the new epoch. An announcement expires after a lease.
 *
 * Each node also listens to the announcements of the others, which costs no requests.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import type { MarketIdentity } from '../../engine/runtime/marketIdentity.ts';
import { epochNumber } from '../../engine/runtime/position.ts';
import type { Bucket } from './bucket.ts';

export interface Announcement {
  readonly node: string;
  readonly epoch: string;
  readonly term: number;
  readonly seq: number;
  /** It never leads, and so opens no epoch. */
  readonly reader?: true;
  /** Nodes of an older version announce neither this nor the settings. */
  readonly market?: MarketIdentity;
  readonly leaseMs?: number;
  readonly replicas?: number;
}

interface Heard {
  readonly announcement: Announcement;
  readonly atMs: number;
}

/** Bounds the names in memory: a node without NODE_NAME has a new name at each start. */
const MAX_HEARD = 1_000;
const PREFIX = 'node';
const KEY_SAFE = /^[A-Za-z0-9_=-]+$/;

export class Announcements {
  readonly #bucket: Bucket;
  readonly #clock: Clock;
  readonly #heard = new Map<string, Heard>();
  #refusedMs = Number.NEGATIVE_INFINITY;

  constructor(bucket: Bucket, clock: Clock) {
    this.#bucket = bucket;
    this.#clock = clock;
  }

  /** When an announcement of this node was last not stored, by the monotonic clock. */
  get refusedMs(): number {
    return this.#refusedMs;
  }

  /** Fills `heard` from now on. */
  listen(): void {
    this.#bucket.watch(`${PREFIX}.*`, (text) => this.#hear(text, this.#clock.monotonicMs()));
  }

  /** Repeat it every third of the lease. false: NATS did not store it. */
  async announce(own: Announcement): Promise<boolean> {
    const outcome = await this.#bucket.put(keyOf(own.node), JSON.stringify(own));
    const isStored = outcome.write === 'done';
    if (!isStored) this.#refusedMs = this.#clock.monotonicMs();
    return isStored;
  }

  /** At a graceful stop, so that no node waits for this one. */
  async withdraw(node: string): Promise<void> {
    await this.#bucket.remove(keyOf(node));
  }

  async others(node: string): Promise<readonly Announcement[] | 'unreachable'> {
    const texts = await this.#bucket.all(PREFIX);
    if (texts === 'unreachable') return texts;
    const all = texts.map((text) => this.#bucket.messages.read('announcement', text));
    return all.filter((other) => other !== null).filter((other) => other.node !== node);
  }

  /** Announcements of others since `sinceMs`, without a request; some may be missing. */
  receivedSince(node: string, sinceMs: number): readonly Announcement[] {
    for (const [name, { atMs }] of this.#heard) if (atMs < sinceMs) this.#heard.delete(name);
    const all = [...this.#heard.values()].map(({ announcement }) => announcement);
    return all.filter((other) => other.node !== node);
  }

  #hear(text: string, atMs: number): void {
    // Empty: a removal.
    const announcement = text === '' ? null : this.#bucket.messages.read('announcement', text);
    if (announcement === null) return;
    const { node } = announcement;
    if (!this.#heard.has(node) && this.#heard.size >= MAX_HEARD) return;
    this.#heard.set(node, { announcement, atMs });
  }
}

/**
 * Whether no living node has more than `own`, which holds the lease. If the announcements are
 * equal, the lease decides: another one may be alive and unable to lead.
 */
export function hasNewestState(
  own: Pick<Announcement, 'epoch' | 'term' | 'seq'>,
  others: readonly Announcement[],
): boolean {
  return others.every((other) => {
    if (other.reader === true) return true;
    const [mine, theirs] = [epochNumber(own.epoch), epochNumber(other.epoch)];
    if (mine !== theirs) return mine > theirs;
    if (own.term !== other.term) return own.term > other.term;
    return own.seq >= other.seq;
  });
}

/** A node's name as a key; in hex where the name has characters that keys must not have. */
function keyOf(node: string): string {
  return `${PREFIX}.${KEY_SAFE.test(node) ? node : `x=${Buffer.from(node).toString('hex')}`}`;
}
