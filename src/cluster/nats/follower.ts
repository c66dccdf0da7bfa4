/**
 * Follows the end of a stream: passes on each message once, in order, as soon as it is stored.
 *
 * Assumes: the receiver is quick and never throws.
 * After a gap, three missed heartbeats or a reconnect it makes a new consumer behind the last
 * message, and retries while the stream or the server is away.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Task } from '../../engine/runtime/task.ts';
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
const RETRY_MS = 100;

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
  /** Counts consumers: messages of an earlier one are dropped. */
  #round = 0;
  readonly #task: Task;

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
    this.#task = new Task({ clock });
    this.#task.start(async () => {
      while (await this.#task.pause(HEARTBEAT_MS)) this.#checkSilence();
    });
  }

  /** Follows from `seq` on, instead of its present position. */
  async follow(seq: number): Promise<void> {
    this.#next = seq;
    await this.#begin();
  }

  stop(): void {
    void this.#task.stop();
    this.#round += 1;
    this.#stopListening();
    this.#unsubscribe();
  }

  async #begin(): Promise<void> {
    this.#round += 1;
    const round = this.#round;
    while (!this.#task.isStopping && round === this.#round) {
      if (this.#link.connected && (await this.#consume(round))) return;
      await this.#task.pause(RETRY_MS);
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
      const settings = {
        deliver_subject: inbox,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: this.#next,
        ack_policy: AckPolicy.None,
        flow_control: true,
        idle_heartbeat: nanos(HEARTBEAT_MS),
        max_deliver: 1,
        mem_storage: true,
        num_replicas: 1,
      };
      const add = () => this.#jsm.consumers.add(this.#stream, settings);
      await this.#link.whileConnected(add);
      return true;
    } catch {
      // The stream or the server is away: `check` of the log reports that. It is tried again.
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
    this.#receive({ seq: delivery.seq, subject: message.subject, data: message.data });
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

  /** Answers flow control, and compares our position with the position in a heartbeat. */
  #beat(message: Msg): void {
    try {
      if (message.reply !== undefined && message.reply !== '') message.respond();
      const stalled = message.headers?.get('Nats-Consumer-Stalled') ?? '';
      if (stalled !== '') this.#link.connection.publish(stalled);
    } catch {
      // The connection is being closed, and needs no answer.
    }
    const last = message.headers?.get('Nats-Last-Consumer') ?? '';
    if (last !== '' && Number(last) !== this.#consumerSeq) void this.#begin();
  }

  #checkSilence(): void {
    const silentMs = this.#clock.monotonicMs() - this.#heardMs;
    if (this.#link.connected && silentMs > SILENCE_MS) void this.#begin();
  }
}
