/** The page on a phone, by keyboard, in both themes, without its server; and the reference. */
import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { drawnOn, listenToCharts, type Visit } from '../support.ts';
import { ordersAre } from '../tradeWorld.ts';
import { drawn, type Journey, type Scene } from './journey.ts';
import { goesBack } from './lists.ts';
import { headerShifts, watchShifts } from './shifts.ts';

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const phone: Journey = {
  name: 'phone',
  done: 'opens the market and a token on a phone, takes another interval, scrolls, presses Buy',
  seen: 'cards, not a table; Buy and Sell stay at the bottom; nothing is wider than the screen',
  async run(scene) {
    const seen = await scene.visit(PHONE);
    const { page } = seen;
    for (const options of [PHONE, {}]) await standsStill(scene, options);
    await seen.open();
    await page.locator('.pools a').first().waitFor();
    const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert(Number(width) <= 0, 'nothing is wider than the screen');
    await seen.open(`#/token/${scene.main}`);
    const intervals = page.locator('.chart-intervals');
    await intervals.getByText('More', { exact: true }).click();
    await intervals.getByText('12h', { exact: true }).click();
    await page.getByRole('radio', { name: '12 hours', exact: true, checked: true }).waitFor();
    const cut = await intervals.evaluate((row) => row.scrollWidth - row.clientWidth);
    assert(cut <= 0, 'all names of intervals fit');
    await intervals.getByText('1m', { exact: true }).click();
    await goesBack(scene, seen);
    const buy = page.locator('.phone-bar').getByRole('button', { name: 'Buy' });
    await buy.click();
    await seen.asked(
      'the form is there',
      () => page.evaluate('document.activeElement?.className'),
      (name) => name === 'amount',
    );
    await page.evaluate('scrollTo(0, 0)');
    await scene.picture(seen);
  },
};

/** While a token loads, neither its header nor what is below it moves. */
async function standsStill(scene: Scene, options: BrowserContextOptions): Promise<void> {
  const seen = await scene.visit(options);
  const { page } = seen;
  await watchShifts(page);
  await seen.open(`#/token/${scene.main}`);
  await page.locator('.token-head .badges').waitFor();
  await page.locator('button.risk-line').waitFor();
  await page.locator('.legend > span').first().waitFor();
  assert.deepEqual(await headerShifts(page), []);
}

/** Presses Tab until the focused element has this name. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const most = 120;
  for (let pressed = 0; pressed < most; pressed += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(`(() => {
      const at = document.activeElement;
      const label = at?.labels?.[0]?.textContent ?? '';
      return [at?.getAttribute('aria-label') ?? '', label, at?.textContent ?? ''].join(' | ');
    })()`);
    if (name.test(focused)) return;
  }
  assert.fail(`${String(name)} is not reached by keyboard`);
}

const keyboard: Journey = {
  name: 'keyboard-only',
  done: 'makes a wallet, takes coins, finds a token, buys and signs, without a mouse',
  seen: 'the focus all the way, the fill at the end',
  async run(scene) {
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open();
    await seen.live();
    await tabTo(page, /\| Wallet$/);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Use a test wallet' }).waitFor();
    await tabTo(page, /Use a test wallet/);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Get 10,000 ADA/ }).waitFor();
    await tabTo(page, /Get 10,000 ADA/);
    await page.keyboard.press('Enter');
    await page.locator('.balance').getByText('10,000 ADA', { exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('sleepy');
    await page.locator('#search-found [role="option"][aria-selected="true"]').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Review buy' }).waitFor();
    await tabTo(page, /You spend/);
    await page.keyboard.type('25');
    await page.locator('.quote[data-state=quote]').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign and buy' }).waitFor();
    await seen.asked(
      'the button that signs has the focus',
      () => page.evaluate<string>('document.activeElement?.textContent ?? ""'),
      (text) => text === 'Sign and buy',
    );
    await scene.picture(seen);
    await page.keyboard.press('Enter');
    await ordersAre(seen, 'Filled', /25 ADA → [\d,]+ PUG/);
  },
};

const themes: Journey = {
  name: 'dark-and-light',
  done: 'opens the page in a light system, switches to light, reloads, follows the system',
  seen: 'dark until one chooses; the chart and the page change together; the choice stays',
  async run(scene) {
    const seen = await scene.visit({ colorScheme: 'light' });
    const { page } = seen;
    await listenToCharts(page);
    await seen.open(`#/token/${scene.main}`);
    await drawn(seen, scene.market, scene.main);
    const theme = () => page.evaluate<string>('document.documentElement.dataset.theme');
    const text = () =>
      page.evaluate<string>('globalThis.charted?.at(-1)?.series[0]?.options().upColor');
    assert.equal(await theme(), 'dark', 'whatever the system has');
    const dark = await text();
    assert(dark !== undefined, 'there are candles');
    await page.getByRole('button', { name: 'Switch to light' }).click();
    await seen.asked('candles change with it', text, (colour) => colour !== dark);
    await page.reload();
    await seen.asked('light again', theme, (name) => name === 'light');
    const reference = await page.context().newPage();
    await reference.goto(`${scene.market.url}/docs`);
    await reference.locator(':root[data-theme=light]').waitFor();
    await reference.getByRole('link', { name: '← Market' }).click();
    await reference.locator('.pools a').first().waitFor();
    await reference.close();
    await page.getByRole('button', { name: 'Follow the system' }).click();
    assert.equal(await theme(), 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await seen.asked('as the system', theme, (name) => name === 'dark');
    await seen.asked('and the candles', text, (colour) => colour === dark);
    await page.getByRole('button', { name: 'Switch to dark' }).click();
    await page.getByRole('button', { name: 'Switch to light' }).waitFor();
    await scene.picture(seen);
  },
};

const reference: Journey = {
  name: 'docs-try',
  done: 'subscribes to a topic in the reference, searches it, sends a request, copies a sample',
  seen: 'frames as trades happen, the answer of this server; language and inputs after a reload',
  async run(scene) {
    const { market, seeded } = scene;
    const seen = await scene.visit({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = seen;
    const listed = (await market.client.tickers.list({})).data.items.map(({ asset }) => asset);
    await seen.open('docs#topic-LastBar');
    const listen = page.locator('#topic-LastBar form.listen');
    await listen.waitFor();
    const frame = () => listen.locator('textarea').inputValue();
    await seen.asked(
      'the recorded token is replaced by one of this market',
      async () => /[0-9a-f]{56}\.[0-9a-f]*/.exec(await frame())?.[0] ?? '',
      (asset) => listed.includes(asset),
    );
    const asset = /[0-9a-f]{56}\.[0-9a-f]*/.exec(await frame())?.[0] ?? '';
    await listen.getByRole('button', { name: 'Subscribe' }).click();
    const frames = listen.locator('.frames > div');
    await frames.first().waitFor();
    const first = await frames.count();
    await market.bought(seeded.carol, asset, 40);
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
    const all = await page.locator('details.entry').count();
    assert.ok(found < all);
    const counted = `${found} of ${all} routes, topics and schemas`;
    await page.locator('#found').getByText(counted).waitFor();
    await search.fill('get /v1/utility/server/time');
    assert.equal(await entry.count(), 1);
    await entry.locator('summary').first().click();
    await entry.getByRole('button', { name: 'Send' }).click();
    await entry.locator('output').getByText('200 /v1/utility/server/time').waitFor();
    assert.match((await entry.locator('output pre').textContent()) ?? '', /"timestamp": \d+/);
    const copy = entry.locator('button.copy').first();
    await copy.click();
    await copy.getByText('Copied').waitFor();
    await scene.picture(seen);
    await remembers(seen);
  },
};

async function remembers(seen: Visit): Promise<void> {
  const { page } = seen;
  await seen.open('docs#route-searchPools');
  const route = page.locator('#route-searchPools');
  const shown = route.locator('.samples div[data-language]:visible');
  const pattern = route.locator('form.try input[name=pattern]');
  await pattern.waitFor();
  assert.match((await shown.textContent()) ?? '', /^curl /);
  await route.getByRole('button', { name: 'Python' }).click();
  assert.match((await shown.textContent()) ?? '', /^import httpx/);
  assert.ok((await shown.textContent())?.includes(seen.url), 'it asks this server');
  await pattern.fill('mine');
  await page.reload();
  await pattern.waitFor();
  assert.equal(await pattern.inputValue(), 'mine');
  assert.match((await shown.textContent()) ?? '', /^import httpx/);
  const topic = page.locator('#topic-LastBar');
  await topic.locator('summary').first().click();
  const sample = topic.locator('.samples div[data-language]:visible');
  assert.match((await sample.textContent()) ?? '', /^import json/);
}

const outage: Journey = {
  name: 'server-killed',
  done: 'looks at a token while the server is killed (kill -9) and started again',
  seen: 'how old the page is, a countdown; all stays; then every bar is that of HTTP, no reload',
  async run(scene) {
    const { market, main } = scene;
    const seen = await scene.visit();
    const { page } = seen;
    await listenToCharts(page);
    await seen.open(`#/token/${main}`);
    await seen.live();
    await drawn(seen, market, main);
    seen.assertClean();
    await page.evaluate('globalThis.mark = true');
    const name = await seen.text('h1');
    await market.kill();
    await seen.asked(
      'it says that it is old',
      () => seen.text('.status'),
      (text) => /Reconnecting in \d+ s/.test(text) && text.includes('as of'),
    );
    assert.equal(await seen.text('h1'), name, 'what was there is still there');
    assert.notDeepEqual(await drawnOn(page), []);
    await scene.picture(seen);
    await market.restart();
    await seen.live();
    assert.equal(await page.evaluate('globalThis.mark'), true, 'nothing was reloaded');
    await drawn(seen, market, main);
    // The only allowed errors are the browser's own messages about a server that is gone.
    const gone = seen.errors.splice(0);
    const others = gone.filter((text) => !/WebSocket|ERR_CONNECTION|Failed to load/.test(text));
    assert.deepEqual(others, []);
  },
};

export const FRAME_JOURNEYS = [phone, keyboard, themes, reference];
/** Last: it ends the server that all others need. */
export const OUTAGE_JOURNEY = outage;
