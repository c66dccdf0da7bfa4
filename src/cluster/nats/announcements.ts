/**
 * What each living node has, in the lease's bucket: when stream and leader are both lost, the one
 * with the highest (term, seq) opens the new epoch. A node that says nothing for a lease vanishes.
 */
import { epochNumber } from '../../engine/runtime/position.ts';
import type { Bucket } from './bucket.ts';

export interface Announcement {
  readonly node: string;
  readonly epoch: string;
  readonly term: number;
  readonly seq: number;
}

const PREFIX = 'node';
const KEY_SAFE = /^[A-Za-z0-9_=-]+$/;

export class Announcements {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** To be repeated every third of the lease; false: NATS did not take it. */
  async announce(own: Announcement): Promise<boolean> {
    const outcome = await this.#bucket.put(keyOf(own.node), JSON.stringify(own));
    return outcome.write === 'done';
  }

  /** A graceful stop: nobody waits for this node. */
  async withdraw(node: string): Promise<void> {
    await this.#bucket.remove(keyOf(node));
  }

  async others(node: string): Promise<readonly Announcement[] | 'unreachable'> {
    const texts = await this.#bucket.all(PREFIX);
    if (texts === 'unreachable') return texts;
    // trust: written by `announce` of a node of this market
    const all = texts.map((text) => JSON.parse(text) as Announcement);
    return all.filter((other) => other.node !== node);
  }
}

/** Whether `own` is the one to open an epoch; equals are told apart by name. */
export function isForemost(own: Announcement, others: readonly Announcement[]): boolean {
  return others.every((other) => {
    const [mine, theirs] = [epochNumber(own.epoch), epochNumber(other.epoch)];
    if (mine !== theirs) return mine > theirs;
    if (own.term !== other.term) return own.term > other.term;
    if (own.seq !== other.seq) return own.seq > other.seq;
    return own.node < other.node;
  });
}

/** A node's name as a key: its bytes in hex where it has other characters. */
function keyOf(node: string): string {
  return `${PREFIX}.${KEY_SAFE.test(node) ? node : `x=${Buffer.from(node).toString('hex')}`}`;
}
