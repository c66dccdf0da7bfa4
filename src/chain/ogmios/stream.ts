/**
 * A reader of the node's chain, on the main thread. A batch of events is asked for when the one
 * before is used up, so the thread never runs further ahead than its own bound.
 *
 * Where what is looked for must be told to the thread (at the beginning, and when the chain went
 * back further than the thread remembers), that happens with the question that follows the event:
 * by then the reader has taken in what it was told.
 */
import { assert } from '../../engine/runtime/assert.ts';
import type { ChainEvent, ChainStream } from '../port.ts';
import type { SerializedEvent, WatchList } from './messages.ts';
import { deserializeTransaction } from './packed.ts';

export interface StreamCalls {
  begin(watchList: WatchList): Promise<unknown>;
  pull(): Promise<readonly SerializedEvent[] | null>;
  close(): Promise<unknown>;
}

export class OgmiosStream implements ChainStream {
  readonly #calls: StreamCalls;
  readonly #watchList: () => WatchList;
  #batch: SerializedEvent[] = [];
  #needsWatchList: boolean;
  #isClosed = false;

  /** `needsWatchList`: it begins with the chain's first block, and not with `back`. */
  constructor(calls: StreamCalls, watchList: () => WatchList, needsWatchList: boolean) {
    this.#calls = calls;
    this.#watchList = watchList;
    this.#needsWatchList = needsWatchList;
  }

  async next(): Promise<ChainEvent | null> {
    if (this.#isClosed) return null;
    if (this.#needsWatchList) {
      this.#needsWatchList = false;
      await this.#calls.begin(this.#watchList());
    }
    if (this.#batch.length === 0) {
      const batch = this.#isClosed ? null : await this.#calls.pull();
      if (batch === null || this.#isClosed) return null;
      this.#batch = [...batch].reverse();
    }
    const event = this.#batch.pop();
    assert(event !== undefined, 'a batch holds an event');
    if (event.kind === 'back') this.#needsWatchList = event.needsWatchList;
    return deserializeEvent(event);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#calls.close();
  }
}

function deserializeEvent(event: SerializedEvent): ChainEvent {
  if (event.kind === 'back') return { kind: 'back', point: event.point };
  if (event.kind === 'mempool') return { ...event, added: event.added.map(deserializeTransaction) };
  const { block } = event;
  return {
    kind: 'forward',
    block: { ...block, transactions: block.transactions.map(deserializeTransaction) },
  };
}
