/** What a trader comes back for: one click, own filters, profit and loss, the history, an alert. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { openBrowser, visit } from './support.ts';
import { launchOn, ordersAre, startWallet, TradeWorld } from './tradeWorld.ts';

const ADA = 1_000_000n;

test('a wallet buys with one click, sees what it made, and hears of a price', async (t) => {
  const world = await TradeWorld.start(t);
  const session = await visit(await openBrowser(t), world.url, { acceptDownloads: true });
  const { page } = session;
  await startWallet(session);
  const bob = await world.funded('bob', 10_000);
  const asset = await launchOn(session, 'Hold');

  await t.test('one click places an order with the slippage that was chosen', async () => {
    await page.getByText('Own', { exact: true }).click();
    await page.getByLabel('Own slippage').fill('7.5');
    await page.getByText('Fills for at least 92.50 % of the quote.').waitFor();
    await page.getByText('Sizes and one-click buying').click();
    await page.getByLabel('Size 2').fill('60');
    assert.equal(await page.getByRole('button', { name: /at once$/ }).count(), 0, 'it is off');
    await page.getByLabel('Buy with one click').check();
    const sent = page.waitForRequest((request) => request.url().endsWith('/order'));
    await page.getByRole('button', { name: 'Buy for 60 ADA at once' }).click();
    const body: unknown = (await sent).postDataJSON();
    const { minOutput, amount } = Object(body);
    assert.equal(amount, String(60n * ADA));
    assert.match(String(minOutput), /^[1-9]\d+$/, 'the least output is named');
    await ordersAre(session, 'Filled', /60 ADA → [\d,]+ HOLD/);
    await page.getByText(/Buy of HOLD: filled/).waitFor();
  });

  await t.test('trades are filtered by side, size and owner', async () => {
    await world.filled(bob, { assetId: asset, side: 'BUY', amount: 200n * ADA, slippage: '15' });
    const rows = page.locator('.tape > li');
    const panel = page.getByRole('region', { name: 'Trades' });
    await rows.nth(2).waitFor();
    await panel.getByLabel('Trades: size').selectOption('100000000');
    await session.asked(
      'only the large one',
      () => rows.count(),
      (count) => count === 1,
    );
    await panel.getByLabel('Trades: size').selectOption('0');
    await panel.getByLabel('Mine').check();
    await session.asked(
      'the launch and the click',
      () => rows.count(),
      (count) => count === 2,
    );
    await panel.getByText('Sells', { exact: true }).click();
    await page.getByText('No trades yet.').waitFor();
  });

  await t.test('an alert is said when the price is there, and is over then', async () => {
    await page.getByRole('button', { name: 'Price alert for HOLD' }).click();
    const price = page.getByLabel('Price of a token');
    await price.fill('0');
    await page.getByRole('button', { name: 'Set the alert' }).click();
    await page.getByText('Enter a price above 0').waitFor();
    await page.getByText('At or above', { exact: true }).click();
    await price.fill('0.000004');
    await page.getByRole('button', { name: 'Set the alert' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    // It is kept: the next view, and the next visit, watch it too.
    await page.goto(`${world.url}/#/wallet`);
    await page.reload();
    const buy = { assetId: asset, side: 'BUY', amount: 3_000n * ADA, slippage: '15' } as const;
    await world.filled(bob, buy);
    await page.getByText(/HOLD is at or above 0\.000004 ADA/).waitFor();
    assert.equal(await page.evaluate(`localStorage['upcurve.alerts']`), '[]');
  });

  await t.test('the portfolio is the one of the API, and the history a file', async () => {
    const row = page.locator('.pnl tbody tr');
    await row.getByText('Hold').waitFor();
    await session.asked(
      'the price went up, and with it the gain',
      () => row.locator('.col-unrealized').innerText(),
      (text) => /^\+[\d.,]+/.test(text),
    );
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    const [header = '', ...rows] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
    assert.match(header, /entityId/);
    assert.equal(rows.length, 1, 'the order of the one click');
  });

  await t.test('another wallet is added, and both are one portfolio', async () => {
    const address = await page.locator('.wallet-address code').innerText();
    await page.getByRole('button', { name: 'Add another test wallet' }).click();
    await session.asked(
      'another address',
      () => page.locator('.wallet-address code').innerText(),
      (text) => text !== address,
    );
    await page.getByText('No token yet.').waitFor();
    await page.getByLabel('All 2 wallets').check();
    await page.locator('.pnl tbody tr').getByText('Hold').waitFor();
  });
  session.assertClean();
});
