/** A foreign client of all topics of a market, on one socket, in JSON or MessagePack. */
import assert from 'node:assert/strict';
import type { Position } from '../../support/chart.ts';
import type { Scope } from '../../support/server.ts';
import { type Frame, recordOf } from '../../support/subscription.ts';
import { type Encoding, TopicSocket } from '../../support/topicSocket.ts';
import { until } from '../../support/until.ts';
import { LiveStream } from './stream.ts';
import type { StreamSpec } from './streamSpecs.ts';

const TOPICS_PER_FRAME = 50;
/** Beside pings. */
const OF_A_SOCKET = new Set(['ConnectionSucceeded', 'Pong', 'Shutdown']);

export interface MirrorOptions {
  readonly name: string;
  readonly encoding: Encoding;
  /** Paces of the subscriptions, in turn; null: as fast as the server likes. */
  readonly paces?: readonly (number | null)[];
}

export class Mirror extends TopicSocket {
  readonly options: MirrorOptions;
  readonly streams: LiveStream[] = [];
  #heard: LiveStream | undefined;

  private constructor(port: number, options: MirrorOptions) {
    super(port, options.encoding);
    this.options = options;
  }

  static async connect(scope: Scope, port: number, options: MirrorOptions): Promise<Mirror> {
    const mirror = new Mirror(port, options);
    scope.after(() => mirror.terminate());
    await mirror.opened();
    return mirror;
  }

  subscribe(specs: readonly StreamSpec[]): void {
    const { paces = [null] } = this.options;
    const added = specs.map((spec) => {
      const index = this.streams.length;
      const stream = new LiveStream(`r${index}`, spec, paces[index % paces.length] ?? null);
      this.streams.push(stream);
      return stream;
    });
    this.#ask(added);
  }

  /** A new socket; every stream continues from its position. */
  async reconnect(port: number = this.port): Promise<void> {
    for (const stream of this.streams) stream.asking = true;
    await this.connectAgain(port);
    this.#ask(this.streams);
  }

  /** Subscribes again under the same name, which ends the earlier subscription. */
  again(stream: LiveStream): void {
    this.#ask([stream]);
  }

  /** Waits until every subscription has its state. */
  async answered(): Promise<void> {
    const open = () => this.streams.filter(({ asking, own }) => asking || own === null);
    const what = () => `${this.options.name}: ${open().length} of ${this.streams.length} open`;
    await until(what, () => this.faults.length > 0 || open().length === 0);
    this.check();
  }

  async reached({ epoch, seq }: Position, limitMs = 60_000): Promise<void> {
    const behind = () =>
      this.streams.filter(
        ({ own, asking }) => asking || own === null || own.epoch !== epoch || own.seq < seq,
      );
    const what = () => {
      const [first] = behind();
      return `${this.options.name} at ${seq}: ${first?.spec.topic} ${JSON.stringify(first?.own)}`;
    };
    await until(what, () => this.faults.length > 0 || behind().length === 0, limitMs);
    // The answer comes after all frames that were sent before.
    this.send({ messageType: 'ping', requestId: 'flushed' });
    await until(`${this.options.name} is answered`, () => this.#heard === undefined);
    this.check();
  }

  #ask(streams: readonly LiveStream[]): void {
    for (let at = 0; at < streams.length; at += TOPICS_PER_FRAME) {
      const topics = streams.slice(at, at + TOPICS_PER_FRAME).map((stream) => stream.frame());
      this.send({ messageType: 'subscribe', topics });
    }
  }

  protected override hear(frame: Frame): void {
    const stream = this.streams.find(({ requestId }) => requestId === frame.requestId);
    if (stream !== this.#heard) this.#heard?.flushed();
    this.#heard = stream;
    if (frame.event === 'Ping') {
      const seq = Number(recordOf(frame.data).seq);
      for (const stream of this.streams) stream.idleUpTo({ epoch: frame.epoch, seq });
      this.send({ messageType: 'pong', requestId: null });
      return;
    }
    if (stream !== undefined) stream.hear(frame);
    else assert(OF_A_SOCKET.has(frame.event), JSON.stringify(frame));
  }
}
