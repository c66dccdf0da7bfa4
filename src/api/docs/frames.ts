/** Frames of Protocol v2 that belong to no topic, protocol.md sections 6.1, 6.2 and 6.6. */
import Type, { type TProperties, type TSchema } from 'typebox';

const RequestId = Type.Union([Type.String({ maxLength: 128 }), Type.Integer(), Type.Null()]);
/** Names a subscription: null would name none. */
const SubscriptionId = Type.Union([Type.String({ maxLength: 128 }), Type.Integer()]);
const Epoch = Type.String({ pattern: '^[0-9]{1,15}-[A-Za-z0-9_-]{1,24}$' });
const Since = Type.Object({ epoch: Epoch, seq: Type.Integer({ minimum: 0 }) });

/** Our extensions of subscribe; a client that uses one gets `Subscribed` as an answer. */
const RESUME = {
  since: Type.Optional(Since),
  snapshot: Type.Optional(Type.Boolean({ description: 'false: updates only.' })),
  maxHz: Type.Optional(Type.Number({ minimum: 1, description: 'Rounded down to 1 2 5 10 20.' })),
};

function fromClient(messageType: string, more: TProperties): TSchema {
  return Type.Object({
    messageType: Type.Literal(messageType),
    clientId: Type.Optional(Type.String()),
    requestId: RequestId,
    ...more,
  });
}

/** A subscription to one topic. */
export function subscribeTo(topic: string, data: TSchema): TSchema {
  const fields = { topic: Type.Literal(topic), data: Type.Optional(data), ...RESUME };
  return fromClient('subscribe', { requestId: SubscriptionId, ...fields });
}

/** An envelope from the server. */
export function fromServer(event: string, data: TSchema): TSchema {
  return Type.Object({
    requestId: RequestId,
    event: Type.Literal(event),
    messageType: Type.Enum([event === 'Ping' ? 'Request' : 'Response']),
    data,
    epoch: Type.String(),
    seq: Type.Integer({ description: 'The subscription is complete up to and including this.' }),
    prev: Type.Union([Type.Integer(), Type.Null()], {
      description: 'seq of the frame before in this stream; above yours, you missed one.',
    }),
    snapshot: Type.Optional(Type.Literal(true, { description: 'data replaces your state.' })),
    ts: Type.Integer({ description: 'Unix milliseconds.' }),
  });
}

const Many = Type.Array(
  Type.Object({
    requestId: SubscriptionId,
    topic: Type.String(),
    data: Type.Optional(Type.Unknown()),
    ...RESUME,
  }),
);

export const CLIENT_FRAMES: Readonly<Record<string, TSchema>> = {
  connect: fromClient('connect', {
    data: Type.Optional(
      Type.Object({
        acks: Type.Optional(Type.Boolean()),
        key: Type.Optional(
          Type.String({ description: 'API key, `upc_…`; unknown: UNKNOWN_KEY and 4501.' }),
        ),
      }),
    ),
  }),
  subscribeMany: fromClient('subscribe', { topics: Many }),
  unsubscribe: fromClient('unsubscribe', {}),
  ping: fromClient('ping', {}),
  pong: fromClient('pong', {}),
};

const Limits = Type.Object({
  subscriptions: Type.Integer(),
  frameBytes: Type.Integer(),
  framesPerSecond: Type.Integer(),
  bufferBytes: Type.Integer(),
});
const Tip = Type.Object({
  slot: Type.Union([Type.Integer(), Type.Null()]),
  hash: Type.Union([Type.String(), Type.Null()]),
  lagMs: Type.Union([Type.Integer(), Type.Null()]),
});
const Ack = Type.Object({ recovered: Type.Boolean(), seq: Type.Integer() });

export const SERVER_FRAMES: Readonly<Record<string, TSchema>> = {
  ConnectionSucceeded: Type.Object({
    timestamp: Type.Integer(),
    connectionId: Type.String(),
    limits: Limits,
    heartbeatMs: Type.Integer(),
  }),
  Ping: Type.Object({ timestamp: Type.Integer(), seq: Type.Integer(), tip: Tip }),
  Pong: Type.Unknown(),
  Subscribed: Ack,
  Unsubscribed: Ack,
  Resync: Type.Object({ reason: Type.Enum(['slow', 'epoch']), skipped: Type.Integer() }),
  Error: Type.Object({ cause: Type.String(), message: Type.String(), retry: Type.Boolean() }),
  Shutdown: Type.Object({ reconnectAfterMs: Type.Integer() }),
};

/** A client reconnects after 4000…4499, and does not after 4500…4999. */
export const CLOSE_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [4001, 'going away: reconnect after reconnectAfterMs of Shutdown'],
  [4002, 'no frame from the client for 30 s'],
  [4008, 'too slow even for Resync: 30 s without reading'],
  [4403, 'too many connections from this address, or with this API key'],
  [4429, 'too many frames a second'],
  [4500, 'no known subprotocol among those offered (json, msgpack)'],
  [4501, 'five frames in 10 s that could not be used, or an API key that is unknown or revoked'],
];
