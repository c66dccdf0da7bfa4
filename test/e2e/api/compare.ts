/**
 * Every row of protocol.md sections 1, 2, 4 and 5 and the snapshot of every topic of 6.3, asked of
 * a running server at rest and compared with the naive model of the same chain.
 */
import assert from 'node:assert/strict';
import { Asker } from './asker.ts';
import { compareCharts } from './compareCharts.ts';
import { compareOrders } from './compareOrders.ts';
import { comparePeople } from './comparePeople.ts';
import { comparePools } from './comparePools.ts';
import { compareTickers } from './compareTickers.ts';
import { compareTopics } from './compareTopics.ts';
import type { NaiveMarket } from './model.ts';

/**
 * Sections 1, 2, 4 and 5 of protocol.md; `/create-lock` and `/withdraw` build, and `/v1/stream`
 * does not end: they are tested elsewhere.
 */
const OURS = /^(GET|POST) (\/v1\/(?!docs\/|stream$|webhooks)|\/balances\/|\/getUtxos$)/;

interface Comparison {
  readonly url: string;
  readonly market: NaiveMarket;
  /** Keys whose outputs all came in blocks, none in the genesis. */
  readonly walletPkhs: readonly string[];
}

/** Answers how many answers were compared. */
export async function compareAll(what: string, comparison: Comparison): Promise<number> {
  const { url, market, walletPkhs } = comparison;
  const asker = await Asker.at(url);
  await compareCharts(asker, market);
  await comparePools(asker, market);
  await compareOrders(asker, market);
  await comparePeople(asker, market, walletPkhs);
  await compareTickers(asker, market);
  await compareTime(asker);
  await compareTopics(asker, market);
  asker.judge('all', 'routes, topics, position', () => compareWhole(asker, market));
  asker.settle(what);
  return asker.compared;
}

/** Every documented operation was asked, all at one position. */
function compareWhole({ documents, asked, positions }: Asker, market: NaiveMarket): void {
  const ours = documents.routes.filter((route) => OURS.test(route));
  assert.deepEqual(
    ours.filter((route) => !asked.has(route)),
    [],
    'routes without a request',
  );
  const topics = documents.topics.filter((topic) => !asked.has(`topic ${topic}`));
  assert.deepEqual(topics, [], 'topics without a subscription');
  const [position = ''] = positions;
  assert.equal(positions.size, 1, [...positions].join(', '));
  assert(position.endsWith(` at ${market.chain.blocks.at(-1)?.point.hash}`), position);
}

async function compareTime(asker: Asker): Promise<void> {
  const answer = await asker.ask({ route: 'GET /v1/utility/server/time' });
  const timestamp: unknown = Reflect.get(Object(answer?.body), 'timestamp');
  assert(typeof timestamp === 'number');
  assert(Math.abs(timestamp - Date.now()) < 60_000, 'milliseconds, and now');
  const limits = await asker.ask({ route: 'GET /v1/limits' });
  assert.equal(Reflect.get(Object(limits?.body), 'caller'), '127.0.0.1');
  await asker.refused({ route: 'GET /v1/utility/ada-usd/rate' }, 404, 'NOT_CONFIGURED');
}
