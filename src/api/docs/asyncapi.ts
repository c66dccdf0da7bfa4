/** The AsyncAPI document: the socket, and one channel for each topic on it. */
import type { TSchema } from 'typebox';
import type { Json } from '../../engine/runtime/json.ts';
import type { Topic } from '../topics/port.ts';
import { Definitions, type JsonObject } from './definitions.ts';
import { type Examples, type FrameExamples, NO_EXAMPLES } from './examples.ts';
import { CLIENT_FRAMES, fromServer, SERVER_FRAMES, subscribeTo } from './frames.ts';
import { SOCKET_GUIDE } from './guide.ts';
import { type About, CONTACT } from './openapi.ts';

/** The node that serves this document. */
const SERVER = {
  host: '{host}',
  protocol: 'ws',
  variables: { host: { default: 'localhost:8080' } },
};

type Direction = 'receive' | 'send';

/** Collects channels, messages and operations; a direction is the server's point of view. */
class Sockets {
  readonly #definitions = new Definitions('draft-07');
  readonly #channels: Record<string, JsonObject> = {};
  readonly #operations: Record<string, Json> = {};

  channel(
    name: string,
    description: string,
    messages: readonly (readonly [name: string, direction: Direction, payload: TSchema])[],
    recorded: FrameExamples = {},
  ): void {
    const entries = messages.map(([message, , payload]) => [
      message,
      { name: message, payload: this.#definitions.add(payload), ...examplesOf(recorded[message]) },
    ]);
    const path = `#/channels/${name}`;
    this.#channels[name] = { address: '/ws', description, messages: Object.fromEntries(entries) };
    for (const [message, direction] of messages) {
      this.#operations[`${name}.${message}`] = {
        action: direction,
        description: aboutOf(name, message, direction),
        channel: { $ref: path },
        messages: [{ $ref: `${path}/messages/${message}` }],
      };
    }
  }

  document(about: About): JsonObject {
    return {
      asyncapi: '3.1.0',
      info: {
        ...about,
        description: SOCKET_GUIDE,
        contact: CONTACT,
        tags: [{ name: 'Market', description: 'Prices, trades, orders and pools as they change.' }],
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      defaultContentType: 'application/json',
      servers: { node: SERVER },
      channels: this.#channels,
      operations: this.#operations,
      components: { schemas: this.#definitions.all() },
    };
  }
}

/**
 * The description of an operation; its details are at the channel and at the fields.
 */
function aboutOf(channel: string, message: string, direction: Direction): string {
  const whose = channel === 'socket' ? 'of the socket' : `of the topic ${channel}`;
  return direction === 'send'
    ? `The server sends a frame ${message} ${whose}.`
    : `The server takes a frame ${message} ${whose}.`;
}

function examplesOf(payload: JsonObject | undefined): JsonObject {
  return payload === undefined ? {} : { examples: [{ payload }] };
}

export function asyncapi(
  about: About,
  topics: readonly Topic[],
  examples: Examples = NO_EXAMPLES,
): JsonObject {
  const sockets = new Sockets();
  const common = [
    ...Object.entries(CLIENT_FRAMES).map(([name, payload]) => [name, 'receive', payload] as const),
    ...Object.entries(SERVER_FRAMES).map(
      ([event, data]) => [event, 'send', fromServer(event, data)] as const,
    ),
  ];
  sockets.channel('socket', 'Frames that belong to no topic.', common, examples.topics.socket);
  for (const topic of topics) {
    const { name, summary, cadenceMs, event, otherEvents } = topic;
    const update = [event, 'send', fromServer(event, topic.update)] as const;
    const others = Object.entries(otherEvents).map(
      ([other, data]) => [other, 'send', fromServer(other, data)] as const,
    );
    const subscribe = ['subscribe', 'receive', subscribeTo(name, topic.data)] as const;
    const description = `${summary.replace(/\.$/, '')}. At most one flush in ${cadenceMs} ms.`;
    const messages = [subscribe, update, ...others];
    sockets.channel(name, description, messages, examples.topics[name]);
  }
  return sockets.document(about);
}
