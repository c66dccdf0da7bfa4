/**
 * One subscription by the client rule of protocol.md 6.4 and nothing else: a snapshot replaces
 * state, a frame with seq at or below the own one is ignored, a `prev` above it is a loss, which
 * fails.
 *
 * Each state is kept with its seq. The state at a position P is known if a frame has exactly this
 * seq, or if a ping with it came before the next frame. Between those the state is unknown: the
 * stream does not send a change that was undone before its next flush.
 */
import assert from 'node:assert/strict';
import type { Position } from '../../support/chart.ts';
import { type Frame, recordOf } from '../../support/subscription.ts';
import { BarsState } from './bars.ts';
import type { State } from './states.ts';
import type { StreamSpec } from './streamSpecs.ts';

interface Known {
  readonly seq: number;
  readonly state: State;
  /** Its own seq and the seqs of pings; none while more frames of the same flush may follow. */
  readonly sure: Set<number>;
}

interface Check {
  readonly seq: number;
  readonly run: (state: State) => void;
}

const KEPT = 150;
const MAX_PENDING = 200;
const RECENT = 12;

export class LiveStream {
  readonly requestId: string;
  readonly spec: StreamSpec;
  readonly maxHz: number | null;
  own: Position | null = null;
  /** Since the last subscribe nothing was heard. */
  asking = true;
  frames = 0;
  snapshots = 0;
  resyncs = 0;
  /** Checks that could be made, and checks at positions between two frames. */
  compared = 0;
  undecided = 0;
  readonly recovered: boolean[] = [];
  onChange: (stream: LiveStream, seq: number, state: State) => void = () => {};
  #known: Known[] = [];
  #pending: Check[] = [];
  #snapshotDue = true;
  readonly #recent: string[] = [];

  constructor(requestId: string, spec: StreamSpec, maxHz: number | null) {
    this.requestId = requestId;
    this.spec = spec;
    this.maxHz = maxHz;
  }

  get state(): State | null {
    return this.#known.at(-1)?.state ?? null;
  }

  /** The subscribe frame that continues from the own position. */
  frame(): object {
    this.asking = true;
    const { requestId, own, maxHz, spec } = this;
    const { topic, data } = spec;
    const since = own === null ? {} : { since: own };
    return { requestId, topic, data, ...since, ...(maxHz === null ? {} : { maxHz }) };
  }

  /** Continues from an HTTP answer at a position. */
  load(state: State, own: Position): void {
    this.own = own;
    this.#known = [];
    this.#pending = [];
    this.#snapshotDue = false;
    this.#learn(own.seq, state);
    this.flushed();
  }

  /** Runs `run` with the state at `seq` once that is known; not at all where it stays unknown. */
  check(seq: number, run: (state: State) => void): void {
    this.#pending.push({ seq, run });
    this.#settle();
    if (this.#pending.length > MAX_PENDING) this.#pending.shift();
  }

  hear(frame: Frame): void {
    const { event, seq, prev, snapshot, epoch } = frame;
    this.#recent.push(`${event}${snapshot === true ? '!' : ''} ${seq} after ${prev}`);
    if (this.#recent.length > RECENT) this.#recent.shift();
    if (event === 'Subscribed') this.#acknowledged(frame);
    if (event === 'Subscribed' || this.asking || event === 'Unsubscribed') return;
    if (event === 'Resync') {
      assert.equal(recordOf(frame.data).reason, 'slow');
      this.resyncs += 1;
      this.#snapshotDue = true;
      return;
    }
    assert.notEqual(event, 'Error', `${this.what}: ${JSON.stringify(frame.data)}`);
    if (snapshot === true) {
      assert.equal(prev, null);
      this.snapshots += 1;
      this.#snapshotDue = false;
      this.own = { epoch, seq };
      this.#learn(seq, this.spec.told(frame.data));
      return;
    }
    assert(!this.#snapshotDue, `${this.what}: a snapshot was due`);
    assert(this.own !== null && prev !== null && epoch === this.own.epoch, this.what);
    if (seq <= this.own.seq) return;
    assert(prev <= this.own.seq, `${this.what}: a loss at ${this.own.seq}`);
    this.own = { epoch, seq };
    this.#learn(seq, (this.state ?? assert.fail('it knows something')).next(event, frame.data));
  }

  /** The socket was sent something else since: no frame of the same flush follows. */
  flushed(): void {
    const last = this.#known.at(-1);
    if (last === undefined || last.sure.size > 0) return;
    last.sure.add(last.seq);
    this.#settle();
    this.onChange(this, last.seq, last.state);
  }

  /** A ping says that nothing was missed up to here. */
  idleUpTo({ epoch, seq }: Position): void {
    const last = this.#known.at(-1);
    if (last === undefined || this.asking || this.#snapshotDue) return;
    if (this.own === null || this.own.epoch !== epoch || seq <= this.own.seq) return;
    this.own = { epoch, seq };
    this.#recent.push(`Ping ${seq}`);
    last.sure.add(seq);
    this.#settle();
  }

  #acknowledged({ data }: Frame): void {
    const { recovered } = recordOf(data);
    this.asking = false;
    if (this.own !== null) this.recovered.push(recovered === true);
    this.#snapshotDue = recovered !== true;
  }

  #learn(seq: number, state: State): void {
    this.frames += 1;
    // A later frame carries a bar that changed again: between two frames it is an old one.
    const sure = new Set(state instanceof BarsState ? [] : [seq]);
    this.#known.push({ seq, state, sure });
    if (this.#known.length > KEPT) this.#known.shift();
    if (sure.size === 0) return;
    this.#settle();
    this.onChange(this, seq, state);
  }

  #settle(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const check of pending) {
      const at = this.#known.findLastIndex(({ seq }) => seq <= check.seq);
      const known = this.#known[at];
      const isLast = at === this.#known.length - 1;
      if (known?.sure.has(check.seq) === true) this.#run(check, known.state);
      else if (isLast && check.seq >= (this.own?.seq ?? 0)) this.#pending.push(check);
      else this.undecided += 1;
    }
  }

  #run({ run, seq }: Check, state: State): void {
    this.compared += 1;
    try {
      run(state);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      throw new Error(`${this.what} at ${seq}: ${cause}`, { cause: error });
    }
  }

  /** A description for the reader of a failure. */
  get what(): string {
    const { topic, data } = this.spec;
    const hz = this.maxHz === null ? '' : ` at ${this.maxHz} Hz`;
    const heard = `own ${this.own?.seq}; ${this.#recent.join(', ')}`;
    return `${topic} ${JSON.stringify(data)}${hz} (${heard})`;
  }
}
