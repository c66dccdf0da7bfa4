/**
 * Follows a stream's end: each message once, in order, pushed as soon as it is stored.
 *
 * Assumes: the receiver is quick and never throws.
 * A gap, silence of three heartbeats or a reconnect makes a new consumer after the last message
 * seen; what is missing for a while (the stream, the server) is asked for again until it is there.
 */
import { type Clock, sleep, type Timer } from '../../engine/runtime/clock.ts';
import { createInbox, type Msg, type NatsLink, nanos } from './connection.ts';
import {
  AckPolicy,
  DeliverPolicy,
  deliveryOf,
  type JetStreamManager,
  type StoredMessage,
} from './stream.ts';

const HEARTBEAT_MS = 1_000;
const SILENCE_MS = 3_000;
const AGAIN_MS = 100;

export class StreamFollower {
  readonly #link: NatsLink;
  readonly #jsm: JetStreamManager;
  readonly #stream: string;
  readonly #clock: Clock;
  readonly #receive: (message: StoredMessage) => void;
  readonly #stopListening: () => void;
  #next = 1;
  #consumerSeq = 0;
  #heardMs = 0;
  #subscription: { unsubscribe(): void } | null = null;
  #watch: Timer | null = null;
  /** Counts beginnings: what belongs to an earlier one is over. */
  #round = 0;
  #stopped = false;

  constructor(
    link: NatsLink,
    jsm: JetStreamManager,
    stream: string,
    clock: Clock,
    receive: (message: StoredMessage) => void,
  ) {
    this.#link = link;
    this.#jsm = jsm;
    this.#stream = stream;
    this.#clock = clock;
    this.#receive = receive;
    this.#stopListening = link.onStatus(({ status }) => {
      if (status === 'reconnected') void this.#begin();
    });
    this.#watch = clock.after(HEARTBEAT_MS, () => this.#look());
  }

  /** From `seq` on, instead of where it was. */
  async follow(seq: number): Promise<void> {
    this.#next = seq;
    await this.#begin();
  }

  stop(): void {
    this.#stopped = true;
    this.#round += 1;
    this.#stopListening();
    this.#watch?.cancel();
    this.#unsubscribe();
  }

  async #begin(): Promise<void> {
    this.#round += 1;
    const round = this.#round;
    while (!this.#stopped && round === this.#round) {
      if (this.#link.connected && (await this.#consume(round))) return;
      await sleep(this.#clock, AGAIN_MS);
    }
  }

  async #consume(round: number): Promise<boolean> {
    this.#unsubscribe();
    this.#consumerSeq = 0;
    this.#heardMs = this.#clock.monotonicMs();
    const inbox = createInbox();
    try {
      // A connection that is being closed takes no subscription.
      this.#subscription = this.#link.connection.subscribe(inbox, {
        callback: (_error, message) => {
          if (round === this.#round) this.#heard(message);
        },
      });
      await this.#jsm.consumers.add(this.#stream, {
        deliver_subject: inbox,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: this.#next,
        ack_policy: AckPolicy.None,
        flow_control: true,
        idle_heartbeat: nanos(HEARTBEAT_MS),
        max_deliver: 1,
        mem_storage: true,
        num_replicas: 1,
      });
      return true;
    } catch {
      // The stream or the server is not there now; whoever needs to know asks `check`.
      this.#unsubscribe();
      return false;
    }
  }

  #heard(message: Msg): void {
    this.#heardMs = this.#clock.monotonicMs();
    const delivery = deliveryOf(message);
    if (delivery === null) {
      this.#beat(message);
      return;
    }
    if (delivery.consumerSeq !== this.#consumerSeq + 1) {
      void this.#begin();
      return;
    }
    this.#consumerSeq = delivery.consumerSeq;
    this.#next = delivery.seq + 1;
    this.#receive({ seq: delivery.seq, data: message.data });
  }

  #unsubscribe(): void {
    const subscription = this.#subscription;
    this.#subscription = null;
    try {
      subscription?.unsubscribe();
    } catch {
      // It ended with its connection.
    }
  }

  /** Flow control is answered; a heartbeat says how far we should be. */
  #beat(message: Msg): void {
    try {
      if (message.reply !== undefined && message.reply !== '') message.respond();
      const stalled = message.headers?.get('Nats-Consumer-Stalled') ?? '';
      if (stalled !== '') this.#link.connection.publish(stalled);
    } catch {
      // The connection is being closed: nobody waits for the answer.
    }
    const last = message.headers?.get('Nats-Last-Consumer') ?? '';
    if (last !== '' && Number(last) !== this.#consumerSeq) void this.#begin();
  }

  #look(): void {
    const silentMs = this.#clock.monotonicMs() - this.#heardMs;
    if (this.#link.connected && silentMs > SILENCE_MS) void this.#begin();
    this.#watch = this.#clock.after(HEARTBEAT_MS, () => this.#look());
  }
}
