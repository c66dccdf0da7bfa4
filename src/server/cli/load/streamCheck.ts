/**
 * Checks the frames of one subscription against the contract of the stream (protocol.md 6.4).
 *
 * Assumes: frames come in the order of the connection; `ts` and `nowMs` are of one clock.
 * Counts:  gap       `prev` is above the known position, or a change has nothing to change
 *          repeat    the frame of the same position again
 *          backwards a position, or a bar of an ordinary update, before the newest one
 *          checksum  an order book or a list that is not what its checksum says
 *          stale     older than the allowed age, or below a position that a ping called complete
 * Never:   asks again. After a gap it continues from the frame that came, so one loss counts once.
 */
import {
  bookChecksum,
  type KnownBook,
  withBookChanges,
} from '../../../client/mirrors/bookChanges.ts';
import { crc32 } from '../../../client/mirrors/crc32.ts';
import { type Frame, isRecord } from '../../../client/socket/frame.ts';
import type { Position } from '../../../client/types.ts';

export const STREAM_FAULTS = ['gap', 'repeat', 'backwards', 'checksum', 'stale'] as const;
export type StreamFault = (typeof STREAM_FAULTS)[number];

interface Stream {
  readonly topic: string;
  readonly data?: unknown;
}

/** Every frame of it is a snapshot of a node's own state. */
const PERIODIC = 'Health';

export class StreamCheck {
  readonly #isBookOfChanges: boolean;
  readonly #isPeriodic: boolean;
  /** null: frames may be of any age. */
  readonly #maxAgeMs: number | null;
  readonly #found: (fault: StreamFault) => void;
  #known: Position | null = null;
  /** The newest frame that was not a snapshot. */
  #last: { readonly seq: number; readonly event: string } | null = null;
  #isSnapshotDue = false;
  /** The last frame of an answer to `since` may come again. */
  #mayRepeat = false;
  /** null: the changes that would make it are not all known. */
  #book: KnownBook | null = null;
  #newestBar: number | null = null;

  constructor(
    { topic, data }: Stream,
    maxAgeMs: number | null,
    found: (fault: StreamFault) => void,
  ) {
    this.#isBookOfChanges = topic === 'OrderBook' && isRecord(data) && data.mode === 'changes';
    this.#isPeriodic = topic === PERIODIC;
    this.#maxAgeMs = maxAgeMs;
    this.#found = found;
  }

  /** Where to continue from; null: with a snapshot. */
  get known(): Position | null {
    return this.#isPeriodic ? null : this.#known;
  }

  /** Called with the content of `Subscribed`. */
  accepted(recovered: boolean): void {
    this.#last = null;
    this.#isSnapshotDue = !recovered;
    this.#mayRepeat = recovered;
  }

  /** The server left frames out and said so. */
  resync(): void {
    this.#isSnapshotDue = true;
  }

  ping({ epoch, seq }: Position): void {
    const known = this.#known;
    if (this.#isSnapshotDue || known === null || known.epoch !== epoch || seq <= known.seq) return;
    this.#known = { epoch, seq };
  }

  /** `ageMs`: since the server made the frame. */
  frame(frame: Frame, ageMs: number): void {
    const { event, data, epoch, seq, snapshot } = frame;
    if (snapshot || this.#isPeriodic) {
      if (this.#known?.epoch === epoch && seq < this.#known.seq) this.#found('backwards');
      this.#isSnapshotDue = false;
      this.#last = null;
      this.#newestBar = null;
      this.#book = null;
    } else {
      // Frames from before a Resync hold less than the snapshot that is due.
      if (this.#isSnapshotDue || !this.#follows(frame)) return;
      if (this.#maxAgeMs !== null && ageMs > this.#maxAgeMs) this.#found('stale');
    }
    this.#known = { epoch, seq };
    if (!snapshot) this.#last = { seq, event };
    this.#checkTime(event, data);
    this.#checkSum(data, snapshot);
  }

  /** False: the frame is older than the known state, and a client ignores it. */
  #follows({ event, epoch, seq, prev }: Frame): boolean {
    const [known, last] = [this.#known, this.#last];
    if (known === null || known.epoch !== epoch || prev === null || prev > known.seq) {
      this.#found('gap');
      this.#book = null;
      return true;
    }
    if (seq > known.seq) return true;
    // Before its first change a subscription may get again what its snapshot, or its answer to
    // `since`, holds: sockets share the frames of a stream.
    if (last === null) return false;
    if (this.#mayRepeat && seq === last.seq && event === last.event) {
      this.#mayRepeat = false;
      return false;
    }
    if (seq > last.seq) this.#found('stale');
    else if (seq < last.seq) this.#found('backwards');
    // A revision is followed by an ordinary update of its position, for clients that know no other.
    else if (event === last.event) this.#found('repeat');
    else return true;
    return false;
  }

  #checkTime(event: string, data: unknown): void {
    if (event === 'BarsRevised') this.#newestBar = null;
    if (event !== 'LastBarUpdate' && event !== 'MCapBarUpdate') return;
    if (!isRecord(data) || typeof data.time !== 'number') return;
    if (this.#newestBar !== null && data.time < this.#newestBar) this.#found('backwards');
    this.#newestBar = data.time;
  }

  #checkSum(data: unknown, snapshot: boolean): void {
    if (!isRecord(data)) return;
    if (Array.isArray(data.order) && crc32(data.order.join(',')) !== data.crc32) {
      this.#found('checksum');
    }
    if (!isBook(data)) return;
    const isWhole = snapshot || !this.#isBookOfChanges;
    if (!isWhole && this.#book === null) return;
    const book = withBookChanges((isWhole ? null : this.#book) ?? { asks: [], bids: [] }, data);
    if (bookChecksum(book) !== data.checksum) {
      this.#found('checksum');
      // Counted once: later changes to the wrong state would be wrong as well.
      this.#book = null;
    } else this.#book = book;
  }
}

/** A frame of the only topic whose data has a `checksum`. */
function isBook(data: object): data is KnownBook & { readonly checksum: string } {
  const { checksum, asks, bids }: Partial<Record<string, unknown>> = { ...data };
  return typeof checksum === 'string' && Array.isArray(asks) && Array.isArray(bids);
}
