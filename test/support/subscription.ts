/**
 * One LastBar subscription as a client keeps it that follows the rule of protocol.md 6.4 and
 * nothing else: a snapshot replaces state; a frame with seq at or below the own one is ignored; a
 * `prev` above the own seq is a loss. A breach of the contract throws.
 */
import assert from 'node:assert/strict';
import type { Bar, Position } from './chart.ts';
import type { PairIds } from './feeds.ts';
import type { Interval } from './model.ts';

export interface SubscribeParams extends PairIds {
  readonly interval: Interval | 'min3';
  readonly fill?: 'previous';
  readonly price?: 'spot';
  readonly maxHz?: number;
}

export interface Frame {
  readonly requestId: unknown;
  readonly event: string;
  readonly messageType: string;
  readonly data: unknown;
  readonly epoch: string;
  readonly seq: number;
  readonly prev: number | null;
  readonly snapshot?: boolean;
  readonly ts: number;
}

type Record = { readonly [key: string]: unknown };

/** A bar that became final for the client. */
interface FinalSeen {
  readonly time: number;
  readonly seq: number;
  readonly epoch: string;
  readonly bar: Bar;
}

const REMEMBERED = 20;

export class StrictSubscription {
  readonly requestId: string;
  readonly params: SubscribeParams;
  readonly bars = new Map<number, Bar>();
  readonly finals: FinalSeen[] = [];
  /** `Subscribed` frames: the server's answer to `since`. */
  readonly recovered: boolean[] = [];
  readonly resyncs: string[] = [];
  readonly refusals: string[] = [];
  /** Complete up to here; null before the first snapshot or without `since`. */
  own: Position | null = null;
  /** The last frames, for the reader of a failure. */
  readonly recent: string[] = [];
  losses = 0;
  /** Times the server said that it is not there yet. */
  retries = 0;
  revisions = 0;
  ignored = 0;
  snapshots = 0;
  /** Number of frames with bars. */
  updates = 0;
  /** A subscribe is on its way; frames before its answer belong to the earlier subscription. */
  asking = true;
  /** The bars are all there are, not only those since the last snapshot. */
  whole = false;
  /** Snapshots that replaced a known bar: the client should have dropped it. */
  told = 0;
  #snapshotDue = false;
  /** Bars whose end a frame has told, in this epoch; until a rollback. */
  readonly #ended = new Set<number>();

  constructor(requestId: string, params: SubscribeParams) {
    this.requestId = requestId;
    this.params = params;
  }

  /** The bar with the latest time; null where nothing is traded. */
  get newest(): Bar | null {
    return this.bars.get(Math.max(...this.bars.keys())) ?? null;
  }

  get sorted(): Bar[] {
    return [...this.bars.values()].sort((a, b) => a.time - b.time);
  }

  /** Continues from an HTTP answer. */
  load(bars: readonly Bar[], position: Position): void {
    this.bars.clear();
    for (const bar of bars) this.bars.set(bar.time, bar);
    this.own = position;
    this.whole = true;
  }

  /** True when the frame reveals a loss: subscribe again with `since`. */
  hear(frame: Frame): boolean {
    const { event, epoch, seq, prev, snapshot } = frame;
    this.#remember(`${event}${snapshot === true ? '!' : ''} ${epoch}:${seq} after ${prev}`);
    if (frame.event === 'Subscribed') this.#acknowledged(frame);
    if (this.asking || frame.event === 'Subscribed') return false;
    if (frame.event === 'Error') this.refusals.push(String(recordOf(frame.data).cause));
    else if (frame.event === 'Resync') this.#resync(frame);
    else if (frame.event === 'LastBarUpdate' || frame.event === 'BarsRevised') {
      return this.#update(frame);
    } else assert.equal(frame.event, 'Unsubscribed');
    return false;
  }

  /** A ping says: nothing was missed up to here. */
  idleUpTo({ epoch, seq }: Position): void {
    if (this.asking || this.#snapshotDue || this.own?.epoch !== epoch) return;
    if (seq <= this.own.seq) return;
    this.own = { epoch, seq };
    this.#remember(`Ping ${epoch}:${seq}`);
  }

  #remember(what: string): void {
    this.recent.push(what);
    if (this.recent.length > REMEMBERED) this.recent.shift();
  }

  #acknowledged(frame: Frame): void {
    const { recovered } = recordOf(frame.data);
    this.recovered.push(recovered === true);
    this.asking = false;
    this.#snapshotDue = recovered !== true;
    if (recovered === true) assert.equal(frame.epoch, this.own?.epoch, 'recovered in one epoch');
  }

  #resync(frame: Frame): void {
    this.resyncs.push(String(recordOf(frame.data).reason));
    this.#snapshotDue = true;
  }

  #update(frame: Frame): boolean {
    const { epoch, seq, prev, data } = frame;
    if (frame.snapshot === true) {
      assert.equal(prev, null, 'a snapshot has no prev');
      assert.equal(frame.event, 'LastBarUpdate');
      this.bars.clear();
      this.#ended.clear();
      // If a rollback removes a pair, its whole state is null.
      this.told += this.own === null || data === null ? 0 : 1;
      this.whole = data === null;
      this.own = { epoch, seq };
      this.snapshots += 1;
      this.#snapshotDue = false;
      this.#put(data, null);
      return false;
    }
    const { own } = this;
    assert(!this.#snapshotDue, `a snapshot was due, got ${JSON.stringify(frame)}`);
    assert(own !== null && epoch === own.epoch, `an update of ${epoch} after ${own?.epoch}`);
    assert(prev !== null, 'an update names the frame before it');
    if (seq <= own.seq) {
      this.ignored += 1;
      return false;
    }
    if (prev > own.seq) {
      this.losses += 1;
      return true;
    }
    this.own = { epoch, seq };
    this.updates += 1;
    if (frame.event === 'BarsRevised') this.#revise(frame);
    else this.#ordinary(frame);
    return false;
  }

  /** Never goes back in time, and tells the end of a bar once. */
  #ordinary(frame: Frame): void {
    const { data } = frame;
    if (data !== null) {
      const { time, final } = recordOf(data);
      const newest = this.newest?.time ?? 0;
      assert(Number(time) >= newest, `an update of ${time} after one of ${newest}`);
      assert(!final || !this.#ended.has(Number(time)), `the end of ${time} came again`);
    }
    this.#put(data, frame);
  }

  #revise(frame: Frame): void {
    this.revisions += 1;
    const { bars, pair, interval, reason } = recordOf(frame.data);
    const { base, quote } = this.params;
    assert.equal(pair, `${base}_${quote}`);
    assert.equal(interval, this.params.interval);
    assert(['rollback', 'late', 'final'].includes(String(reason)));
    assert(Array.isArray(bars));
    for (const bar of bars.map(recordOf)) {
      const time = Number(bar.time);
      if (reason === 'rollback' && bar.final !== true) this.#ended.delete(time);
      if (bar.removed === true) this.bars.delete(time);
      else this.#put(bar, reason === 'final' || this.bars.has(time) ? frame : null);
    }
  }

  #put(data: unknown, frame: Frame | null): void {
    if (data === null) {
      this.bars.clear();
      this.#ended.clear();
      return;
    }
    const { pair, isRelevant, ...rest } = recordOf(data);
    assert.equal(pair, `${this.params.base}_${this.params.quote}`);
    assert.equal(typeof isRelevant, 'boolean');
    const bar = rest as unknown as Bar; // trust: compared field by field with what HTTP says
    const wasFinal = this.bars.get(bar.time)?.final === true || this.#ended.has(bar.time);
    this.bars.set(bar.time, bar);
    if (bar.final) this.#ended.add(bar.time);
    if (frame === null || !bar.final || wasFinal) return;
    this.finals.push({ time: bar.time, seq: frame.seq, epoch: frame.epoch, bar });
  }
}

export function recordOf(value: unknown): Record {
  assert(typeof value === 'object' && value !== null, `an object, not ${JSON.stringify(value)}`);
  return value as Record; // trust: an object, as was checked
}
