/**
 * Opens a source at the newest block that it shares with the fold, and reads its events with a time
 * limit. A source may wait for its node without end; `signal` cuts that short.
 */
import { KEPT_POINTS } from '../engine/fold/chainRows.ts';
import { unlessAborted } from '../engine/runtime/abort.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { StateStore } from '../engine/store/state.ts';
import { chainPoints } from './chainPoints.ts';
import type { ChainEvent, ChainSource, ChainStream, Point } from './port.ts';

interface OpenedStream {
  readonly stream: ChainStream;
  /** The stream starts at `start`, because the chain contains no block of the fold. */
  readonly isFromStart: boolean;
}

/** null: `signal` was aborted. Throws if this is another chain than the fold has followed. */
export async function openStream(
  source: ChainSource,
  store: StateStore,
  start: Point | null,
  signal: AbortSignal,
): Promise<OpenedStream | null> {
  const points = chainPoints(store);
  const shared = points.length === 0 ? null : await openAt(source, points, signal);
  if (shared !== null) return { stream: shared, isFromStart: false };
  if (signal.aborted) return null;
  if (!mayRestart(points, start)) throw new Error(otherChain(points[0]));
  const stream = await openAt(source, start === null ? [] : [start], signal);
  if (stream !== null) return { stream, isFromStart: true };
  if (signal.aborted) return null;
  throw new Error(unknownStart(start));
}

async function openAt(
  source: ChainSource,
  points: readonly Point[],
  signal: AbortSignal,
): Promise<ChainStream | null> {
  if (signal.aborted) return null;
  return unlessAborted(source.open(points), signal, (late) => late?.close());
}

/** A day and a half of slots, which is followed again in a short time. */
const MAX_SLOTS_TO_REPEAT = 129_600;

/**
 * Whether everything followed since `start` may be undone: it is at most MAX_SLOTS_TO_REPEAT, and
 * `points` (newest first) reach back to `start` or further than a fork can.
 */
function mayRestart(
  points: readonly (Point & { readonly height: number })[],
  start: Point | null,
): boolean {
  const [newest, oldest] = [points[0], points.at(-1)];
  if (newest === undefined || oldest === undefined) return true;
  const isShort = newest.height - oldest.height < KEPT_POINTS;
  return isShort && newest.slot - (start?.slot ?? 0) <= MAX_SLOTS_TO_REPEAT;
}

function unknownStart(start: Point | null): string {
  if (start === null) return 'the chain cannot be followed from its beginning';
  return (
    `the node does not have block ${start.slot}.${start.hash}, where following begins: ` +
    'it is still far behind, or of another network; check NETWORK, OGMIOS_URL and START_POINT'
  );
}

function otherChain(newest: Point | undefined): string {
  return (
    `the node has none of the newest blocks known here, up to ${newest?.slot}.${newest?.hash}: ` +
    'it is still far behind, or of another network; check NETWORK, OGMIOS_URL and DATA_DIR'
  );
}

/** Reads a stream event by event; says `quiet` when none comes in time. */
export class StreamIterator {
  readonly #stream: ChainStream;
  #pending: Promise<ChainEvent | null> | null = null;
  #isReady = false;
  #wake = () => {};

  constructor(stream: ChainStream) {
    this.#stream = stream;
  }

  /** `quiet` after `waitMs` without an event; a later call then reads that event. */
  async next(waitMs: number, clock: Clock): Promise<ChainEvent | null | 'quiet'> {
    const here = this.#pending === null ? (this.#stream.nextReceived?.() ?? null) : null;
    if (here !== null) return here;
    const pending = this.#pending ?? this.#request();
    if (waitMs !== Number.POSITIVE_INFINITY && !this.#isReady) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = clock.after(waitMs, resolve);
      await promise;
      timer.cancel();
      if (!this.#isReady) return 'quiet';
    }
    const event = await pending;
    this.#pending = null;
    return event;
  }

  close(): Promise<void> {
    return this.#stream.close();
  }

  /** Adds one handler per event, however often `next` is called: an event may take days. */
  #request(): Promise<ChainEvent | null> {
    const pending = this.#stream.next();
    this.#pending = pending;
    this.#isReady = false;
    const ready = () => {
      this.#isReady = true;
      this.#wake();
    };
    pending.then(ready, ready);
    return pending;
  }
}
