import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTestApp } from '../../support/app.ts';
import { linesOf, TOKEN_COIN, tradeAt } from '../../support/feeds.ts';
import { StrictClient } from '../../support/strictClient.ts';
import { untilAsked } from '../../support/until.ts';

const START_MS = Date.UTC(2024, 4, 1);
const STOPS = ['appended', 'synced', 'applied', 'rendered', 'written', 'whole'];

test('a trade that a socket hears of is in each histogram of its way', async (t) => {
  const app = await newTestApp(t);
  const counts = async () => {
    const text = await (await fetch(`${app.url}/metrics`)).text();
    const count = (stop: string) =>
      Number(new RegExp(`trade_path_seconds_count\\{stop="${stop}"\\} (\\d+)`).exec(text)?.[1]);
    return STOPS.map(count);
  };
  await app.feed(linesOf([tradeAt(START_MS, '1', { id: 'a' })]), 0);
  assert.deepEqual(await counts(), [1, 1, 1, 0, 0, 0], 'no socket listens');
  const client = await StrictClient.connect(t, app.app.port);
  await client.chart({ ...TOKEN_COIN, interval: 'min1' });
  let trades = 0;
  const feedAndCount = async () => {
    trades += 1;
    await app.feed(linesOf([tradeAt(START_MS + trades, '2', { id: `b${trades}` })]), 0);
    return counts();
  };
  // Not every trade is traced.
  await untilAsked('one is traced', feedAndCount, (seen) => seen.every((count) => count > 0));
});
