/** The AsyncAPI document: the socket, and one channel for each topic on it. */
import type { TSchema } from 'typebox';
import type { Json } from '../../runtime/json.ts';
import type { Topic } from '../../topics/port.ts';
import { Definitions, type JsonObject } from './definitions.ts';
import { CLIENT_FRAMES, CLOSE_CODES, fromServer, SERVER_FRAMES, subscribeTo } from './frames.ts';
import type { About } from './openapi.ts';

const RULES = `One socket carries all topics, at /ws, /websocket/ws or /v1/websocket/ws. As
subprotocol json (default) or msgpack (or ?encoding=msgpack): the same envelopes.

A snapshot replaces your state; a frame whose seq is not above yours is ignored; a frame whose prev
is above your seq reveals a loss: subscribe again with since, on this node or any other.

Close codes: 4000 to 4499 reconnect, 4500 to 4999 do not.
`;

type Direction = 'receive' | 'send';

/** Collects channels, messages and operations; a direction is the server's point of view. */
class Sockets {
  readonly #definitions = new Definitions();
  readonly #channels: Record<string, JsonObject> = {};
  readonly #operations: Record<string, Json> = {};

  channel(
    name: string,
    description: string,
    messages: readonly (readonly [name: string, direction: Direction, payload: TSchema])[],
  ): void {
    const entries = messages.map(([message, , payload]) => [
      message,
      { name: message, payload: this.#definitions.add(payload) },
    ]);
    const path = `#/channels/${name}`;
    this.#channels[name] = { address: '/ws', description, messages: Object.fromEntries(entries) };
    for (const [message, direction] of messages) {
      this.#operations[`${name}.${message}`] = {
        action: direction,
        channel: { $ref: path },
        messages: [{ $ref: `${path}/messages/${message}` }],
      };
    }
  }

  document(about: About): JsonObject {
    const codes = CLOSE_CODES.map(([code, meaning]) => `- ${code}: ${meaning}`).join('\n');
    return {
      asyncapi: '3.0.0',
      info: {
        ...about,
        description: `${RULES}${codes}\n`,
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      defaultContentType: 'application/json',
      channels: this.#channels,
      operations: this.#operations,
      components: { schemas: this.#definitions.all() },
    };
  }
}

export function asyncapi(about: About, topics: readonly Topic[]): JsonObject {
  const sockets = new Sockets();
  sockets.channel('socket', 'Frames that belong to no topic.', [
    ...Object.entries(CLIENT_FRAMES).map(([name, payload]) => [name, 'receive', payload] as const),
    ...Object.entries(SERVER_FRAMES).map(
      ([event, data]) => [event, 'send', fromServer(event, data)] as const,
    ),
  ]);
  for (const topic of topics) {
    const { name, summary, cadenceMs, input, event, output, otherEvents } = topic;
    const update = [event, 'send', fromServer(event, output)] as const;
    const others = otherEvents.map(
      (other) => [other.event, 'send', fromServer(other.event, other.data)] as const,
    );
    const subscribe = ['subscribe', 'receive', subscribeTo(name, input)] as const;
    const description = `${summary}. At most one flush in ${cadenceMs} ms.`;
    sockets.channel(name, description, [subscribe, update, ...others]);
  }
  return sockets.document(about);
}
