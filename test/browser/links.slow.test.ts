/** Links to tokens, as a person opens them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTestApp } from '../support/app.ts';
import { openBrowser, visit } from './support.ts';

const TOKEN = `${'03'.repeat(28)}.4c696e6b`;
const TRADE = {
  ...{ id: '1', timeMs: 1_767_614_400_000, base: TOKEN, quote: '.' },
  ...{ baseDecimals: 0, quoteDecimals: 6, baseAmount: '1000', quoteAmount: '2500' },
};

test('a link opens its token, and a wrong one says that it is wrong', async (t) => {
  const [browser, app] = await Promise.all([openBrowser(t), newTestApp(t)]);
  await app.feed(`${JSON.stringify(TRADE)}\n`);
  const seen = await visit(browser, app.url);
  const { page } = seen;
  await seen.open(`t/${TOKEN.toUpperCase()}`);
  await page.locator('.canvas canvas').first().waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
  assert.equal(new URL(page.url()).hash, `#/token/${TOKEN}`);
  seen.assertClean();

  await seen.open('t/%3Cb%3Enonsense');
  await page.getByText('No such token').waitFor();
  await page.getByText('<b>nonsense').waitFor();
  assert.equal(await page.title(), 'No such token · upcurve');
  await page.getByRole('link', { name: 'To the market' }).click();
  await page.waitForFunction(`document.title.startsWith('Markets')`);
});
