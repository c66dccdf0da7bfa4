import Type from 'typebox';

const MAX_TOPICS = 20;
export const MAX_WEBHOOKS = 20;

const PositionShape = Type.Object({
  epoch: Type.String({ maxLength: 64 }),
  seq: Type.Integer({ minimum: 0 }),
});

const TopicItem = Type.Object({
  topic: Type.String({ description: 'A topic of the socket, but for Health.' }),
  data: Type.Optional(Type.Unknown({ description: 'As the topic takes it.' })),
  requestId: Type.Optional(
    Type.Union([Type.String({ maxLength: 128 }), Type.Integer()], {
      description: 'Names the topic in its frames; its index where it is left out.',
    }),
  ),
  since: Type.Optional(
    Type.Object(
      { epoch: Type.String(), seq: Type.Integer({ minimum: 0 }) },
      { description: 'Begin after this position, without a snapshot.' },
    ),
  ),
  snapshot: Type.Optional(Type.Boolean({ description: 'false: begin with what changes.' })),
  maxHz: Type.Optional(
    Type.Number({ minimum: 1, description: 'Deliveries a second, rounded down to 1 2 5 10 20.' }),
  ),
});

export const WebhookBody = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description:
      'Where frames are sent to, by https: an address of the public internet, port 443, 80 or ' +
      'one from 1024 on.',
  }),
  topics: Type.Array(TopicItem, {
    minItems: 1,
    maxItems: MAX_TOPICS,
    description: `1 to ${MAX_TOPICS} of them, as in a subscription.`,
  }),
  secret: Type.Optional(
    Type.String({
      pattern: '^[!-~]{16,128}$',
      description: 'Signs each delivery; 16 to 128 visible ASCII characters. Absent: a new one.',
    }),
  ),
});

export const WebhookMade = Type.Object({
  id: Type.String(),
  secret: Type.String({ description: 'Keep it: it is never shown again.' }),
});

export const WebhookState = Type.Object({
  id: Type.String(),
  url: Type.String(),
  topics: Type.Array(TopicItem),
  state: Type.Enum(['active', 'failing', 'stopped'], {
    description:
      'failing: tried again at `nextTryAt`; stopped: it failed for a day, and nothing is sent.',
  }),
  position: Type.Union([PositionShape, Type.Null()], {
    description: 'Up to where the receiver has everything; null: nothing was delivered yet.',
  }),
  createdAt: Type.Integer({ description: 'Unix milliseconds.' }),
  deliveredAt: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Time of the last delivery that was accepted.',
  }),
  failures: Type.Integer({ description: 'Attempts that failed since then.' }),
  nextTryAt: Type.Union([Type.Integer(), Type.Null()]),
  lastError: Type.Union([Type.Object({ at: Type.Integer(), message: Type.String() }), Type.Null()]),
});

export const WebhookList = Type.Array(WebhookState);

export const WebhookParams = Type.Object({
  id: Type.String({ pattern: '^wh_[a-z0-5]{20}$', description: 'As its registration answered.' }),
});

export const WebhookRemoved = Type.Object({ id: Type.String() });
