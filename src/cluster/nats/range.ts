/**
 * Reads a stream from a sequence on, in large batches. The consumer of the last read is kept, so
 * that sequential reads cost one request for each batch.
 *
 * A consumer lives on one replica of the stream, which may lag for ever, so its word about the end
 * is not trusted: the stream's leader is asked. If the leader has more, the consumer is deleted and
 * messages are read from the leader one by one; after a pause (100 ms, doubled up to 5 s while that
 * does not help) a new consumer is tried.
 */
import { Fault } from '../../engine/runtime/assert.ts';
import { Backoff } from '../../engine/runtime/backoff.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { type BatchSource, fetchBatch } from './batch.ts';
import { type NatsLink, nanos } from './connection.ts';
import {
  AckPolicy,
  DeliverPolicy,
  type JetStreamManager,
  NatsStream,
  type StoredMessage,
} from './stream.ts';

interface Cursor {
  readonly consumer: string;
  readonly next: number;
}

const IDLE_MS = 10_000;
/** Messages of one read from the leader, one request each. */
const LEADER_BATCH = 32;
const PAUSE = { firstMs: 100, maxMs: 5_000 };

export class RangeFetcher {
  readonly #jsm: JetStreamManager;
  readonly #stream: string;
  readonly #clock: Clock;
  readonly #subject: string | undefined;
  readonly #leader: NatsStream;
  readonly #source: BatchSource;
  #cursor: Cursor | null = null;
  /** No consumer is used before this, by the monotonic clock. */
  #pausedUntilMs = 0;
  readonly #pause = new Backoff(PAUSE);

  /** `subject`: only messages with this one. */
  constructor(
    link: NatsLink,
    jsm: JetStreamManager,
    stream: string,
    clock: Clock,
    subject?: string,
  ) {
    this.#jsm = jsm;
    this.#stream = stream;
    this.#clock = clock;
    this.#subject = subject;
    this.#leader = new NatsStream(link, jsm, stream);
    this.#source = { link, stream, clock };
  }

  /**
   * At most `limit` messages and 8 MiB, from `from` on. Empty: the stream's leader has confirmed
   * that there are no more.
   */
  async read(from: number, limit: number): Promise<readonly StoredMessage[]> {
    if (this.#clock.monotonicMs() >= this.#pausedUntilMs) {
      const messages = await this.#readConsumer(from, limit);
      if (messages.length > 0) {
        this.#pause.reset();
        return messages;
      }
    }
    return this.readLeader(from, limit);
  }

  async #readConsumer(from: number, limit: number): Promise<readonly StoredMessage[]> {
    const kept = this.#cursor?.next === from ? this.#cursor : null;
    this.#cursor = null;
    if (kept !== null) {
      const { messages, alive } = await fetchBatch(this.#source, kept.consumer, limit);
      if (alive) this.#keep(kept.consumer, from, messages);
      if (messages.length > 0 || alive) return messages;
    }
    const settings = {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Math.max(1, from),
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(IDLE_MS),
      mem_storage: true,
      num_replicas: 1,
      ...(this.#subject === undefined ? {} : { filter_subject: this.#subject }),
    };
    const add = () => this.#jsm.consumers.add(this.#stream, settings);
    const { name } = await this.#leader.ask(add);
    const { messages, alive } = await fetchBatch(this.#source, name, limit);
    if (!alive && messages.length === 0)
      throw new Fault('natsSilent', `NATS stopped answering at ${from}`);
    if (alive) this.#keep(name, from, messages);
    return messages;
  }

  /** At most 32 messages as the stream's leader has them, one request each. */
  async readLeader(from: number, limit: number): Promise<readonly StoredMessage[]> {
    const messages: StoredMessage[] = [];
    while (messages.length < Math.min(limit, LEADER_BATCH)) {
      const after = messages.at(-1)?.seq ?? from - 1;
      const next = await this.#leader.nextOf(this.#subject ?? '>', Math.max(1, after + 1));
      if (next === null) break;
      messages.push(next);
      // The consumer has answered that there is none.
      if (messages.length === 1) this.#dropConsumer();
    }
    return messages;
  }

  #dropConsumer(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#pausedUntilMs) return;
    this.#pausedUntilMs = nowMs + this.#pause.nextMs();
    const consumer = this.#cursor?.consumer;
    this.#cursor = null;
    if (consumer === undefined) return;
    // A consumer that is not deleted now expires after IDLE_MS.
    this.#jsm.consumers.delete(this.#stream, consumer).catch(() => {});
  }

  #keep(consumer: string, from: number, messages: readonly StoredMessage[]): void {
    const last = messages.at(-1);
    this.#cursor = { consumer, next: last === undefined ? from : last.seq + 1 };
  }
}
