/**
 * The next body of a webhook: what its topics say after its marks. Nothing waits in a queue: the
 * log and the state are the queue, and each body is made of the newest state when it is sent. A
 * receiver gets the same frames as a slow socket, by the same question, `since`.
 */
import { createHash } from 'node:crypto';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import { formatPosition, type Position } from '../../engine/runtime/position.ts';
import { askSince, type OpenSource } from '../topics/port.ts';
import { type Mark, type Progress, positionOf, type WebhookTopic } from './port.ts';

/** A subscription of a webhook that can be asked. */
export interface OpenTopic {
  readonly wanted: WebhookTopic;
  /** The event of its snapshots. */
  readonly event: string;
  /** Least time from one delivery to the next. */
  readonly cadenceMs: number;
  readonly open: OpenSource;
}

export interface NextBody {
  /** A JSON array of frames; null: there is nothing to say. */
  readonly text: string | null;
  readonly frames: number;
  /** Digest of the frames without their `ts`: the same for a body that is sent again. */
  readonly digest: string;
  /** `<epoch>:<seq>`. */
  readonly position: string;
  readonly epoch: string;
  /** Once it was delivered. */
  readonly marks: readonly (Mark | null)[];
  /** There is no more to say now. */
  readonly isWhole: boolean;
  /** A topic could not be asked: its marks stay, and it is asked again later. */
  readonly failure: Failure | null;
}

interface Frame {
  readonly seq: number;
  readonly text: string;
}

/** A body ends after the frame that passes it. */
const MAX_BYTES = 1_000_000;
const DIGEST_LENGTH = 32;

export function nextBody(
  topics: readonly OpenTopic[],
  progress: Progress,
  applied: Position,
  nowMs: number,
): NextBody {
  const draft = new Draft(applied, nowMs);
  const isSameEpoch = progress.epoch === applied.epoch;
  const marks = topics.map((each, index) => {
    const mark = isSameEpoch ? (progress.marks[index] ?? null) : null;
    // The `since` of the registration counts until another epoch begins.
    const isFirst = progress.epoch === null || isSameEpoch;
    return mark === null ? draft.beginSubscription(each, isFirst) : draft.goOn(each, mark);
  });
  const { epoch } = applied;
  const position = positionOf({ ...progress, epoch, marks }) ?? { epoch, seq: 0 };
  return {
    text: draft.text(),
    frames: draft.frames.length,
    digest: draft.digest(),
    position: formatPosition(position),
    epoch,
    marks,
    isWhole: draft.isWhole,
    failure: draft.failure,
  };
}

class Draft {
  readonly frames: Frame[] = [];
  isWhole = true;
  failure: Failure | null = null;
  readonly #applied: Position;
  readonly #nowMs: number;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(applied: Position, nowMs: number) {
    this.#applied = applied;
    this.#nowMs = nowMs;
  }

  text(): string | null {
    if (this.frames.length === 0) return null;
    // Frames of one topic are in order already; the sort keeps it where positions are equal.
    const inOrder = this.frames.toSorted((a, b) => a.seq - b.seq);
    return `[${inOrder.map(({ text }) => text).join(',')}]`;
  }

  /** Ends it: no frame can be added after that. */
  digest(): string {
    return this.#hash.digest('hex').slice(0, DIGEST_LENGTH);
  }

  /** Begins a subscription of which the receiver has no frame that still counts. */
  beginSubscription(each: OpenTopic, isFirst: boolean): Mark | null {
    const { wanted } = each;
    const { epoch, seq } = this.#applied;
    if (this.#isFull()) return null;
    const source = each.open();
    const beginsWhole = !(source instanceof Failure) && source.beginsWhole === true;
    if (isFirst && wanted.since?.epoch === epoch && !beginsWhole) {
      const { since } = wanted;
      if (since.seq > seq) return this.#unable(null, new Failure('NOT_READY', 'not there yet'));
      const mark = { seq: since.seq, prev: since.seq };
      const resumed = this.#changes(each, mark, { recovered: true, seq: since.seq });
      if (resumed !== 'beyond') return resumed;
    }
    const isWhole = beginsWhole || wanted.snapshot || wanted.since !== undefined;
    if (!isFirst || isWhole) return this.#snapshot(each);
    this.#acknowledge(wanted, { recovered: false, seq });
    return { seq, prev: seq };
  }

  goOn(each: OpenTopic, mark: Mark): Mark | null {
    if (mark.seq >= this.#applied.seq) return mark;
    const next = this.#changes(each, mark, null);
    return next === 'beyond' ? this.#snapshot(each) : next;
  }

  /** `beyond`: only a snapshot can tell. `told`: said before what changed. */
  #changes(each: OpenTopic, from: Mark, told: Json | null): Mark | 'beyond' | null {
    const source = each.open();
    const unchanged = told === null ? from : null;
    if (source instanceof Failure) return this.#unable(unchanged, source);
    const { seq: applied } = this.#applied;
    let { seq, prev } = from;
    let isTold = told === null;
    while (seq < applied || !isTold) {
      if (this.#isFull()) return isTold ? { seq, prev } : null;
      const changes = askSince(source, seq, applied);
      if (changes === null) return 'beyond';
      if (changes instanceof Failure) return this.#unable(isTold ? { seq, prev } : null, changes);
      if (!isTold && told !== null) this.#acknowledge(each.wanted, told);
      isTold = true;
      for (const part of changes.parts) {
        // Parts of one position stay together: a mark names a whole position.
        if (part.seq > seq && this.#isFull()) return { seq, prev };
        const place =
          part.isSnapshot === true ? ({ prev: null, snapshot: true } as const) : { prev };
        this.#add(each.wanted, part.event, part.data, { seq: part.seq, ...place });
        seq = part.seq;
        prev = part.seq;
      }
      seq = changes.completeTo;
    }
    return { seq, prev };
  }

  #snapshot(each: OpenTopic): Mark | null {
    const { wanted, event, open } = each;
    const { seq } = this.#applied;
    const source = open();
    const state = source instanceof Failure ? source : source.snapshot();
    if (state instanceof Failure) return this.#unable(null, state);
    this.#acknowledge(wanted, { recovered: false, seq });
    this.#add(wanted, event, state, { seq, prev: null, snapshot: true });
    return { seq, prev: seq };
  }

  #acknowledge(wanted: WebhookTopic, data: Json): void {
    const seq = Number(Reflect.get(Object(data), 'seq'));
    this.#add(wanted, 'Subscribed', data, { seq, prev: null });
  }

  #add(
    { requestId }: WebhookTopic,
    event: string,
    data: Json,
    place: { readonly seq: number; readonly prev: number | null; readonly snapshot?: true },
  ): void {
    const { epoch } = this.#applied;
    const { seq, prev, ...flag } = place;
    const head = { requestId, event, messageType: 'Response', data, epoch, seq, prev };
    const lasting = JSON.stringify({ ...head, ...flag });
    this.#hash.update(lasting);
    const text = `${lasting.slice(0, -1)},"ts":${this.#nowMs}}`;
    this.frames.push({ seq, text });
    this.#bytes += text.length;
  }

  #isFull(): boolean {
    if (this.#bytes <= MAX_BYTES) return false;
    this.isWhole = false;
    return true;
  }

  #unable(mark: Mark | null, failure: Failure): Mark | null {
    this.failure = failure;
    return mark;
  }
}
