/** `/v1/webhooks`: an API key registers addresses that receive what its topics say. */

import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, failureIn, invalid, invalidField } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { MAX_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import type { Topic } from '../topics/port.ts';
import { readSubscribeParams } from '../ws/clientFrame.ts';
import type { Destinations } from './destination.ts';
import {
  newProgress,
  positionOf,
  type StoredWebhook,
  type Webhook,
  type WebhookStore,
  type WebhookTopic,
} from './port.ts';
import {
  MAX_WEBHOOKS,
  WebhookBody,
  WebhookList,
  WebhookMade,
  WebhookParams,
  WebhookRemoved,
  WebhookState,
} from './schema.ts';

interface WebhookRouteDeps {
  readonly store: WebhookStore;
  readonly destinations: Destinations;
  readonly topics: readonly Topic[];
  readonly clock: Clock;
  readonly rng: Rng;
  /** A file, or NATS, that takes no change is a reason in readiness. */
  readonly observer: { webhooksNotSaved(why: string): void };
}

const COMMON = {
  tag: 'Webhooks',
  rate: 'read',
  needsSync: false,
  positioned: false,
  needsKey: true,
} as const;

/** Limit of all topics together, as JSON: they are stored and read again whole. */
const MAX_TOPIC_BYTES = 8_192;
const SECRET_BYTES = 64;

export function webhookRoutes(deps: WebhookRouteDeps): Route[] {
  return [registration(deps), ...lookups(deps), removal(deps)];
}

function registration(deps: WebhookRouteDeps): Route {
  return route({
    ...COMMON,
    method: 'POST',
    path: '/v1/webhooks',
    operationId: 'createWebhook',
    summary: 'Have frames sent to your server',
    description:
      'Deliveries are POSTs of a JSON array of frames, as the socket sends them, signed with the ' +
      `secret. An API key may have ${MAX_WEBHOOKS}. The guide lists the duties of a receiver.`,
    body: WebhookBody,
    maxBodyBytes: MAX_BODY_BYTES,
    exclusive: true,
    answers: { 200: { description: 'Deliveries begin at once', schema: WebhookMade } },
    causes: ['LIMIT_EXCEEDED', 'TOPIC_NOT_FOUND', 'NOT_READY'],
    handle: ({ body, apiKey = '' }) => register(deps, apiKey, body),
  });
}

function lookups({ store }: WebhookRouteDeps): Route[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/v1/webhooks',
      operationId: 'webhooks',
      summary: 'Webhooks of your API key',
      answers: { 200: { description: 'Oldest first', schema: WebhookList } },
      causes: ['NOT_READY'],
      handle: async ({ apiKey = '' }) => {
        const own = await ownedBy(store, apiKey);
        return own instanceof Failure ? own : jsonAnswer(own.map(viewOf));
      },
    }),
    route({
      ...COMMON,
      method: 'GET',
      path: '/v1/webhooks/:id',
      operationId: 'webhook',
      summary: 'One webhook: its state, its position, its last error',
      params: WebhookParams,
      answers: { 200: { description: 'As of the last attempt', schema: WebhookState } },
      causes: ['NOT_FOUND', 'NOT_READY'],
      handle: async ({ params, apiKey = '' }) => {
        const found = await findOwned(store, apiKey, params.id);
        return found instanceof Failure ? found : jsonAnswer(viewOf(found));
      },
    }),
  ];
}

function removal({ store, observer }: WebhookRouteDeps): Route {
  return route({
    ...COMMON,
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    operationId: 'deleteWebhook',
    summary: 'Send no more to one',
    description: 'One delivery that is under way may still arrive.',
    params: WebhookParams,
    answers: { 200: { description: 'It is gone', schema: WebhookRemoved } },
    causes: ['NOT_FOUND', 'NOT_READY'],
    handle: async ({ params, apiKey = '' }) => {
      const found = await findOwned(store, apiKey, params.id);
      if (found instanceof Failure) return found;
      const failure = await store.remove(found.webhook);
      if (failure !== null) observer.webhooksNotSaved(failure.message);
      return failure ?? jsonAnswer({ id: params.id });
    },
  });
}

interface Registration {
  readonly url: string;
  readonly topics: readonly object[];
  readonly secret?: string;
}

async function register(
  { store, destinations, topics, clock, rng, observer }: WebhookRouteDeps,
  owner: string,
  { url, topics: wanted, secret = `whsec_${rng.secret().slice(0, SECRET_BYTES)}` }: Registration,
): Promise<Answer | Failure> {
  const read = readTopics(wanted, new Map(topics.map((topic) => [topic.name, topic])));
  if (read instanceof Failure) return read;
  const checked = await destinations.check(url);
  if (checked instanceof Failure) return checked;
  const own = await ownedBy(store, owner);
  if (own instanceof Failure) return own;
  if (own.length >= MAX_WEBHOOKS) return tooMany();
  const id = `wh_${rng.token(20)}`;
  const webhook: Webhook = {
    id,
    owner,
    url: checked.href,
    secret,
    topics: read,
    createdMs: clock.nowMs(),
  };
  const refused = await store.add(webhook, newProgress(read));
  if (refused !== null) observer.webhooksNotSaved(refused.message);
  const failure = refused ?? (await takeBack(store, webhook));
  return failure ?? jsonAnswer({ id, secret });
}

/**
 * Removes it if the key has more than its limit now. Registrations at other nodes may have counted
 * before each other's: each counts again after its own, so the last one sees all, and none stays
 * beyond the limit. Two at once for one place may both be refused.
 */
async function takeBack(store: WebhookStore, webhook: Webhook): Promise<Failure | null> {
  const own = await ownedBy(store, webhook.owner);
  // It is registered: an error would withhold its secret from the client.
  if (own instanceof Failure || own.length <= MAX_WEBHOOKS) return null;
  return (await store.remove(webhook)) ?? tooMany();
}

function tooMany(): Failure {
  const message = `an API key may have ${MAX_WEBHOOKS} webhooks: remove one first`;
  return new Failure('LIMIT_EXCEEDED', message);
}

/** Checked as a socket checks a subscription. */
function readTopics(
  wanted: readonly object[],
  topics: ReadonlyMap<string, Topic>,
): WebhookTopic[] | Failure {
  if (!isShort(wanted)) {
    return invalidField('body.topics', `must have ${MAX_TOPIC_BYTES} bytes of JSON at most`);
  }
  const read: WebhookTopic[] = [];
  const ids = new Set<string>();
  for (const [index, item] of wanted.entries()) {
    const at = `body.topics.${index}`;
    const params = readSubscribeParams({ requestId: String(index), ...item }, {}, true);
    const name = typeof params.topic === 'string' ? params.topic : '';
    const topic = topics.get(name);
    const failure = params.refused ?? (topic === undefined ? unknownTopic(topics) : null);
    if (topic === undefined || failure !== null)
      return failureIn(at, failure ?? unknownTopic(topics));
    if (topic.periodic) return invalid(`${at}.topic`, `${name} is not of the log: ask it by HTTP`);
    const open = topic.accept(params.data ?? {});
    if (open instanceof Failure) return failureIn(at, open);
    const { requestId, since, snapshot, maxHz, data } = params;
    const isKnown = ids.has(JSON.stringify(requestId));
    if (requestId === null || isKnown) {
      return invalidField(`${at}.requestId`, 'must name no other topic of this webhook');
    }
    ids.add(JSON.stringify(requestId));
    read.push({
      topic: name,
      requestId,
      snapshot,
      ...(data === undefined ? {} : { data }),
      ...(since === null ? {} : { since }),
      ...(maxHz === null ? {} : { maxHz }),
    });
  }
  return read;
}

/** JSON that can be read may be nested too deep to be written. */
function isShort(wanted: readonly object[]): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(wanted)) <= MAX_TOPIC_BYTES;
  } catch {
    // It is nested too deep.
    return false;
  }
}

function unknownTopic(topics: ReadonlyMap<string, Topic>): Failure {
  return new Failure('TOPIC_NOT_FOUND', `topic must be one of ${[...topics.keys()].join(', ')}`);
}

async function ownedBy(
  store: WebhookStore,
  owner: string,
): Promise<readonly StoredWebhook[] | Failure> {
  const own = await store.ownedBy(owner);
  if (own instanceof Failure) return own;
  return own.toSorted((a, b) => a.webhook.createdMs - b.webhook.createdMs);
}

/** A webhook of another key counts as unknown. */
async function findOwned(
  store: WebhookStore,
  owner: string,
  id: string,
): Promise<StoredWebhook | Failure> {
  const own = await ownedBy(store, owner);
  if (own instanceof Failure) return own;
  const found = own.find(({ webhook }) => webhook.id === id);
  return found ?? new Failure('NOT_FOUND', 'your API key has no such webhook');
}

function viewOf({ webhook, progress }: StoredWebhook) {
  const { id, url, topics, createdMs } = webhook;
  const { failures, isStopped, deliveredMs, nextTryMs, lastError } = progress;
  const state = isStopped ? 'stopped' : failures > 0 ? 'failing' : 'active';
  return {
    id,
    url,
    topics,
    state,
    position: positionOf(progress),
    createdAt: createdMs,
    deliveredAt: deliveredMs,
    failures,
    nextTryAt: nextTryMs,
    lastError: lastError === null ? null : { at: lastError.atMs, message: lastError.message },
  };
}
