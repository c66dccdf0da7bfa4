/** Webhooks: where they are kept, and the node that delivers them. */
import { join } from 'node:path';
import type { ApiKeys } from '../../api/gateway/apiKeys.ts';
import type { NodeView, Route } from '../../api/gateway/port.ts';
import type { Topic } from '../../api/topics/port.ts';
import { Deliveries } from '../../api/webhooks/deliveries.ts';
import { Destinations } from '../../api/webhooks/destination.ts';
import type { WebhookStore } from '../../api/webhooks/port.ts';
import { rangesOf } from '../../api/webhooks/publicAddress.ts';
import { webhookRoutes } from '../../api/webhooks/routes.ts';
import { Sender } from '../../api/webhooks/sender.ts';
import { SharedWebhooks } from '../../api/webhooks/sharedStore.ts';
import { SqliteWebhooks } from '../../api/webhooks/sqliteStore.ts';
import type { TopicHub } from '../../engine/node/foldListeners.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Service } from '../../engine/runtime/service.ts';
import type { AppDeps } from './appDeps.ts';
import type { Cluster } from './cluster.ts';
import type { RoleState } from './election.ts';
import { whileLeading } from './whileLeading.ts';

export interface Webhooks {
  readonly routes: readonly Route[];
  /** Hears of every batch; delivers on the leader only. */
  readonly hub: TopicHub;
  readonly services: readonly Service[];
}

interface WebhookPlaces {
  readonly appDeps: AppDeps;
  readonly nodeView: NodeView;
  readonly apiKeys: ApiKeys;
  readonly cluster: Cluster | null;
  /** null: a single node. */
  readonly roles: RoleState | null;
}

export function openWebhooks(
  { appDeps, nodeView, apiKeys, cluster, roles }: WebhookPlaces,
  topics: readonly Topic[],
  observer: Events,
): Webhooks {
  const { settings, clock, rng } = appDeps;
  const { WEBHOOK_PRIVATE_RANGES: ranges } = settings;
  const destinations = new Destinations(ranges.length === 0 ? null : rangesOf(ranges));
  const store = storeOf(appDeps, cluster);
  let current: Deliveries | null = null;
  const deps = { store, topics, nodeView, apiKeys, clock, rng, observer };
  const deliver = (): Service => {
    const deliveries = new Deliveries({ ...deps, sender: new Sender({ destinations, clock }) });
    return {
      name: deliveries.name,
      start: () => {
        current = deliveries;
        deliveries.start();
      },
      stop: () => {
        current = null;
        return deliveries.stop();
      },
    };
  };
  const failed = (error: unknown) => observer.handlerFailed('webhooks', error);
  const delivering = roles === null ? deliver() : whileLeading('webhooks', deliver, roles, failed);
  const closing: Service = { name: 'webhooks-file', start: () => {}, stop: () => store.close() };
  return {
    routes: webhookRoutes({ store, destinations, topics, clock, rng, observer }),
    hub: {
      applied: (tags) => current?.applied(tags),
      epochChanged: () => current?.epochChanged(),
    },
    services: settings.API_KEYS_FILE === undefined ? [] : [closing, delivering],
  };
}

/** Without API keys there are none, and no file is made. */
function storeOf({ settings }: AppDeps, cluster: Cluster | null): WebhookStore {
  if (settings.API_KEYS_FILE === undefined) return none;
  if (cluster === null) return new SqliteWebhooks(join(settings.DATA_DIR, 'webhooks.sqlite'));
  return new SharedWebhooks(cluster.openBucket('webhooks', ANSWER_MS));
}

const ANSWER_MS = 2_000;

const none: WebhookStore = {
  all: async () => [],
  ownedBy: async () => [],
  add: async () => new Failure('NOT_CONFIGURED', 'this server has no API keys'),
  remove: async () => null,
  save: async () => 'outdated',
  onChange: () => () => {},
  close: () => {},
};
