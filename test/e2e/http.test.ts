/** The chart routes over HTTP: every refusal, and every way to ask for the same bars. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { isRecord } from '../../src/api/gateway/input.ts';
import { newTestApp } from '../support/app.ts';
import { type Bar, historyPath, positionOf, readHistory } from '../support/chart.ts';
import { linesOf, type PairIds, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { raw } from '../support/rawHttp.ts';

const START_MS = Date.UTC(2024, 4, 1);
const S = START_MS / 1000;
const OTHER: PairIds = { base: `${'0d'.repeat(28)}.`, quote: '.' };
const { base, quote } = TOKEN_COIN;

/** Minutes 0, 1, 5, 6 and 61 are traded; another pair takes market time to minute 90. */
async function market(t: TestContext) {
  const minute = (n: number, price: string) => tradeAt(START_MS + n * 60_000 + 7_000, price);
  const app = await newTestApp(t);
  const trades = [minute(0, '4'), minute(1, '5'), minute(5, '2'), minute(6, '8'), minute(61, '16')];
  const last = tradeAt(START_MS + 89 * 60_000, '1', { pair: OTHER });
  await app.feed(linesOf([...trades, last]));
  return app;
}

interface Refusal {
  readonly cause: string;
  readonly paths: string[];
}

async function refusalOf(response: Response): Promise<Refusal> {
  const body: unknown = await response.json();
  assert(isRecord(body) && typeof body.cause === 'string' && typeof body.message === 'string');
  assert(body.message.length > 10, 'a message for a person');
  const details = Array.isArray(body.details) ? body.details : [];
  const paths = details.map((detail: unknown) => {
    assert(isRecord(detail) && typeof detail.message === 'string');
    return String(detail.path);
  });
  return { cause: body.cause, paths };
}

const HISTORY = { base, quote, from: `${S}`, to: `${S + 600}`, resolution: 'min1' };
const STATE = { base, quote, resolution: 'min1' };

test('malformed queries are 400 INVALID_PARAMS with the field that is wrong', async (t) => {
  const { url } = await market(t);
  const wrong: readonly (readonly [object, string])[] = [
    [{ base: '' }, 'base'],
    [{ base: 'ADA' }, 'base'],
    [{ base: `${'c0'.repeat(27)}.aa` }, 'base'],
    [{ base: `${'c0'.repeat(28)}.a` }, 'base'],
    [{ base: `${'c0'.repeat(28)}` }, 'base'],
    [{ quote: 'x' }, 'quote'],
    [{ quote: `${'c0'.repeat(28)}.${'00'.repeat(33)}` }, 'quote'],
    [{ resolution: '' }, 'resolution'],
    [{ resolution: 'min2' }, 'resolution'],
    [{ resolution: 'MIN1' }, 'resolution'],
    [{ from: '' }, 'from'],
    [{ from: 'now' }, 'from'],
    [{ from: '-1' }, 'from'],
    [{ from: '1.5' }, 'from'],
    [{ to: '1e9' }, 'to'],
    [{ to: '253402300800' }, 'to'],
    [{ from: `${S + 600}` }, 'from'],
    [{ from: `${S + 601}` }, 'from'],
    [{ limit: '0' }, 'limit'],
    [{ limit: '5001' }, 'limit'],
    [{ limit: '-1' }, 'limit'],
    [{ limit: '2.5' }, 'limit'],
    [{ limit: 'all' }, 'limit'],
    [{ fill: 'next' }, 'fill'],
  ];
  for (const [change, field] of wrong) {
    const query = new URLSearchParams({ ...HISTORY, ...change });
    const response = await fetch(`${url}/v1/charts/history?${query}`);
    const { cause, paths } = await refusalOf(response);
    const what = JSON.stringify(change);
    assert.deepEqual([response.status, cause], [400, 'INVALID_PARAMS'], what);
    assert(paths.includes(`query.${field}`), `${what}: ${paths}`);
  }
  for (const route of ['initial-state', 'last']) {
    for (const field of ['base', 'quote', 'resolution']) {
      const query = new URLSearchParams({ ...STATE, [field]: '' });
      const response = await fetch(`${url}/v1/charts/${route}?${query}`);
      const { cause, paths } = await refusalOf(response);
      assert.deepEqual(
        [response.status, cause, paths],
        [400, 'INVALID_PARAMS', [`query.${field}`]],
      );
    }
  }
});

test('malformed input is refused before a look-up; unknown pairs are 404', async (t) => {
  const { url } = await market(t);
  const unknown = { ...HISTORY, base: `${'ab'.repeat(28)}.` };
  const both = new URLSearchParams({ ...unknown, resolution: 'x' });
  assert.equal((await fetch(`${url}/v1/charts/history?${both}`)).status, 400);
  const turned = new URLSearchParams({ ...unknown, from: `${S + 900}` });
  assert.equal((await fetch(`${url}/v1/charts/history?${turned}`)).status, 400);
  for (const route of ['history', 'initial-state', 'last']) {
    const response = await fetch(`${url}/v1/charts/${route}?${new URLSearchParams(unknown)}`);
    const { cause } = await refusalOf(response);
    assert.deepEqual([response.status, cause], [404, 'ASSET_NOT_FOUND'], route);
  }
});

test('routes, methods and positions that are not there', async (t) => {
  const { url, app } = await market(t);
  const path = `/v1/charts/history?${new URLSearchParams(HISTORY)}`;
  const nowhere = await fetch(`${url}/v1/charts/histories`);
  assert.deepEqual([nowhere.status, (await refusalOf(nowhere)).cause], [404, 'NOT_FOUND']);
  const posted = await fetch(`${url}${path}`, { method: 'POST', body: '{}' });
  assert.deepEqual([posted.status, (await refusalOf(posted)).cause], [405, 'METHOD_NOT_ALLOWED']);
  assert.match(posted.headers.get('allow') ?? '', /GET/);
  const options = await fetch(`${url}${path}`, { method: 'OPTIONS' });
  assert.equal(options.status, 204);
  assert.equal(options.headers.get('access-control-allow-origin'), '*');
  const { epoch, seq } = app.node.applied();
  const ask = (position: string) =>
    fetch(`${url}${path}`, { headers: { 'X-Min-Position': position } });
  assert.equal((await ask('soon')).status, 400);
  assert.equal((await ask(`${epoch}:${seq}`)).status, 200);
  const early = await ask(`${epoch}:${seq + 1}`);
  assert.deepEqual([early.status, (await refusalOf(early)).cause], [503, 'NOT_READY']);
  assert(Number(early.headers.get('retry-after')) >= 1);
});

test('empty and null fields are absent, unknown ones ignored, hex in any case', async (t) => {
  const { url } = await market(t);
  const plain = await readHistory(url, { ...TOKEN_COIN, interval: 'min1' });
  const query = new URLSearchParams({ ...HISTORY, base: base.toUpperCase(), to: `${S + 7200}` });
  const response = await fetch(`${url}/v1/charts/history?${query}&fill=&limit=null&color=red`);
  const rows = (await response.json()) as { pair: PairIds }[];
  assert.equal(rows.length, plain?.bars.length);
  assert.deepEqual(rows[0]?.pair, TOKEN_COIN);
});

test('bars lie in [from, to); limit keeps the newest and X-Next-To walks back', async (t) => {
  const { url } = await market(t);
  const ask = async (from: number, to: number) =>
    (await readHistory(url, { ...TOKEN_COIN, interval: 'min1', from, to }))?.bars.map(
      ({ time }) => (time - S) / 60,
    );
  assert.deepEqual(await ask(S, S + 60), [0]);
  assert.deepEqual(await ask(S + 1, S + 301), [1, 5]);
  assert.deepEqual(await ask(S + 60, S + 300), [1]);
  assert.deepEqual(await ask(S - 900, S), []);
  const all = await readHistory(url, { ...TOKEN_COIN, interval: 'min1' });
  for (const limit of [1, 2, 3, 4, 5, 6]) {
    const walked = await readHistory(url, { ...TOKEN_COIN, interval: 'min1', limit });
    assert.deepEqual(walked?.bars, all?.bars);
    assert.equal(walked?.pages, Math.ceil(5 / limit), `limit ${limit}`);
  }
});

test('fill=previous is the naive model: over the whole span, in parts, page by page', async (t) => {
  const { url } = await market(t);
  for (const [interval, seconds] of [
    ['min1', 60],
    ['min5', 300],
    ['hour1', 3600],
  ] as const) {
    const traded = await readHistory(url, { ...TOKEN_COIN, interval });
    const expected = naivelyFilled(traded?.bars ?? [], seconds, S + 90 * 60);
    const params = { ...TOKEN_COIN, interval, fill: 'previous' } as const;
    assert.deepEqual((await readHistory(url, params))?.bars, expected, interval);
    for (const [from, to] of [
      [S + 120, S + 300],
      [S + 121, S + 3661],
      [S - 600, S + 61],
      [S + 3660, S + 90 * 60],
      [S + 89 * 60, S + 89 * 60 + 1],
      [S + 90 * 60, S + 200 * 60],
      [S - 600, S],
    ] as const) {
      const inside = expected.filter(({ time }) => time >= from && time < to);
      assert.deepEqual(
        (await readHistory(url, { ...params, from, to }))?.bars,
        inside,
        `${from - S}`,
      );
    }
    for (const limit of [1, 7, 90]) {
      const walked = await readHistory(url, { ...params, limit });
      assert.deepEqual(walked?.bars, expected, `${interval} by ${limit}`);
    }
  }
});

function naivelyFilled(traded: readonly Bar[], seconds: number, marketS: number): Bar[] {
  const filled: Bar[] = [];
  const first = traded[0]?.time ?? Number.POSITIVE_INFINITY;
  for (let time = first; time < marketS; time += seconds) {
    const bar = traded.find((candidate) => candidate.time === time);
    const close = filled.at(-1)?.close ?? '';
    const flat = { low: close, high: close, open: close, close, volume: '0', baseVolume: '0' };
    filled.push(bar ?? { time, ...flat, trades: 0, final: time + seconds <= marketS });
  }
  return filled;
}

test('the reversed pair is the exact inversion', async (t) => {
  const { url } = await market(t);
  const direct = await readHistory(url, { ...TOKEN_COIN, interval: 'hour1' });
  const turned = await readHistory(url, { base: quote, quote: base, interval: 'hour1' });
  const [bar] = direct?.bars ?? [];
  const [inverse] = turned?.bars ?? [];
  assert.deepEqual([bar?.open, bar?.high, bar?.low, bar?.close], ['4', '8', '2', '8']);
  assert.deepEqual(
    [inverse?.open, inverse?.high, inverse?.low, inverse?.close],
    ['0.25', '0.5', '0.125', '0.125'],
  );
  assert.deepEqual([inverse?.volume, inverse?.baseVolume], [bar?.baseVolume, bar?.volume]);
  const last = await fetch(`${url}/v1/charts/last?base=.&quote=${base}&resolution=min1`);
  assert.equal(((await last.json()) as Bar).close, '0.0625');
});

test('initial-state and last: the newest bar, and whether it is the current one', async (t) => {
  const { url } = await market(t);
  for (const [resolution, isRelevant] of [
    ['min1', false],
    ['hour1', true],
    ['month1', true],
  ] as const) {
    const query = new URLSearchParams({ ...STATE, resolution });
    const response = await fetch(`${url}/v1/charts/initial-state?${query}`);
    const state = (await response.json()) as { bar: Bar; isRelevant: boolean };
    assert.equal(state.isRelevant, isRelevant, resolution);
    assert.equal(state.bar.close, '16');
    positionOf(response);
    const last = await fetch(`${url}/v1/charts/last?${query}`);
    assert.deepEqual(await last.json(), state.bar);
  }
});

test('ETag gives 304 until the bars change; gzip, HEAD and plain GET agree', async (t) => {
  const app = await market(t);
  const { port } = app.app;
  const path = historyPath({ ...TOKEN_COIN, interval: 'min1' });
  const plain = await raw(port, 'GET', path);
  const tag = String(plain.headers.etag);
  assert.match(tag, /^(W\/)?".+"$/);
  const zipped = await raw(port, 'GET', path, { 'Accept-Encoding': 'gzip' });
  assert.equal(zipped.headers['content-encoding'], 'gzip');
  assert.deepEqual(gunzipSync(zipped.body), plain.body);
  const head = await raw(port, 'HEAD', path);
  assert.deepEqual([head.status, head.body.length], [200, 0]);
  assert.equal(head.headers['content-length'], String(plain.body.length));
  for (const name of ['etag', 'x-position', 'content-type', 'ratelimit-limit']) {
    assert.equal(head.headers[name], plain.headers[name], name);
  }
  const same = await raw(port, 'GET', path, { 'If-None-Match': tag });
  assert.deepEqual([same.status, same.body.length, same.headers.etag], [304, 0, tag]);
  await app.feed(linesOf([tradeAt(START_MS + 91 * 60_000, '3')]));
  const changed = await raw(port, 'GET', path, { 'If-None-Match': tag });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.etag, tag);
});
