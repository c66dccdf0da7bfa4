/** Trades that were replayed, without a chain: found by asset id, and older bars as one scrolls. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTestApp } from '../support/app.ts';
import { readHistory } from '../support/chart.ts';
import { drawnOf, drawnOn, listenToCharts, openBrowser, visit } from './support.ts';

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

test('replayed trades are found by asset id, and older bars come as one scrolls', async (t) => {
  const [browser, app] = await Promise.all([openBrowser(t), newTestApp(t)]);
  await app.feed(feed());
  const history = await readHistory(app.url, {
    base: TOKEN,
    quote: '.',
    interval: 'min1',
    price: 'spot',
  });
  const bars = history?.bars ?? [];
  assert(bars.length >= MINUTES - 1, 'a bar a minute');
  const seen = await visit(browser, app.url);
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
  const drawn = (await drawnOn(page)) ?? [];
  const numbers = drawn.map(({ open, high, low, close }) => [open, high, low, close]);
  assert.deepEqual(numbers, drawnOf(bars), 'all of them are those of HTTP');

  await seen.open('#/launch');
  await page.getByText('nothing to launch on').waitFor();
  seen.assertClean();
});
