/**
 * One topic as a client keeps it that follows the rules of the README and nothing else: its state
 * is right, or it received `Resync`, `recovered: false` or an error to be retried. Anything else
 * throws.
 */
import assert from 'node:assert/strict';
import { epochNumber } from '../../src/engine/runtime/position.ts';
import type { Rng } from '../../src/engine/runtime/rng.ts';
import type { State } from '../e2e/live/states.ts';
import type { StreamSpec } from '../e2e/live/streamSpecs.ts';
import type { Position } from './chart.ts';
import { type Frame, recordOf } from './subscription.ts';

const RECENT = 15;
const REMEMBERED = 100;

/** The state after a frame. */
interface Earlier {
  readonly own: Position;
  /** Up to here a ping said that nothing had changed; the next frame may hold several changes. */
  upTo: number;
  readonly state: State;
}

export class Following {
  readonly requestId: string;
  readonly spec: StreamSpec;
  own: Position | null = null;
  state: State | null = null;
  /** Nothing was heard since the last subscribe. */
  asking = true;
  readonly received = { resync: 0, fresh: 0, recovered: 0, retry: 0 };
  frames = 0;
  #snapshotDue = true;
  readonly #recent: string[] = [];
  readonly #earlier: Earlier[] = [];
  readonly #isForgotten: (position: Position) => boolean;

  /** `isForgotten`: no node and no log has this position any more, so a snapshot may be older. */
  constructor(
    requestId: string,
    spec: StreamSpec,
    isForgotten: (position: Position) => boolean = () => false,
  ) {
    this.requestId = requestId;
    this.spec = spec;
    this.#isForgotten = isForgotten;
  }

  frame(): object {
    this.asking = true;
    const { requestId, own, spec } = this;
    this.#recent.push(`asks since ${own?.epoch}:${own?.seq}`);
    const since = own === null ? {} : { since: own };
    return { requestId, topic: spec.topic, data: spec.data, ...since };
  }

  /** True: it has to be asked for again. */
  hear(frame: Frame): boolean {
    const { event, epoch, seq, prev, snapshot } = frame;
    this.#recent.push(`${event}${snapshot === true ? '!' : ''} ${epoch}:${seq} after ${prev}`);
    if (this.#recent.length > RECENT) this.#recent.shift();
    if (event === 'Error') {
      assert.equal(recordOf(frame.data).retry, true, `${this.what}: ${JSON.stringify(frame.data)}`);
      this.received.retry += 1;
      return true;
    }
    if (event === 'Subscribed') this.#acknowledged(frame);
    else if (this.asking) return false;
    else if (event === 'Resync') {
      this.received.resync += 1;
      this.#snapshotDue = true;
    } else this.#data(frame);
    return false;
  }

  idleUpTo({ epoch, seq }: Position): void {
    if (this.asking || this.#snapshotDue || this.own?.epoch !== epoch) return;
    if (seq <= this.own.seq) return;
    this.own = { epoch, seq };
    const last = this.#earlier.at(-1);
    if (last?.state === this.state && last?.own.epoch === epoch) last.upTo = seq;
  }

  #acknowledged({ data }: Frame): void {
    const { recovered } = recordOf(data);
    this.asking = false;
    if (this.own !== null) this.received[recovered === true ? 'recovered' : 'fresh'] += 1;
    this.#snapshotDue = recovered !== true;
  }

  #data({ event, epoch, seq, prev, snapshot, data }: Frame): void {
    const { own } = this;
    this.frames += 1;
    if (own !== null) {
      const isOlder = epochNumber(epoch) < epochNumber(own.epoch);
      const mayBe = isOlder && snapshot === true && this.#isForgotten(own);
      assert(!isOlder || mayBe, `${this.what}: an older epoch`);
      if (!this.#snapshotDue) assert.equal(epoch, own.epoch, `${this.what}: no Resync`);
    }
    if (snapshot === true) {
      const isBack = own?.epoch === epoch && seq < own.seq;
      assert(!isBack || this.#isForgotten(own), `${this.what}: an older state`);
      this.#snapshotDue = false;
      this.state = this.spec.told(data);
    } else {
      assert(!this.#snapshotDue, `${this.what}: a snapshot was due`);
      assert(own !== null && prev !== null && this.state !== null, this.what);
      if (seq <= own.seq) return;
      assert(prev <= own.seq, `${this.what}: a loss at ${own.seq}`);
      this.state = this.state.next(event, data);
    }
    this.own = { epoch, seq };
    this.#earlier.push({ own: this.own, upTo: seq, state: this.state });
    if (this.#earlier.length > REMEMBERED) this.#earlier.shift();
  }

  /** Returns to the state at an earlier position. false: it remembers none. */
  goBack(rng: Rng): boolean {
    const index = Math.floor(rng.unit() * this.#earlier.length);
    const earlier = this.#earlier[index];
    if (earlier === undefined) return false;
    const { own, upTo } = earlier;
    this.own = rng.unit() < 0.5 ? { ...own, seq: upTo } : own;
    this.state = earlier.state;
    this.#recent.push(`goes back to ${this.own.epoch}:${this.own.seq}`);
    return true;
  }

  /** For the reader of a failure. */
  get what(): string {
    return `${this.spec.topic} own ${this.own?.epoch}:${this.own?.seq}; ${this.#recent.join(', ')}`;
  }
}
