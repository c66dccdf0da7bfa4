/** The price of ADA: its place in each answer, and the effect of a source that fails. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  AdaUsdFeed,
  adaUsdRoute,
  fixedAdaUsd,
  isRate,
  rateIn,
} from '../../../src/api/operations/adaUsd.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { askRoute } from '../../support/askRoute.ts';
import { HandClock } from '../../support/handClock.ts';
import { until } from '../../support/until.ts';

const URL = 'https://prices.example/ada';

test('a price is read where the fragment names it, as exact as it was written', () => {
  const nested = JSON.stringify({ cardano: { usd: 0.4512, 'usd.last': '0.45120000' } });
  assert.equal(rateIn(nested, `${URL}#cardano.usd`), '0.4512');
  assert.equal(rateIn('[{"price":"0.45120000"}]', `${URL}#0.price`), '0.45120000');
  assert.equal(rateIn('{"rate":"1.05"}', URL), '1.05');
  assert.equal(rateIn('1', URL), '1');
  const none = ['', '{', 'null', '[]', '0', '-1', '"x"', '{"rate":null}', '1e-7', 'Infinity'];
  for (const text of none) assert.equal(rateIn(text, URL), null, text);
  assert.equal(rateIn(nested, `${URL}#cardano.eur`), null);
  assert.equal(rateIn(nested, `${URL}#constructor.name`), null);
  for (const text of ['0.45', '12', '0.000000000000000001']) assert.ok(isRate(text), text);
  for (const text of ['', '0', '0.0', '.5', '1.', '-1', '01', '1,5']) {
    assert.ok(!isRate(text), text);
  }
});

/** A source whose next answers are set by hand. */
async function source(t: TestContext) {
  const state = { status: 200, body: '{"rate":0.45}', asked: 0 };
  const server = createServer((_, response) => {
    state.asked += 1;
    const moved = state.status === 302 ? { location: '/elsewhere' } : {};
    response.writeHead(state.status, moved).end(state.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // trust: a TCP server has an address with a port
  const { port } = server.address() as AddressInfo;
  return { state, url: `http://127.0.0.1:${port}/` };
}

test('a source that fails keeps the last price, which is stale after five minutes', async (t) => {
  const { state, url } = await source(t);
  const clock = new HandClock();
  const failures: string[] = [];
  const observer = { adaUsdFailed: (_: string, why: string) => void failures.push(why) };
  const feed = new AdaUsdFeed({ url, clock, observer });
  const route = adaUsdRoute(feed);
  const early = await askRoute(route, {});
  assert.ok(early instanceof Failure && early.cause === 'NOT_READY');
  feed.start();
  t.after(() => feed.stop());
  await until('a first price', () => feed.latest() !== null);
  const told = feed.latest();
  assert.deepEqual([told?.rate, told?.isStale], ['0.45', false]);
  const faults: [number, string, RegExp][] = [
    [500, '{"rate":0.5}', /answered 500/],
    [200, '{"price":0.5}', /no price/],
    [200, `{"rate":0.5,"note":"${'x'.repeat(70_000)}"}`, /more than 65536 bytes/],
    [302, '{"rate":0.5}', /redirect/],
    [200, '{', /no price/],
  ];
  for (const [index, [status, body, why]] of faults.entries()) {
    Object.assign(state, { status, body });
    await clock.advance(60_000);
    await until('it failed', () => failures.length > index);
    assert.match(failures[index] ?? '', why);
    assert.equal(feed.latest()?.rate, '0.45');
  }
  assert.equal(feed.latest()?.isStale, false);
  await clock.advance(1_000);
  assert.equal(feed.latest()?.isStale, true);
  Object.assign(state, { status: 200, body: '{"rate":"0.46"}' });
  await clock.advance(59_000);
  await until('a newer price', () => feed.latest()?.rate === '0.46');
  const answer = await askRoute(route, {});
  assert.ok(answer !== null && !(answer instanceof Failure));
  const { rate, stale, source: host } = JSON.parse(String(answer.body));
  assert.deepEqual([rate, stale, `http://${host}/`], ['0.46', false, url]);
});

test('a fixed price never is stale; a server without a source says so', async () => {
  const clock = new HandClock();
  const fixed = await askRoute(adaUsdRoute(fixedAdaUsd('0.4512', clock)), {});
  assert.ok(fixed !== null && !(fixed instanceof Failure));
  const { rate, source: name, stale } = JSON.parse(String(fixed.body));
  assert.deepEqual([rate, name, stale], ['0.4512', 'fixed', false]);
  const none = await askRoute(adaUsdRoute(null), {});
  assert.ok(none instanceof Failure);
  assert.deepEqual([none.cause, none.status], ['NOT_CONFIGURED', 404]);
});
