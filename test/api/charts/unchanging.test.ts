/** Histories that a cache may keep: the same for every caller, and never past their epoch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTestApp, type TestApp } from '../../support/app.ts';
import { linesOf, rollbackLine, TOKEN_COIN, tradeAt } from '../../support/feeds.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2024, 4, 1, 12);
/** A feed may roll back by up to this many blocks without a new epoch; here a day is a block. */
const HORIZON_BLOCKS = 2;

function ask({ url }: TestApp, toMs: number, epoch: string | null, more = ''): Promise<Response> {
  const { base, quote } = TOKEN_COIN;
  const span = `from=0&to=${toMs / 1000}&resolution=hour1${more}`;
  const kept = epoch === null ? '' : `&epoch=${epoch}`;
  return fetch(`${url}/v1/charts/history?base=${base}&quote=${quote}&${span}${kept}`);
}

async function epochOf(app: TestApp): Promise<string> {
  const { headers } = await ask(app, START_MS + 9 * DAY_MS, null);
  return headers.get('x-position')?.split(':')[0] ?? assert.fail('a position');
}

async function barsOf(answer: Promise<Response>): Promise<number> {
  const bars: unknown = await (await answer).json();
  return Array.isArray(bars) ? bars.length : assert.fail('no bars');
}

const OF_ONE_CALLER = ['x-position', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];

test('only answers that cannot change may be cached under their epoch', async (t) => {
  const app = await newTestApp(t, { env: { HORIZON_BLOCKS: String(HORIZON_BLOCKS) } });
  for (let day = 0; day < 7; day += 1) {
    await app.feed(linesOf([tradeAt(START_MS + day * DAY_MS, `${day + 1}`)]));
  }
  const epoch = await epochOf(app);
  const old = START_MS + 2 * DAY_MS;
  assert.equal(await barsOf(ask(app, old, null)), 2);
  for (const more of ['', '&fill=previous', '&format=csv', '&price=spot', '&limit=1']) {
    const kept = await ask(app, old, epoch, more);
    assert.equal(kept.headers.get('cache-control'), 'public, max-age=31536000, immutable', more);
    assert.equal(kept.headers.get('vary'), 'Accept, Accept-Encoding');
    for (const name of OF_ONE_CALLER) assert.equal(kept.headers.get(name), null, name);
    const plain = await ask(app, old, null, more);
    assert.equal(plain.headers.get('cache-control'), null);
    assert.ok(plain.headers.get('x-position') !== null);
    assert.deepEqual(await kept.text(), await plain.text(), more);
  }
  // A feed may still roll back by two days, and the trades after that may be late by another day.
  const near = await ask(app, START_MS + 4 * DAY_MS, epoch);
  assert.equal(near.headers.get('cache-control'), null);
  assert.ok(near.headers.get('x-position') !== null);
});

test('another epoch is refused, and not kept, also after a rollback that began one', async (t) => {
  const app = await newTestApp(t, { env: { HORIZON_BLOCKS: String(HORIZON_BLOCKS) } });
  for (let day = 0; day < 7; day += 1) {
    await app.feed(linesOf([tradeAt(START_MS + day * DAY_MS, `${day + 1}`)]));
  }
  const epoch = await epochOf(app);
  const to = START_MS + 2 * DAY_MS;
  assert.equal(await barsOf(ask(app, to, epoch)), 2);
  await app.feed(`${rollbackLine(START_MS + DAY_MS / 2)}\n`);
  const next = await epochOf(app);
  assert.notEqual(next, epoch);
  for (const wrong of [epoch, '1-none']) {
    const refused = await ask(app, to, wrong);
    assert.deepEqual([refused.status, refused.headers.get('cache-control')], [409, 'no-store']);
    const text = await refused.text();
    assert.ok(text.includes('"cause":"EPOCH_CHANGED"') && text.includes(next), text);
  }
  assert.equal(await barsOf(ask(app, to, next)), 1);
  assert.equal((await ask(app, to, 'a b')).status, 400);
});
