/** Every route and topic of the market, with a chain or without. */

import { launchRoute } from '../../api/builder/launch.ts';
import { orderRoutes } from '../../api/builder/order.ts';
import { parameterRoutes } from '../../api/builder/parameters.ts';
import { quoteRoutes } from '../../api/builder/quote.ts';
import { spendRoutes, submitRoutes } from '../../api/builder/spend.ts';
import { HistoryAnswers } from '../../api/charts/historyAnswers.ts';
import { chartRoutes } from '../../api/charts/routes.ts';
import { lastBarTopic, mcapBarTopic } from '../../api/charts/topics.ts';
import { udfRoutes } from '../../api/charts/udf.ts';
import { devnetRoutes } from '../../api/devnet/routes.ts';
import type { Route } from '../../api/gateway/port.ts';
import { portfolioRoutes } from '../../api/holders/portfolioRoutes.ts';
import { holderRoutes } from '../../api/holders/routes.ts';
import { insightsTopic } from '../../api/holders/topics.ts';
import { imageRoutes } from '../../api/images/routes.ts';
import { type AdaUsd, adaUsdRoute } from '../../api/operations/adaUsd.ts';
import { utilityRoutes } from '../../api/operations/routes.ts';
import type { NodeStatus } from '../../api/operations/status.ts';
import { healthTopic } from '../../api/operations/topics.ts';
import type { Books } from '../../api/orders/book.ts';
import { orderBookRoute } from '../../api/orders/bookRoute.ts';
import { openOrdersOf } from '../../api/orders/orderLookup.ts';
import { orderFeedRoutes } from '../../api/orders/routes.ts';
import { orderTopics } from '../../api/orders/topics.ts';
import { newLaunchesTopic } from '../../api/pools/launches.ts';
import { poolRoutes } from '../../api/pools/routes.ts';
import { poolTopics } from '../../api/pools/topics.ts';
import { SlicedReads } from '../../api/schemas/slicedReads.ts';
import { eventStreamRoutes } from '../../api/sse/routes.ts';
import { tickerRoutes } from '../../api/tickers/routes.ts';
import { tickerTopics } from '../../api/tickers/topics.ts';
import type { Topic } from '../../api/topics/port.ts';
import { tradeRoutes } from '../../api/trades/routes.ts';
import { tradeTopics } from '../../api/trades/topics.ts';
import { utxoRoutes } from '../../api/utxo/routes.ts';
import { vestingBuildRoutes, vestingQueryRoutes } from '../../api/vesting/routes.ts';
import type { Node } from '../../engine/node/node.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { ChainFeatures } from './chain.ts';

/** Routes that need a chain, some also keys: a reader forwards them to other nodes. */
export function chainRoutes({ txContext, devnet }: ChainFeatures): Route[] {
  return [
    ...orderRoutes(txContext),
    ...quoteRoutes(txContext),
    launchRoute(txContext),
    ...spendRoutes(txContext),
    ...submitRoutes(txContext),
    ...parameterRoutes(txContext),
    ...vestingBuildRoutes(txContext),
    ...utxoRoutes(txContext.utxos),
    ...(devnet === null ? [] : devnetRoutes(devnet)),
  ];
}

export function marketRoutes(
  node: Node,
  books: Books,
  chain: ChainFeatures | null,
  clock: Clock,
  adaUsd: AdaUsd | null,
): Route[] {
  const histories = new HistoryAnswers(node, { isCacheable: (chain?.devnet ?? null) === null });
  const reads = new SlicedReads(node);
  const read = [
    ...chartRoutes(node, histories),
    ...udfRoutes(node, clock, histories),
    ...poolRoutes(node),
    ...holderRoutes(node),
    ...portfolioRoutes(node, reads, (state, pkhs) => openOrdersOf(node, state, pkhs)),
    ...orderFeedRoutes(node, reads),
    orderBookRoute(node, books),
    ...tradeRoutes(node),
    ...tickerRoutes(node),
    ...vestingQueryRoutes(reads),
    ...utilityRoutes(clock),
    adaUsdRoute(adaUsd),
    ...eventStreamRoutes(),
  ];
  if (chain === null) return read;
  const { txContext, forward } = chain;
  const own = chainRoutes(chain);
  const offered = forward === null ? own : own.map(forward);
  return [...read, ...offered, ...imageRoutes(txContext.images)];
}

export function marketTopics(node: Node, books: Books, status: NodeStatus): Topic[] {
  return [
    lastBarTopic(node),
    mcapBarTopic(node),
    ...poolTopics(node),
    ...orderTopics(node, books),
    ...tradeTopics(node),
    ...tickerTopics(node),
    insightsTopic(node),
    newLaunchesTopic(node),
    healthTopic(status),
  ];
}
