/** A reader of the embedded ledger: what its thread tells, decoded here. */
import { decodeTransaction } from '../cardano/codec/transaction.ts';
import type { ChainEvent, ChainStream } from '../chain/port.ts';
import { assert } from '../engine/runtime/assert.ts';
import type { RawEvent } from './streams.ts';

/** Events come in batches; a batch is asked for when the one before is used up. */
export class EmulatedStream implements ChainStream {
  readonly #pull: () => Promise<RawEvent[] | null>;
  readonly #close: () => Promise<null>;
  #batch: RawEvent[] = [];
  #isClosed = false;

  constructor(pull: () => Promise<RawEvent[] | null>, close: () => Promise<null>) {
    this.#pull = pull;
    this.#close = close;
  }

  async next(): Promise<ChainEvent | null> {
    if (this.#isClosed) return null;
    if (this.#batch.length === 0) {
      const batch = await this.#pull();
      if (batch === null || this.#isClosed) return null;
      this.#batch = batch;
    }
    const event = this.#batch.shift();
    assert(event !== undefined, 'a batch holds an event');
    return decoded(event);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#close();
  }
}

function decoded(event: RawEvent): ChainEvent {
  if (event.kind === 'back') return event;
  if (event.kind === 'mempool') return { ...event, added: event.added.map(decodeTransaction) };
  const { head, timeMs, transactions } = event;
  const point = { slot: head.slot, hash: head.hash };
  const block = {
    point,
    height: head.height,
    timeMs,
    transactions: transactions.map(decodeTransaction),
  };
  return { kind: 'forward', block };
}
