/** The public port, the admin port if one is set, and the routes and topics of each. */

import { createServer as createTcpServer } from 'node:net';
import type { Registry } from 'prom-client';
import { CardRenderer } from '../../api/card/cardRenderer.ts';
import { cardRoute } from '../../api/card/routes.ts';
import { type About, openapi } from '../../api/docs/openapi.ts';
import { docsRoutes, prepareDocuments } from '../../api/docs/routes.ts';
import type { ApiKeys } from '../../api/gateway/apiKeys.ts';
import { createGateway, type Gateway } from '../../api/gateway/gateway.ts';
import type { GatewayOptions } from '../../api/gateway/options.ts';
import type { NodeView, Route } from '../../api/gateway/port.ts';
import { createServer } from '../../api/gateway/server.ts';
import { mcpRoute } from '../../api/mcp/routes.ts';
import { type AdaUsd, AdaUsdFeed, fixedAdaUsd } from '../../api/operations/adaUsd.ts';
import { adminRoutes } from '../../api/operations/routes.ts';
import type { NodeStatus } from '../../api/operations/status.ts';
import { Books } from '../../api/orders/book.ts';
import type { PageNetwork } from '../../api/page/document.ts';
import { missingPageRoute, pageRoutes } from '../../api/page/routes.ts';
import {
  type TokenPageOptions,
  type TokenSource,
  tokenPageRoute,
} from '../../api/page/tokenPage.ts';
import { TickerViews } from '../../api/tickers/views.ts';
import { createHub } from '../../api/topics/hub.ts';
import type { Topic } from '../../api/topics/port.ts';
import { KnownEnd } from '../../cluster/knownEnd.ts';
import { COIN } from '../../engine/market/asset.ts';
import { DEFAULT_FEES, type FeeParameters } from '../../engine/market/fees.ts';
import { pairName } from '../../engine/market/pair.ts';
import type { TopicHub } from '../../engine/node/foldListeners.ts';
import type { Node } from '../../engine/node/node.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, systemCode, Unavailable } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Reasons } from '../../engine/runtime/reasons.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { readDeployment } from '../settings/deployments.ts';
import type { Settings } from '../settings/table.ts';
import type { AppDeps } from './appDeps.ts';
import { CacheWarmer } from './cacheWarmer.ts';
import type { ChainFeatures } from './chain.ts';
import type { Cluster } from './cluster.ts';
import { gatewayOptionsOf } from './gatewayOptions.ts';
import { statusOf } from './health.ts';
import { chainRoutes, marketRoutes, marketTopics } from './services.ts';
import { openWebhooks } from './webhooks.ts';

interface Listeners {
  readonly hub: TopicHub;
  readonly services: readonly Service[];
  /** The port that was bound. */
  port(): number;
}

export function openListeners(
  appDeps: AppDeps,
  node: Node,
  chain: ChainFeatures | null,
  cluster: Cluster | null,
  events: Events,
  registry: Registry,
  reasons: Reasons,
  apiKeys: ApiKeys,
): Listeners {
  const { settings, clock, rng } = appDeps;
  const reads = cacheWarmerOf(node, chain, clock, events);
  const status = statusOf(appDeps, node, chain, reasons, reads);
  const nodeView = nodeViewOf(node, cluster, clock, status);
  const admin = adminRoutes(status, registry);
  const adaUsd = adaUsdOf(appDeps, events);
  const renderer = new CardRenderer(clock, (error) => events.handlerFailed('pictures', error));
  const books = new Books(node, feesOf(appDeps));
  const topics = marketTopics(node, books, status);
  const places = { appDeps, nodeView, apiKeys, cluster, roles: chain?.roles ?? null };
  const webhooks = openWebhooks(places, topics, events);
  const routes = [...marketRoutes(node, books, chain, clock, adaUsd), ...webhooks.routes];
  const market = settings.ADMIN_PORT === undefined ? [...routes, ...admin] : routes;
  const links = linkRoutesOf(node, status, settings, chain, renderer);
  const about = { title: 'upcurve', version: appDeps.version };
  const described = [...market, ...links, ...(settings.MCP ? [mcpOf(about, market)] : [])];
  const documents = docsRoutes(about, described, topics);
  const options = { ...gatewayOptionsOf(settings), ...appDeps.gateway };
  const listener = (
    routes: readonly Route[],
    offered: readonly Topic[],
    options: Partial<GatewayOptions>,
    missingPage: Route | null,
  ) => {
    const server = (appDeps.host?.createServer ?? createServer)(events);
    const streams = createHub({ nodeView, clock, observer: events, publish: server.publish });
    const common = { nodeView, clock, rng, observer: events, apiKeys, options, missingPage };
    events.serves(routes, offered);
    const gateway = createGateway({ ...common, server, streams, routes, topics: offered });
    return { gateway, streams };
  };
  const { pages, missing } = pagesOf(pageOptionsOf(settings, chain));
  const open = listener([...described, ...documents, ...pages], topics, options, missing);
  let port = 0;
  const gateway: Service = {
    name: 'gateway',
    start: async () => {
      if (appDeps.preparesDocuments === true) await prepareDocuments(documents);
      port = await listen('market', open.gateway, settings.HOST, settings.PORT, events);
    },
    stop: () => open.gateway.stop(),
  };
  const services: Service[] = [gateway, reads, renderer, ...feedsOf(adaUsd), ...webhooks.services];
  services.push(...readerCallServices(chain, cluster, status));
  if (settings.ADMIN_PORT !== undefined) {
    const back = listener(admin, [], { ...options, sharePort: false }, null);
    services.unshift(adminService(back.gateway, settings.HOST, settings.ADMIN_PORT, events));
  }
  return { hub: hubOf(open.streams, webhooks.hub), services, port: () => port };
}

function mcpOf(about: About, routes: readonly Route[]): Route {
  return mcpRoute({ version: about.version, openapi: () => openapi(about, routes), routes });
}

function pagesOf(facts: TokenPageOptions) {
  return { pages: pageRoutes(facts), missing: missingPageRoute(facts) };
}

function cacheWarmerOf(
  node: Node,
  chain: ChainFeatures | null,
  clock: Clock,
  events: Events,
): CacheWarmer {
  const sync = chain?.sync ?? null;
  return new CacheWarmer({
    node,
    clock,
    isSynced: () => node.synced() && (sync === null || sync.isSynced() || sync.isNodeAway()),
    failed: (error) => events.handlerFailed('tickers', error),
  });
}

function adminService(gateway: Gateway, host: string, port: number, events: Events): Service {
  return {
    name: 'admin',
    start: async () => {
      await listen('admin', gateway, host, port, events);
    },
    stop: () => gateway.stop(),
  };
}

/** Both hear of every batch, one after the other. */
function hubOf(streams: TopicHub, webhooks: TopicHub): TopicHub {
  return {
    applied(tags) {
      streams.applied(tags);
      webhooks.applied(tags);
    },
    epochChanged() {
      streams.epochChanged();
      webhooks.epochChanged();
    },
  };
}

/** null: no source is set. */
function adaUsdOf({ settings, clock }: AppDeps, observer: Events): AdaUsd | null {
  const { ADA_USD, ADA_USD_URL: url } = settings;
  if (ADA_USD !== undefined) return fixedAdaUsd(ADA_USD, clock);
  return url === undefined ? null : new AdaUsdFeed({ url, clock, observer });
}

function feedsOf(adaUsd: AdaUsd | null): Service[] {
  return adaUsd instanceof AdaUsdFeed ? [adaUsd] : [];
}

/** Links to tokens, and their pictures. */
function linkRoutesOf(
  node: Node,
  status: NodeStatus,
  settings: Settings,
  chain: ChainFeatures | null,
  renderer: CardRenderer,
): Route[] {
  const pictures = cardRoute({
    node,
    renderer,
    images: chain?.txContext.images ?? null,
    maxAgeSeconds: settings.NETWORK === 'devnet' ? 0 : 60,
    facts: (asset) => TickerViews.of(node).find(asset),
  });
  return [tokenPageRoute(tokensOf(node, status), pageOptionsOf(settings, chain)), pictures];
}

function tokensOf(node: Node, status: NodeStatus): TokenSource {
  return {
    find: (token) => node.fold.directory.find(token),
    isTraded: (token) => node.fold.pair(pairName(token, COIN)) !== null,
    synced: () => status.serves(),
  };
}

function pageOptionsOf(settings: Settings, chain: ChainFeatures | null): TokenPageOptions {
  const { ADA_USD, ADA_USD_URL, PUBLIC_URL = null } = settings;
  const hasRate = ADA_USD !== undefined || ADA_USD_URL !== undefined;
  const explorerUrl = explorerOf(settings);
  const { liveSinceMs = null } = chain ?? {};
  const network = () => (chain === null ? 'none' : networkOf(chain));
  return { network, hasRate, explorerUrl, liveSinceMs, publicUrl: PUBLIC_URL };
}

/** null: not known, as on a reader. */
function networkOf({ txContext }: ChainFeatures): PageNetwork | null {
  try {
    const { network: name, addressNetwork: addresses, curve } = txContext.deployment;
    return { name, addresses, supply: curve.supply };
  } catch (error) {
    if (error instanceof Unavailable) return null;
    throw error;
  }
}

const EXPLORERS: Readonly<Partial<Record<Settings['NETWORK'], string>>> = {
  mainnet: 'https://cexplorer.io/tx/',
  preprod: 'https://preprod.cexplorer.io/tx/',
  preview: 'https://preview.cexplorer.io/tx/',
};

function explorerOf({ EXPLORER_URL: url, NETWORK }: Settings): string | null {
  return url === 'none' ? null : (url ?? EXPLORERS[NETWORK] ?? null);
}

function nodeViewOf(
  node: Node,
  cluster: Cluster | null,
  clock: Clock,
  status: NodeStatus,
): NodeView {
  const known = cluster === null ? null : new KnownEnd({ ...cluster, node, clock });
  return {
    applied: () => node.applied(),
    synced: () => status.serves(),
    logEnd: () => (known === null ? node.logEnd() : known.ask()),
    tip: () => status.tip(),
    onApplied: (listener) => node.onApplied(listener),
  };
}

/** None on a single node, and on a reader. */
function readerCallServices(
  chain: ChainFeatures | null,
  cluster: Cluster | null,
  status: NodeStatus,
): Service[] {
  if (cluster === null || chain === null || chain.forward !== null) return [];
  const isAble = () => status.serves() && !status.stale() && chain.isReady();
  const routes = chainRoutes(chain);
  return [cluster.answerCalls(routes, isAble)];
}

async function listen(
  what: string,
  gateway: Gateway,
  host: string,
  port: number,
  events: Events,
): Promise<number> {
  const bound = await gateway.start(host, port);
  if (bound instanceof Failure) throw new Error(bound.message);
  events.listening(what, host, bound);
  return bound;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses it. Stop that one, or choose another port with',
  EACCES: 'this user may not use it. Choose one above 1023 with',
};

/**
 * Throws with the port, the reason and a remedy if a port cannot be used. Runs before the start
 * changes anything: a start that fails later has created a chain by then.
 */
export async function requireFreePorts(settings: Settings): Promise<void> {
  const { HOST, ADMIN_PORT, PORT_SHARED } = settings;
  // Other nodes of this machine may listen on a shared port already.
  const PORT = PORT_SHARED ? undefined : settings.PORT;
  for (const [key, port] of Object.entries({ PORT, ADMIN_PORT })) {
    // 0 is any free port.
    if (port === undefined || port === 0) continue;
    const code = await listenErrorCode(HOST, port);
    if (code === null) continue;
    const reason = REASONS[code];
    if (reason === undefined) {
      throw new Error(`cannot listen on HOST=${HOST}: ${code}. Is it an address of this machine?`);
    }
    throw new Error(`cannot listen on ${HOST}:${port}: ${reason} ${key}=…`);
  }
}

/** The code of the system's error, such as EADDRINUSE; null when it can be listened on. */
function listenErrorCode(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createTcpServer();
    server.once('error', (error) => resolve(systemCode(error) ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** The fees of a trade, on a reader too; null: this node was given no deployment. */
function feesOf({ settings, deployment }: AppDeps): FeeParameters | null {
  const { NETWORK, DEPLOYMENT_FILE } = settings;
  if (NETWORK === 'devnet' || NETWORK === 'none') return DEFAULT_FEES;
  return (deployment ?? readDeployment(NETWORK, DEPLOYMENT_FILE)).partial?.fees ?? null;
}
