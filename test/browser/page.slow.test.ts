/** The page before a devnet whose blocks come when this test asks for them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { ADA, DevnetWorld } from '../e2e/devnet/world.ts';
import { type Bar, readHistory } from '../support/chart.ts';
import {
  type Drawn,
  drawnOn,
  listenToCharts,
  openBrowser,
  type Visit,
  visit,
  writesOn,
} from './support.ts';

const MINUTE_BLOCKS = 60;

/** One market and one browser for all; the tests build on each other's tokens. */
let [world, trader, browser]: [DevnetWorld | null, TradingClient | null, Browser | null] = [
  null,
  null,
  null,
];

const ends: (() => void | Promise<void>)[] = [];
const scope = { after: (end: () => void | Promise<void>) => void ends.unshift(end) };

after(async () => {
  for (const end of ends) await end();
});

before(async () => {
  [browser, world] = await Promise.all([openBrowser(scope), DevnetWorld.start(scope)]);
  trader = await world.funded('alice', 10_000, 4);
});

function scene() {
  assert(world !== null && trader !== null && browser !== null);
  return { world, trader, browser };
}

async function bought(assetId: string, ada: number): Promise<void> {
  const { world, trader } = scene();
  const order = { assetId, side: 'BUY', slippage: 'infinity' } as const;
  await world.filled(trader, { ...order, amount: BigInt(ada) * ADA });
}

async function barsOf(world: DevnetWorld, base: string): Promise<readonly Bar[]> {
  const history = await readHistory(world.url, {
    base,
    quote: '.',
    interval: 'min1',
    price: 'spot',
  });
  assert(history !== null);
  return history.bars;
}

function numbersOf(bars: readonly Bar[]) {
  return bars.map(({ time, open, high, low, close }) => {
    return { time, open: Number(open), high: Number(high), low: Number(low), close: Number(close) };
  });
}

/** Waits until the chart shows the bars of HTTP; answers them. */
async function drawn(seen: Visit, world: DevnetWorld, asset: string): Promise<readonly Bar[]> {
  const bars = await barsOf(world, asset);
  await seen.asked(
    `the chart shows ${JSON.stringify(numbersOf(bars).slice(-2))}`,
    () => drawnOn(seen.page),
    (points) => JSON.stringify(points?.map(candleOf)) === JSON.stringify(numbersOf(bars)),
  );
  return bars;
}

/** Of all bars: a trade may open the next one. */
function tradesOf(bars: readonly Bar[]): number {
  return bars.reduce((sum, { trades }) => sum + trades, 0);
}

function candleOf({ time, open, high, low, close }: Drawn): Drawn {
  return { time, open, high, low, close };
}

test('lists move while one looks, and search finds by keyboard', async () => {
  const { world, trader, browser } = scene();
  const seen = await visit(browser, world.url);
  await seen.open();
  await seen.live();
  await seen.asked(
    'an empty market says how to begin',
    () => seen.text('.empty'),
    (text) => text.includes('Launch a token'),
  );
  await seen.page.evaluate('globalThis.mark = true');
  const first = await world.launch(trader, { name: 'First', ticker: 'FIRST' });
  const second = await world.launch(trader, { name: 'Second', ticker: 'SECND' });
  const names = () => seen.page.locator('.pools .name').allTextContents();
  await seen.asked('both are listed', names, (found) => found.length === 2);
  await bought(first.asset, 50);
  const traders = (asset: string) => seen.text(`[data-key="${asset}"] .col-traders24h`);
  // Before, both have no volume: which one leads says nothing.
  await seen.asked(
    'its trader is counted',
    () => traders(first.asset),
    (text) => text === '1',
  );
  await seen.asked('the one traded most leads', names, ([top]) => top === 'First');
  assert.equal(await traders(second.asset), '0');
  await seen.asked(
    'it is the top of the market',
    () => seen.text('.best-top strong'),
    (text) => text === 'First',
  );

  await seen.page.keyboard.press('/');
  await seen.page.keyboard.type('seco');
  await seen.page.locator('#search-found [role="option"][aria-selected="true"]').waitFor();
  await seen.page.keyboard.press('Enter');
  await seen.asked(
    'the token is shown',
    () => seen.text('h1'),
    (text) => text === 'Second',
  );
  assert.equal(new URL(seen.page.url()).hash, `#/token/${second.asset}`);
  assert.equal(await seen.page.evaluate('globalThis.mark'), true, 'the page was never reloaded');

  await seen.open('#/list/new');
  await seen.asked('another list, by its link', names, ([top]) => top === 'Second');
  await seen.page.locator('.pools a').first().focus();
  await seen.page.keyboard.press('ArrowDown');
  await seen.page.keyboard.press('Enter');
  await seen.asked(
    'arrow keys walk the list',
    () => seen.text('h1'),
    (text) => text === 'First',
  );
  seen.assertClean();
});

test('what strangers write stays text', async () => {
  const { world, trader, browser } = scene();
  const script = '<img src=x onerror="globalThis.harmed=1"><script>globalThis.harmed=1</script>';
  const name = '<b onclick=a>x';
  const { asset } = await world.launch(trader, {
    name,
    ticker: 'HARM',
    description: `${script} javascript:alert(1)`,
    website: 'https://example.org/"onmouseover="globalThis.harmed=1',
  });
  await bought(asset, 100);
  const seen = await visit(browser, world.url);
  await seen.open();
  await seen.asked(
    'the list has the name as it is',
    () => seen.text('.pools .name'),
    (text) => text === name,
  );
  await seen.open(`#/token/${asset}`);
  await seen.asked(
    'so has its own page',
    () => seen.text('.description'),
    (text) => text.startsWith(script),
  );
  assert.equal(await seen.page.title(), `${name} · upcurve`);
  const link = seen.page.locator('.socials a').first();
  assert.match((await link.getAttribute('href')) ?? '', /^https:\/\/example\.org\/%22/);
  assert.match((await link.getAttribute('rel')) ?? '', /noopener/);
  await seen.page.keyboard.press('/');
  await seen.page.keyboard.type('harm');
  await seen.page.locator('#search-found [role="option"]').waitFor();
  const foreign = '[onclick], [onerror], [onmouseover], main script, .search script';
  assert.equal(await seen.page.locator(foreign).count(), 0);
  assert.equal(await seen.page.evaluate('globalThis.harmed'), undefined);

  await seen.open('#/token/<script>globalThis.harmed=1</script>');
  await seen.page.getByText('No such token').waitFor();
  assert.equal(await seen.page.evaluate('globalThis.harmed'), undefined);
  await seen.open(`#/token/${'ab'.repeat(28)}.`);
  await seen.asked(
    'an unknown token is said to be one',
    () => seen.text('.empty'),
    (text) => text.includes('not known here'),
  );
  seen.assertClean();
});

test('a bar moves, and a rollback repaints exactly the bars it changed', async () => {
  const { world, trader, browser } = scene();
  const { asset } = await world.launch(trader, { name: 'Third' });
  for (const ada of [20, 30, 40]) {
    await bought(asset, ada);
    await world.mine(MINUTE_BLOCKS);
  }
  // A minute has just started: what follows is in one bar.
  await world.mine(MINUTE_BLOCKS - (Math.floor(world.nowMs / 1000) % MINUTE_BLOCKS));
  const seen = await visit(browser, world.url);
  await listenToCharts(seen.page);
  await seen.open(`#/token/${asset}`);
  const settled = await drawn(seen, world, asset);
  assert(settled.length >= 3, 'there is history');

  await writesOn(seen.page);
  await bought(asset, 50);
  const opened = await drawn(seen, world, asset);
  const newest = opened.at(-1);
  assert(newest !== undefined && opened.length === settled.length + 1);
  await bought(asset, 60);
  const moved = await drawn(seen, world, asset);
  assert.notEqual(moved.at(-1)?.close, newest.close, 'the bar has moved');
  const news = await writesOn(seen.page);
  assert(news.length > 0 && news.every(({ time }) => time === newest.time), JSON.stringify(news));
  await seen.asked(
    'the legend has the exact price',
    () =>
      seen.page.locator('.legend > [title]').evaluateAll((all) => all.map((each) => each.title)),
    (titles) => titles.includes(`${moved.at(-1)?.close} ADA`),
  );

  // The second buy of the minute is undone: its block and the one that placed it.
  await world.fork(2, 'none');
  const undone = await drawn(seen, world, asset);
  assert.deepEqual(undone.at(-1)?.close, newest.close, 'as it was before');
  const revised = await writesOn(seen.page);
  assert(revised.length > 0 && revised.every(({ time }) => time === newest.time));

  // Back into the minute before: bars go, and those that stay are as they were.
  await world.fork(MINUTE_BLOCKS + 4, 'none');
  const shorter = await drawn(seen, world, asset);
  assert(shorter.length < undone.length, 'bars are gone');
  assert.deepEqual(numbersOf(shorter).slice(0, -1), numbersOf(undone).slice(0, shorter.length - 1));
  seen.assertClean();
});

test('an order goes from placing to filled, block by block, and the bar with it', async () => {
  const { world, trader, browser } = scene();
  const { asset } = await world.launch(trader, { name: 'Fourth', ticker: 'FRTH' });
  await bought(asset, 20);
  const seen = await visit(browser, world.url);
  const { page } = seen;
  await listenToCharts(page);
  await seen.open('#/wallet');
  await page.getByRole('button', { name: 'Use a test wallet' }).click();
  await page.getByRole('button', { name: /^Get 10,000 ADA/ }).click();
  await page.getByText('Sent; they are yours').waitFor();
  await world.mine();
  await page.locator('.balance').getByText('10,000 ADA', { exact: true }).waitFor();

  await page.goto(`${world.url}/#/token/${asset}`);
  const before = await drawn(seen, world, asset);
  await page.getByLabel('You spend').fill('77');
  await page.locator('.quote[data-state=quote]').waitFor();
  await page.getByRole('button', { name: 'Review buy' }).click();
  await page.locator('dialog').waitFor();
  await page.goBack();
  // The way back leaves the question, too.
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.goForward();
  // Also one that was not asked yet: of two visits of the place, only the second asks.
  await page.getByLabel('You spend').fill('78');
  await page.locator('.quote[data-state=quote]').waitFor();
  await page.getByRole('button', { name: 'Review buy' }).click();
  await page.goBack();
  await page.goForward();
  await page.getByLabel('You spend').fill('77');
  await page.locator('.quote[data-state=quote]').waitFor();
  await page.getByRole('button', { name: 'Review buy' }).click();
  await page.getByRole('button', { name: 'Sign and buy' }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });

  const own = page.locator('.own-orders > li');
  const id = () => own.getAttribute('data-key');
  const becomes = async (state: string) => {
    await own.getByText(state, { exact: true }).waitFor();
    await page
      .locator(`.feed > [data-key="${await id()}"]`)
      .getByText(state)
      .waitFor();
  };
  await becomes('Placing');
  // Its only coins are on their way: nothing of the form moves for that.
  await page.getByText('0 ADA · 0 FRTH', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Get 10,000/ }).isVisible(), false);
  const ref = await id();
  assert(ref !== null);
  assert.deepEqual(await drawn(seen, world, asset), before, 'nothing has happened yet');
  await world.mine();
  await becomes('Filling');
  await world.spent(ref);
  await becomes('Filled');
  assert.equal(await id(), ref, 'it is the same order');
  const after = await drawn(seen, world, asset);
  assert.equal(tradesOf(after), tradesOf(before) + 1, 'its trade is in a bar');
  assert.notEqual(after.at(-1)?.close, before.at(-1)?.close);
  seen.assertClean();
});

test('the reference page asks and listens to the market behind it', async () => {
  const { world, trader, browser } = scene();
  const { asset } = await world.launch(trader, { name: 'Fifth', ticker: 'FIFTH' });
  await bought(asset, 30);
  const seen = await visit(browser, world.url);
  const { page } = seen;
  await seen.open('docs#topic-LastBar');
  const listen = page.locator('#topic-LastBar form.listen');
  await listen.waitFor();
  await seen.asked(
    'the recorded token is replaced by the newest one',
    () => listen.locator('textarea').inputValue(),
    (frame) => frame.includes(asset),
  );
  await listen.getByRole('button', { name: 'Subscribe' }).click();
  const frames = listen.locator('.frames > div');
  await frames.first().waitFor();
  const first = await frames.count();
  await bought(asset, 40);
  await seen.asked(
    'a trade brings a frame',
    () => frames.count(),
    (count) => count > first,
  );
  await listen.getByRole('button', { name: 'Stop' }).click();
  await listen.locator('.state').getByText('closed').waitFor();

  const search = page.getByRole('searchbox', { name: 'Search' });
  const entry = page.locator('details.entry:visible');
  // Words of a description, which no path or title has.
  await search.fill('exponent floating');
  const found = await entry.count();
  assert.ok(found < (await page.locator('details.entry').count()));
  await page.locator('#found').getByText(`${found} routes, topics and schemas`).waitFor();
  await search.fill('get /v1/utility/server/time');
  assert.equal(await entry.count(), 1);
  await entry.locator('summary').first().click();
  await entry.getByRole('button', { name: 'Send' }).click();
  await entry.locator('output').getByText('200 /v1/utility/server/time').waitFor();
  assert.match((await entry.locator('output pre').textContent()) ?? '', /"timestamp": \d+/);
  const copy = entry.locator('button.copy').first();
  await copy.click();
  await copy.getByText('Copied').waitFor();
  seen.assertClean();
});

test('the reference page remembers the language of its samples and what was entered', async () => {
  const { world, browser } = scene();
  const seen = await visit(browser, world.url);
  const { page } = seen;
  await seen.open('docs#route-searchPools');
  const route = page.locator('#route-searchPools');
  const shown = route.locator('.samples div[data-language]:visible');
  const pattern = route.locator('form.try input[name=pattern]');
  await pattern.waitFor();
  assert.match((await shown.textContent()) ?? '', /^curl /);
  await route.getByRole('button', { name: 'Python' }).click();
  assert.match((await shown.textContent()) ?? '', /^import httpx/);
  assert.ok((await shown.textContent())?.includes(world.url), 'it asks this server');
  await pattern.fill('mine');
  await page.reload();
  await pattern.waitFor();
  assert.equal(await pattern.inputValue(), 'mine');
  assert.match((await shown.textContent()) ?? '', /^import httpx/);
  const topic = page.locator('#topic-LastBar');
  await topic.locator('summary').first().click();
  const sample = topic.locator('.samples div[data-language]:visible');
  assert.match((await sample.textContent()) ?? '', /^import json/);
  seen.assertClean();
});
