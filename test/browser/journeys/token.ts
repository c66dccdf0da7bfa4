/** A token's page: its chart, older rows and bars, a rollback, a tab in the background. */
import assert from 'node:assert/strict';
import { newTestApp } from '../../support/app.ts';
import { readHistory } from '../../support/chart.ts';
import { drawnOf, drawnOn, listenToCharts, type Visit, writesOn } from '../support.ts';
import { drawn, type Journey, numbersOf, type Scene } from './journey.ts';

const MINUTE_BLOCKS = 60;

function seriesOn({ page }: Visit): Promise<readonly string[]> {
  return page.evaluate(
    `(globalThis.charted?.at(-1)?.series ?? []).map((each) => each.seriesType())`,
  );
}

const chart: Journey = {
  name: 'chart',
  done: 'switches on averages of a chosen length, bands, RSI, log scale, lines, five minutes, caps',
  seen: 'each at once, over the bars of HTTP; kept for the next visit; then on the whole screen',
  async run(scene) {
    const { market, main } = scene;
    const seen = await scene.visit();
    const { page } = seen;
    await listenToCharts(page);
    await seen.open(`#/token/${main}`);
    await drawn(seen, market, main);
    const few = (await seriesOn(seen)).length;
    await page.getByText('Indicators', { exact: true }).click();
    for (const name of [
      /^Moving average/,
      /^Second moving/,
      /^Exponential/,
      /^Bollinger/,
      /^Volume weighted/,
      /^Relative/,
    ])
      await page.getByRole('checkbox', { name }).check();
    await seen.asked(
      'six lines, of which the bands are three',
      () => seriesOn(seen),
      ({ length }) => length === few + 8,
    );
    const valuesOf = (line: number) =>
      page.evaluate<number>(
        `globalThis.charted.at(-1).series[${few + line}]` +
          ".data().filter((at) => 'value' in at).length",
      );
    await page.getByLabel('Moving average: bars', { exact: true }).fill('5');
    await page.getByLabel('Second moving average: bars', { exact: true }).fill('10');
    const bars = (await market.bars(main)).length;
    for (const [line, first] of [5, 10].entries()) {
      const has = (count: number) => count === bars + 1 - first;
      await seen.asked(`average ${line} starts with bar ${first}`, () => valuesOf(line), has);
    }
    await page.keyboard.press('Escape');
    await page.getByText('View', { exact: true }).click();
    await page.getByText('Log', { exact: true }).click();
    await page.keyboard.press('Escape');
    await page.locator('.chart .canvas').hover({ position: { x: 300, y: 150 } });
    const legend = await page.locator('.legend').innerText();
    for (const number of legend.match(/[\d.,₀-₉]+(?=\s|$)/g) ?? [])
      assert(number.replace(/\D/g, '').length <= 12, number);
    await scene.picture(seen);
    await page.getByText('View', { exact: true }).click();
    await page.getByText('Line', { exact: true }).click();
    await page.keyboard.press('Escape');
    await seen.asked(
      'a line',
      () => seriesOn(seen),
      ([first]) => first === 'Line',
    );
    await page.getByText('5m', { exact: true }).first().click();
    await page.getByText('MCap', { exact: true }).click();
    await page.reload();
    await seen.asked(
      'as it was',
      () => seriesOn(seen),
      ([first]) => first === 'Line',
    );
    assert.equal(
      await page.getByRole('radio', { name: '5 minutes', exact: true }).isChecked(),
      true,
    );
    await page.locator('.chart summary', { hasText: 'Indicators' }).click();
    assert.equal(await page.getByLabel('Moving average: bars', { exact: true }).inputValue(), '5');
    await page.keyboard.press('Escape');
    const height = () => page.locator('.chart .frame').evaluate((frame) => frame.clientHeight);
    const before = await height();
    await page.getByRole('button', { name: 'Full screen' }).click();
    await seen.asked('the whole screen', height, (now) => now > before);
    await page.getByRole('button', { name: 'Leave full screen' }).click();
    await seen.asked('and back', height, (now) => now === before);
  },
};

const fork: Journey = {
  name: 'fork',
  done: 'watches a bar move; the chain then undoes its newest blocks, twice',
  seen: 'exactly the bars that changed are drawn again, and the chart is that of HTTP each time',
  async run(scene) {
    const { market, seeded } = scene;
    const [, asset = ''] = seeded.assets;
    const { carol } = seeded;
    await market.hold(async () => {
      // What is undone is this journey's own.
      for (const ada of [20, 30, 40]) {
        await market.mine(MINUTE_BLOCKS);
        await market.bought(carol, asset, ada);
      }
      // A minute has just started: what follows is in one bar.
      const second = Math.floor((await market.lastTradeMs(asset)) / 1000) % MINUTE_BLOCKS;
      await market.mine(2 * MINUTE_BLOCKS - second);
      const seen = await scene.visit();
      await listenToCharts(seen.page);
      await seen.open(`#/token/${asset}`);
      const settled = await drawn(seen, market, asset);
      assert(settled.length >= 3, 'there is history');
      await writesOn(seen.page);
      await market.bought(carol, asset, 50);
      const opened = await drawn(seen, market, asset);
      const newest = opened.at(-1);
      assert(newest !== undefined && opened.length === settled.length + 1);
      // Its block, and those before its fill, are counted: these are undone.
      const depth = await market.counting(() => market.bought(carol, asset, 60));
      const moved = await drawn(seen, market, asset);
      assert.notEqual(moved.at(-1)?.close, newest.close, 'the bar has moved');
      const news = await writesOn(seen.page);
      assert(
        news.length > 0 && news.every(({ time }) => time === newest.time),
        JSON.stringify(news),
      );
      await seen.asked(
        'the legend has the exact price',
        () =>
          seen.page
            .locator('.legend > [title]')
            .evaluateAll((all) => all.map((each) => each.title)),
        (titles) => titles.includes(`${moved.at(-1)?.close} ADA`),
      );

      await market.client.devnet.fork({ depth, resubmit: 'none' });
      const undone = await drawn(seen, market, asset);
      assert.deepEqual(undone.at(-1)?.close, newest.close, 'as it was before');
      const revised = await writesOn(seen.page);
      assert(revised.length > 0 && revised.every(({ time }) => time === newest.time));

      // Back into the minute before: bars go, and those that stay are as they were.
      await market.client.devnet.fork({ depth: 2 * MINUTE_BLOCKS, resubmit: 'none' });
      const shorter = await drawn(seen, market, asset);
      assert(shorter.length < undone.length, 'bars are gone');
      const before = numbersOf(undone).slice(0, shorter.length - 1);
      assert.deepEqual(numbersOf(shorter).slice(0, -1), before);
      await scene.picture(seen);
    });
  },
};

const FIRST_ROWS = 100;
/** The others of them are drawn as one scrolls. */
const FIRST_DRAWN = 30;

interface List {
  readonly rows: string;
  readonly button: string;
}

const ORDERS: List = { rows: '.feed', button: 'Older orders' };
const TRADES: List = { rows: '.tape', button: 'Older trades' };
const HOLDERS: List = { rows: '.holders', button: 'More holders' };

function keysOf({ page }: Visit, { rows }: List): Promise<string[]> {
  const all = JSON.stringify(`${rows} > [data-key]`);
  return page.evaluate(`Array.from(document.querySelectorAll(${all}), (row) => row.dataset.key)`);
}

/** Presses the button with the keyboard until the list has these rows, each in its place. */
async function goesOnTo(seen: Visit, list: List, keys: readonly string[]): Promise<void> {
  const button = seen.page.getByRole('button', { name: list.button });
  await button.waitFor();
  const panelHeight = () =>
    seen.page.locator(`section:has(> ${list.rows})`).evaluate((panel) => panel.clientHeight);
  const before = await panelHeight();
  await button.focus();
  await seen.page.keyboard.press('Enter');
  await seen.asked(
    `${list.button}: ${keys.length} rows as HTTP has them`,
    () => keysOf(seen, list),
    (found) => JSON.stringify(found) === JSON.stringify(keys),
  );
  await seen.asked(
    'nothing more is offered',
    async () => button.getAttribute('aria-disabled'),
    (text) => text === 'true',
  );
  assert.equal(await button.evaluate((node) => node.matches(':focus')), true, 'focused');
  if (list !== HOLDERS) assert.equal(await panelHeight(), before, 'nothing below it moves');
  const scrolled = await seen.page.locator(list.rows).evaluate(({ scrollTop }) => scrollTop);
  assert(scrolled > 0, 'the first of the older ones is in view');
}

/** Holders and cautions count from the tokens outside the pool, and both say so. */
async function sharesAgree(seen: Visit): Promise<void> {
  const author = /Author (?:has)?\s*([\d.]+%)/;
  const shareIn = async (selector: string) => author.exec(await seen.text(selector))?.[1];
  await seen.asked(
    'one share of the author in both panels',
    () => Promise.all(['.distribution', '.insights .flags'].map(shareIn)),
    ([holders, cautions]) => holders !== undefined && holders === cautions,
  );
  for (const panel of ['.distribution', '.insights'])
    assert.match(await seen.text(`${panel} .base`), /tokens outside the pool/);
}

/** Beyond the first rows of each list of the token with the most trades. */
export async function goesBack({ market, main }: Scene, seen: Visit): Promise<void> {
  const { client } = market;
  const orders = (await client.orders.feed({ asset: main, limit: 100 })).data.ledger;
  const before = orders.items.at(-1)?.entityId ?? '';
  const older = (await client.orders.feed({ asset: main, before })).data.ledger;
  const orderIds = [...orders.items, ...older.items].map(({ entityId }) => entityId);
  const trades = (await client.trades.list({ asset: main, limit: 500 })).data;
  const { holders } = (await client.holders.list({ assetId: main })).data;
  const holderIds = ['pool', ...holders.map(({ address }) => address)];
  assert(orderIds.length > FIRST_ROWS && trades.length > FIRST_ROWS && holders.length > 11);
  await seen.asked(
    'the newest ones',
    () => keysOf(seen, ORDERS),
    (found) => found.length === FIRST_DRAWN,
  );
  const scroll = (toPx: number) =>
    seen.page.locator(ORDERS.rows).evaluate((list, top) => list.scrollTo(0, top), toPx);
  await seen.asked(
    'the first page of them, to who scrolls on',
    async () => {
      await scroll(10_000);
      return keysOf(seen, ORDERS);
    },
    (found) => found.length === FIRST_ROWS,
  );
  await goesOnTo(seen, ORDERS, orderIds);
  await goesOnTo(
    seen,
    TRADES,
    trades.map(({ id }) => id),
  );
  await goesOnTo(seen, HOLDERS, holderIds);
  await sharesAgree(seen);
  const width = await seen.page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert(Number(width) <= 0, 'nothing is wider than the screen');
}

const rows: Journey = {
  name: 'older-rows',
  done: 'asks for older orders, older trades and more holders, with the keyboard',
  seen: 'all that HTTP has, in its order; nothing below the lists moves',
  async run(scene) {
    const seen = await scene.visit();
    await seen.open(`#/token/${scene.main}`);
    await goesBack(scene, seen);
    await seen.page.locator('.feed').scrollIntoViewIfNeeded();
    await scene.picture(seen);
  },
};

const background: Journey = {
  name: 'background-tab',
  done: 'leaves the tab; forty blocks with trades go by; comes back',
  seen: 'nothing was shown meanwhile; then the chart and the price of now, without notices',
  async run(scene) {
    const { market, seeded } = scene;
    const [, , asset = ''] = seeded.assets;
    const seen = await scene.visit();
    const { page } = seen;
    await listenToCharts(page);
    await page.addInitScript(HIDING);
    await seen.open(`#/token/${asset}`);
    await drawn(seen, market, asset);
    await page.evaluate('globalThis.hide(true)');
    const legend = await seen.text('.legend');
    for (const ada of [25, 35, 45]) await market.bought(seeded.carol, asset, ada);
    await market.mine(MINUTE_BLOCKS / 2);
    assert.equal(await seen.text('.legend'), legend, 'nothing was drawn');
    await page.evaluate('globalThis.hide(false)');
    await drawn(seen, market, asset);
    assert.equal(await page.locator('.toast').count(), 0, 'no flood of notices');
    await scene.picture(seen);
  },
};

/** Headless browsers show every page: this is what a page in the background has. */
const HIDING = `(() => {
  let isHidden = false;
  const waiting = [];
  const frame = globalThis.requestAnimationFrame.bind(globalThis);
  globalThis.requestAnimationFrame = (job) => isHidden ? waiting.push(job) : frame(job);
  Object.defineProperty(document, 'hidden', { get: () => isHidden });
  const state = () => isHidden ? 'hidden' : 'visible';
  Object.defineProperty(document, 'visibilityState', { get: state });
  globalThis.hide = (now) => {
    isHidden = now;
    document.dispatchEvent(new Event('visibilitychange'));
    if (!now) for (const job of waiting.splice(0)) frame(job);
  };
})()`;

const TOKEN = `${'03'.repeat(28)}.5265706c6179`;
const MINUTES = 900;
const START_MS = 1_767_614_400_000;
/** What the page loads at first, and with each scroll beyond the edge. */
const PIECE = 300;

/** A trade a minute, at a price of its own. */
function feed(): string {
  const lines = Array.from({ length: MINUTES }, (_, minute) =>
    JSON.stringify({
      ...{ id: String(minute), timeMs: START_MS + minute * 60_000, base: TOKEN, quote: '.' },
      ...{ baseDecimals: 0, quoteDecimals: 6, baseAmount: '1000' },
      quoteAmount: String(2_500 + ((minute * 7_919) % 1_000)),
    }),
  );
  return `${lines.join('\n')}\n`;
}

const olderBars: Journey = {
  name: 'older-bars',
  done: 'searches a replayed token by its id, and moves its chart back with the arrow keys',
  seen: 'older bars join on the left, piece by piece, to the first; all are those of HTTP',
  async run(scene) {
    const app = await newTestApp(scene);
    await app.feed(feed());
    const params = { base: TOKEN, quote: '.', interval: 'min1', price: 'spot' } as const;
    const bars = (await readHistory(app.url, params))?.bars ?? [];
    assert(bars.length >= MINUTES - 1, 'a bar a minute');
    const seen = await scene.visit({}, app.url);
    const { page } = seen;
    await listenToCharts(page);
    await seen.open();
    await page.getByText('search for the asset id').waitFor();
    await page.locator('.pools a.pool').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(TOKEN);
    await page.locator('#search-found [role="option"][aria-selected="true"]').waitFor();
    await page.keyboard.press('Enter');

    const times = async () => (await drawnOn(page))?.map(({ time }) => time) ?? [];
    const isEnd = (shown: readonly number[], count: number) =>
      JSON.stringify(shown) === JSON.stringify(bars.slice(-count).map(({ time }) => time));
    const wholes = [PIECE, 2 * PIECE, bars.length];
    await seen.asked('the newest bars are drawn', times, (shown) => isEnd(shown, PIECE));
    await page.locator('.chart .canvas').focus();
    const scrolled = async () => {
      await page.keyboard.press('ArrowLeft');
      const shown = await times();
      // Each piece is whole when it is drawn, and joins what was there.
      assert(
        wholes.some((count) => isEnd(shown, count)),
        `${shown.length} bars are drawn`,
      );
      return shown;
    };
    await seen.asked('older ones come, to the first', scrolled, (shown) => {
      return isEnd(shown, bars.length);
    });
    const numbers = ((await drawnOn(page)) ?? []).map(({ open, high, low, close }) => [
      ...[open, high, low, close],
    ]);
    assert.deepEqual(numbers, drawnOf(bars), 'all of them are those of HTTP');
    await scene.picture(seen);

    await seen.open('#/launch');
    await page.getByText('nothing to launch on').waitFor();
  },
};

export const TOKEN_JOURNEYS = [chart, rows, fork, background, olderBars];
