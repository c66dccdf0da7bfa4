/** kill -9 under an open page: it keeps what it has, says how old that is, and continues. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TcpProxy } from '../client/tcpProxy.ts';
import { readHistory } from '../support/chart.ts';
import { startServer, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { drawnOn, listenToCharts, openBrowser, visit, WAIT_MS } from './support.ts';

const LIVELY = { NETWORK: 'devnet', BLOCK_EVERY_MS: '200', TRADERS_PACE: '4' };

/** The token traded most; there is one as soon as traders have launched and bought. */
async function liveliest(url: string): Promise<string> {
  const ask = async () => {
    const answer = await fetch(`${url}/v1/pools-main-page/koth`);
    // trust: the shape is that of api.md; what is missing fails the wait
    return (await answer.json()) as {
      info?: { asset: string };
      metrics?: { totalTxCount: number };
    };
  };
  const isTraded = (top: Awaited<ReturnType<typeof ask>>) => (top.metrics?.totalTxCount ?? 0) > 1;
  const top = await untilAsked('a token is traded', ask, isTraded, WAIT_MS);
  return top.info?.asset ?? assert.fail('no asset');
}

test('the server is killed and restarted: the page resumes without a wrong bar', async (t) => {
  const env = { ...LIVELY, DATA_DIR: `${temporaryDirectory()}/data` };
  const [browser, server] = await Promise.all([openBrowser(t), startServer(t, [], env)]);
  // One address for both lives of the server: its port may be taken by the time it is back.
  const address = await TcpProxy.start(t, server.port);
  const asset = await liveliest(server.url);
  const seen = await visit(browser, address.url);
  await listenToCharts(seen.page);
  await seen.open(`#/token/${asset}`);
  await seen.live();
  await seen.asked(
    'bars are drawn',
    () => drawnOn(seen.page),
    (bars) => (bars?.length ?? 0) > 0,
  );
  seen.assertClean();
  await seen.page.evaluate('globalThis.mark = true');
  const name = await seen.text('h1');

  await server.program.kill();
  await seen.asked(
    'it says that it is old',
    () => seen.text('.status'),
    (text) => /Reconnecting in \d+ s/.test(text) && text.includes('as of'),
  );
  assert.equal(await seen.text('h1'), name, 'what was there is still there');
  assert.notDeepEqual(await drawnOn(seen.page), []);

  const again = await startServer(t, [], env);
  address.target = again.port;
  await seen.live();
  assert.equal(await seen.page.evaluate('globalThis.mark'), true, 'nothing was reloaded');
  const isSame = async () => {
    const params = { base: asset, quote: '.', interval: 'min1', price: 'spot' } as const;
    const bars = (await readHistory(again.url, params))?.bars ?? [];
    const expected = bars.map(({ time, open, high, low, close }) =>
      [time, open, high, low, close].map(Number),
    );
    const points = (await drawnOn(seen.page)) ?? [];
    const shown = points.map(({ time, open, high, low, close }) => [time, open, high, low, close]);
    return { expected, shown, isEqual: JSON.stringify(expected) === JSON.stringify(shown) };
  };
  await seen.asked('every bar is the one of HTTP', isSame, ({ isEqual }) => isEqual);
  // What the browser itself says about a server that is gone is all there may be.
  const others = seen.errors.filter(
    (text) => !/WebSocket|ERR_CONNECTION|Failed to load/.test(text),
  );
  assert.deepEqual(others, []);
  assert.deepEqual(seen.foreign, []);
});
