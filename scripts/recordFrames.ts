/** Records the frames of one socket: a subscription to every topic, and the frames of no topic. */
import { WebSocket } from 'ws';
import type { JsonObject } from '../src/api/docs/definitions.ts';
import type { FrameExamples } from '../src/api/docs/examples.ts';
import { SUBSCRIPTIONS } from '../test/api/docs/requests.ts';
import type { Stage } from '../test/api/docs/stage.ts';
import { until } from '../test/support/until.ts';

const COMMON = 'socket';

export class SocketRecorder {
  readonly #socket: WebSocket;
  readonly #topics: Record<string, Record<string, JsonObject>> = { [COMMON]: {} };

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (bytes: Buffer) => {
      // trust: parsed JSON; the examples are checked against the schemas of the document
      this.#keep(JSON.parse(bytes.toString()) as JsonObject);
    });
  }

  static async open(url: string): Promise<SocketRecorder> {
    const recorder = new SocketRecorder(new WebSocket(url));
    await until('the socket opens', () => recorder.#socket.readyState === WebSocket.OPEN);
    return recorder;
  }

  /** One after the other: the answer to each is its snapshot. */
  async subscribeAll(topics: readonly string[], stage: Stage): Promise<void> {
    for (const topic of topics) {
      const sample = SUBSCRIPTIONS[topic];
      if (sample === undefined) {
        console.log(`no sample subscription for ${topic}`);
        continue;
      }
      const data = sample(stage);
      const frame = { messageType: 'subscribe', requestId: topic, topic };
      this.#topics[topic] = { subscribe: data === undefined ? frame : { ...frame, data } };
      this.#socket.send(JSON.stringify(this.#topics[topic].subscribe));
      await until(`${topic} answers`, () => Object.keys(this.#topics[topic] ?? {}).length > 1);
    }
  }

  /** The frames that belong to no topic, each with its answer. */
  async converse(): Promise<void> {
    await until('bars are revised', () => this.#topics.LastBar?.BarsRevised !== undefined);
    await this.#say('connect', { requestId: '0', data: { acks: true } }, 'ConnectionSucceeded');
    await this.#say('ping', { requestId: '7' }, 'Pong');
    const topics = [{ requestId: 'r1', topic: 'Health' }];
    await this.#say('subscribeMany', { topics, requestId: '1' }, 'Subscribed', 'subscribe');
    await this.#say('unsubscribe', { requestId: 'r1' }, 'Unsubscribed');
    this.#socket.send(JSON.stringify({ messageType: 'subscribe', requestId: 'r2', topic: 'Moon' }));
    await until('Error', () => this.#topics[COMMON]?.Error !== undefined);
    await this.#say('pong', { requestId: null }, 'Ping');
  }

  frames(): Readonly<Record<string, FrameExamples>> {
    this.#socket.terminate();
    return this.#topics;
  }

  async #say(name: string, fields: JsonObject, event: string, messageType = name): Promise<void> {
    const frame = { messageType, ...fields };
    this.#topics[COMMON] = { ...this.#topics[COMMON], [name]: frame };
    this.#socket.send(JSON.stringify(frame));
    await until(event, () => this.#topics[COMMON]?.[event] !== undefined);
  }

  /** The first of each kind. */
  #keep(frame: JsonObject): void {
    const topic = String(frame.requestId);
    const event = String(frame.event);
    const isOfTopic = event.endsWith('Update') || event.endsWith('Revised');
    const frames = this.#topics[isOfTopic ? topic : COMMON];
    if (frames !== undefined) frames[event] ??= frame;
  }
}
