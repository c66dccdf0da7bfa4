/** Every route and topic of the market, with a chain or without. */
import type { Node } from '../actors/node.ts';
import type { Route } from '../gateway/port.ts';
import { launchRoute } from '../services/builder/launch.ts';
import { orderRoutes } from '../services/builder/order.ts';
import { parameterRoutes } from '../services/builder/parameters.ts';
import { spendRoutes } from '../services/builder/spend.ts';
import { submitRoutes } from '../services/builder/submit.ts';
import { chartRoutes } from '../services/charts/routes.ts';
import { lastBarTopic, mcapBarTopic } from '../services/charts/topics.ts';
import { udfRoutes } from '../services/charts/udf.ts';
import { devnetRoutes } from '../services/devnet/routes.ts';
import { holderRoutes } from '../services/holders/routes.ts';
import { imageRoutes } from '../services/images/routes.ts';
import { utilityRoutes } from '../services/operations/routes.ts';
import type { NodeStatus } from '../services/operations/status.ts';
import { healthTopic } from '../services/operations/topics.ts';
import { orderFeedRoutes } from '../services/orders/routes.ts';
import { orderTopics } from '../services/orders/topics.ts';
import { poolRoutes } from '../services/pools/routes.ts';
import { poolTopics } from '../services/pools/topics.ts';
import { tradeRoutes } from '../services/trades/routes.ts';
import { tradeTopics } from '../services/trades/topics.ts';
import { utxoRoutes } from '../services/utxo/routes.ts';
import { vestingBuildRoutes } from '../services/vesting/build.ts';
import { vestingQueryRoutes } from '../services/vesting/queries.ts';
import type { Topic } from '../topics/port.ts';
import type { ChainKit } from './chain.ts';
import type { World } from './world.ts';

export function marketRoutes(node: Node, chain: ChainKit | null, world: World): Route[] {
  const { clock, version } = world;
  const read = [
    ...chartRoutes(node),
    ...udfRoutes(node, clock),
    ...poolRoutes(node),
    ...holderRoutes(node),
    ...orderFeedRoutes(node),
    ...tradeRoutes(node),
    ...vestingQueryRoutes(node),
    ...utilityRoutes(clock),
  ];
  if (chain === null) return read;
  const { workshop } = chain;
  return [
    ...read,
    ...orderRoutes(workshop),
    launchRoute(workshop),
    ...spendRoutes(workshop),
    ...submitRoutes(workshop),
    ...parameterRoutes(workshop, version),
    ...vestingBuildRoutes(workshop),
    ...utxoRoutes(workshop.utxos),
    ...imageRoutes(workshop.images),
    ...(chain.devnet === null ? [] : devnetRoutes(chain.devnet)),
  ];
}

export function marketTopics(node: Node, status: NodeStatus): Topic[] {
  return [
    lastBarTopic(node),
    mcapBarTopic(node),
    ...poolTopics(node),
    ...orderTopics(node),
    ...tradeTopics(node),
    healthTopic(status),
  ];
}
