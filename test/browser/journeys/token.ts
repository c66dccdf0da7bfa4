/** A token's page: its chart, older rows and bars, a rollback, a tab in the background. */
import assert from 'node:assert/strict';
import { newTestApp } from '../../support/app.ts';
import { readHistory } from '../../support/chart.ts';
import { drawnOf, drawnOn, listenToCharts, type Visit, writesOn } from '../support.ts';
import { drawn, type Journey, numbersOf, type Scene } from './journey.ts';
import { goesBack } from './lists.ts';

const MINUTE_BLOCKS = 60;

function seriesOn({ page }: Visit): Promise<readonly string[]> {
  return page.evaluate(
    `(globalThis.charted?.at(-1)?.series ?? []).map((each) => each.seriesType())`,
  );
}

/** The chart draws every trade as a separate point. */
async function eachTradeIsDrawn({ market, main }: Scene, seen: Visit): Promise<void> {
  const newest = async () => (await market.client.trades.list({ asset: main, limit: 100 })).data;
  const { page } = seen;
  await page.locator('.chart-intervals').getByText('Trades', { exact: true }).click();
  await seen.asked(
    'the newest trades are the last points',
    async () => {
      const wanted = (await newest()).map(({ spotAfter }) => Number(spotAfter)).reverse();
      const points = await page.evaluate<readonly number[]>(
        'globalThis.charted?.at(-1)?.series[0]?.data().map((point) => point.value) ?? []',
      );
      return JSON.stringify(points.slice(-wanted.length)) === JSON.stringify(wanted);
    },
    (isSame) => isSame,
  );
}

/** The figures that a trader reads first: price changes, the pool's liquidity, the token's age. */
async function leadsWithItsFigures({ market, main }: Scene, seen: Visit): Promise<void> {
  await seen.asked(
    'changes and counts of HTTP in the header',
    async () => {
      const [ticker] = (await market.client.tickers.ofAssets([main])).data.items;
      const { count } = (await market.client.holders.list({ assetId: main, limit: 1 })).data;
      const change = ticker?.change5m ?? '–';
      return [await seen.text('.figures'), change.replace('-', ''), `Holders${count}`] as const;
    },
    ([text, change, holders]) =>
      [change, holders].every((each) => text.includes(each)) &&
      /Liquidity\d.*Volume 24h\d.*Age\d/.test(text),
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
    await eachTradeIsDrawn(scene, seen);
    await leadsWithItsFigures(scene, seen);
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
    await page.locator('.chart-intervals').getByText('5m', { exact: true }).click();
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
      // The rollback undoes only trades that this journey made.
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
      await seen.asked(
        'what was undone is said, and marked among the trades',
        async () => [
          await seen.page.locator('.toasts').innerText(),
          await seen.page.locator('.tape > .undone').count(),
        ],
        ([said, marked]) =>
          String(said).includes(`${depth} blocks were undone. 1 trade `) && marked === 1,
      );
      const undone = await drawn(seen, market, asset);
      assert.deepEqual(undone.at(-1)?.close, newest.close, 'as it was before');
      const revised = await writesOn(seen.page);
      assert(revised.length > 0 && revised.every(({ time }) => time === newest.time));

      // Back into the minute before: the newest bars disappear, and the others keep their values.
      await market.client.devnet.fork({ depth: 2 * MINUTE_BLOCKS, resubmit: 'none' });
      const shorter = await drawn(seen, market, asset);
      assert(shorter.length < undone.length, 'bars are gone');
      const before = numbersOf(undone).slice(0, shorter.length - 1);
      assert.deepEqual(numbersOf(shorter).slice(0, -1), before);
      await scene.picture(seen);
    });
  },
};

/** Keys of a trade and of the page, where no text is typed. */
async function keysWork(seen: Visit): Promise<void> {
  const { page } = seen;
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('?');
  await page.locator('dialog').getByText('Next and previous row').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.evaluate('document.activeElement.blur()');
  const isSell = () => page.getByRole('radio', { name: 'Sell', exact: true }).first().isChecked();
  await page.keyboard.press('s');
  assert.equal(await isSell(), true);
  await page.keyboard.press('b');
  assert.equal(await isSell(), false);
  await page.locator('.quick').waitFor();
  await page.keyboard.press('s');
  assert.equal(await isSell(), true);
  // Two keys before the form of the other side is drawn.
  const press = "dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))";
  await page.evaluate(`for (const key of ['b', '2']) document.body.${press}`);
  await seen.asked(
    'the second amount',
    () => page.locator('input.amount').inputValue(),
    (text) => text === '50',
  );
  await page.keyboard.press('Control+4');
  assert.equal(await page.locator('input.amount').inputValue(), '50', 'the browser has that key');
}

const rows: Journey = {
  name: 'older-rows',
  done: 'asks for older orders, older trades and more holders, with the keyboard',
  seen: 'all that HTTP has, in its order; nothing below the lists moves',
  async run(scene) {
    const seen = await scene.visit();
    await seen.open(`#/token/${scene.main}`);
    await goesBack(scene, seen);
    await keysWork(seen);
    await seen.page.locator('.holders').scrollIntoViewIfNeeded();
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

/**
 * Headless browsers never hide a page, so this script simulates a page in the background.
 */
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
/** Bars that the page loads at first and with each scroll past the edge. */
const PIECE = 300;

/** One trade per minute, each at a different price. */
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
      // Each piece is complete when it is drawn, and continues the bars before it.
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
