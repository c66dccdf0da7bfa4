/** A token's life in a browser: launched, bought, sold, cancelled, locked, graduated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawnOf, drawnOn, listenToCharts, openBrowser, type Visit, visit } from './support.ts';
import { field, launchOn, ordersAre, startWallet, TradeWorld } from './tradeWorld.ts';

const ADA = 1_000_000n;

async function review({ page }: Visit, kind: 'buy' | 'sell'): Promise<void> {
  await page.locator('.quote[data-state=quote]').waitFor();
  await page.getByRole('button', { name: `Review ${kind}` }).click();
  await page.getByRole('button', { name: `Sign and ${kind}` }).waitFor();
}

async function sign({ page }: Visit, kind: 'buy' | 'sell'): Promise<void> {
  await page.getByRole('button', { name: `Sign and ${kind}` }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** The chart shows exactly the bars that HTTP has. */
async function chartIsRight(world: TradeWorld, session: Visit, asset: string): Promise<void> {
  const query = `base=${asset}&quote=.&resolution=min1&from=0&to=4000000000&price=spot`;
  const newest = async () => {
    const bars = await world.get(`/v1/charts/history?${query}`);
    assert(Array.isArray(bars));
    const last: unknown = (await drawnOn(session.page))?.at(-1);
    return [closeOf(bars.at(-1)), closeOf(last)];
  };
  await session.asked('the bar on the chart is that of HTTP', newest, ([a, b]) => a === b);
}

function closeOf(bar: unknown): number {
  const bars = [field(bar, 'open'), field(bar, 'high'), field(bar, 'low'), field(bar, 'close')];
  const [open, high, low, close] = bars.map(String);
  if (open === undefined || high === undefined || low === undefined || close === undefined)
    return 0;
  return drawnOf([{ open, high, low, close }])[0]?.[3] ?? 0;
}

test('a token is launched, traded, locked and graduates, all in a browser', async (t) => {
  const world = await TradeWorld.start(t);
  const session = await visit(await openBrowser(t), world.url);
  const { page } = session;
  await listenToCharts(page);
  await startWallet(session);
  const bob = await world.funded('bob', 30_000);
  const asset = await launchOn(session, 'Walk');

  await t.test('a buy moves from the form to its fill, and the bar with it', async () => {
    const amount = page.getByLabel('You spend');
    await amount.fill('120.5');
    await page.locator('.quote[data-state=quote]').waitFor();
    await amount.press('Enter');
    await page.getByRole('button', { name: 'Sign and buy' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    const focused = await page.evaluate('document.activeElement?.className');
    assert.equal(focused, 'amount', 'the keyboard is where it was');
    await review(session, 'buy');
    const said = await page.locator('dialog').innerText();
    assert.match(said, /123\.1 ADA goes to the order/, 'what is signed is read from the bytes');
    await sign(session, 'buy');
    await ordersAre(session, 'Filled', /120\.5 ADA → [\d,]+ WALK/);
    await chartIsRight(world, session, asset);
  });

  await t.test('tokens are bought by their number', async () => {
    await page.getByText('Get tokens', { exact: true }).click();
    await page.getByLabel('You get', { exact: true }).fill('1 000 000');
    await review(session, 'buy');
    await sign(session, 'buy');
    await ordersAre(session, 'Filled', /→ 1,000,000 WALK/);
    await page.getByText('Spend ADA', { exact: true }).click();
  });

  await t.test('what the API refuses is shown in words, with amounts in ADA', async () => {
    await page.getByLabel('You spend').fill('0.5');
    await page.getByText('The coin side of a trade is at least 1 ADA').waitFor();
    await page.getByLabel('You spend').fill('15000');
    await page.locator('.quote[data-state=quote]').waitFor();
    await page.getByRole('button', { name: 'Review buy' }).click();
    const failure = page.locator('.trade-failure');
    await failure.getByRole('alert').waitFor();
    assert.match(await failure.innerText(), /wallet/i);
    assert.doesNotMatch(await failure.innerText(), /UNKNOWN|lovelace/);
    await page.getByLabel('You spend').fill('1,5');
    await page.getByText(/without commas/).waitFor();
  });

  await t.test('half of the tokens are sold', async () => {
    await page.locator('.direction label[data-value=sell]').click();
    await page.getByRole('button', { name: '50 %', exact: true }).click();
    await review(session, 'sell');
    await sign(session, 'sell');
    await ordersAre(session, 'Filled', /WALK → [\d.,]+ ADA/);
    await chartIsRight(world, session, asset);
  });

  await t.test('an order that waits for its price is open, and is cancelled', async () => {
    await page.locator('.direction label[data-value=buy]').click();
    await page.getByRole('button', { name: '50 ₳' }).click();
    await page.locator('.quote[data-state=quote]').waitFor();
    const gets = () => page.locator('.quote-rows > div').nth(1).innerText();
    const before = await gets();
    const some = { assetId: asset, side: 'BUY', amount: 200n * ADA, slippage: 'infinity' } as const;
    await world.filled(bob, some);
    await session.asked('the quote follows the pool', gets, (now) => now !== before);
    await review(session, 'buy');
    // The price runs away between the last look and the signature.
    const away = {
      assetId: asset,
      side: 'BUY',
      amount: 3000n * ADA,
      slippage: 'infinity',
    } as const;
    await world.filled(bob, away);
    await sign(session, 'buy');
    await ordersAre(session, 'Open', /50 ADA/);
    await page.getByRole('button', { name: /^Cancel: Buy/ }).click();
    await page.getByRole('button', { name: 'Sign and cancel the order' }).click();
    await ordersAre(session, 'Cancelled', /50 ADA/);
  });

  await t.test('tokens are locked, and withdrawn when their time has come', () =>
    lockAndWithdraw(session, asset),
  );

  await t.test('the token graduates under the open page, and is sold on the AMM', async () => {
    await page.goto(`${world.url}/#/token/${asset}`);
    await page.getByRole('button', { name: 'Review buy' }).waitFor();
    await world.graduate(bob, asset);
    await page.locator('.token-head').getByText('AMM', { exact: true }).waitFor();
    await page.locator('.direction label[data-value=sell]').click();
    await page.getByRole('button', { name: '25 %', exact: true }).click();
    await review(session, 'sell');
    await sign(session, 'sell');
    await ordersAre(session, 'Filled', /WALK → [\d.,]+ ADA/, 2);
    await chartIsRight(world, session, asset);
  });

  // The browser notes each refusal by its status; nothing else went wrong.
  const others = session.errors.filter(
    (error) => !error.includes('the server responded with a status'),
  );
  assert.deepEqual(others, []);
  assert.deepEqual(session.foreign, [], 'no request leaves the origin');
});

async function lockAndWithdraw({ page, url }: Visit, asset: string): Promise<void> {
  await page.getByRole('button', { name: 'Lock tokens…' }).click();
  await page.getByRole('textbox', { name: 'Amount', exact: true }).fill('1001');
  // A moment from now, as the field wants it: the page's own time, in whole seconds.
  const soon = await page.evaluate(`(() => {
    const at = new Date(Date.now() + 15_000);
    return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  })()`);
  await page.getByLabel('Until (your time)').fill(String(soon));
  await page.getByLabel('Stages').selectOption('2');
  assert.match(await page.locator('.unlocks').innerText(), /500[\s\S]*501/);
  await page.getByRole('button', { name: 'Review the lock' }).click();
  await page.getByRole('button', { name: 'Sign and lock' }).click();
  await page.locator('dialog').first().waitFor({ state: 'detached' });
  await page.goto(`${url}/#/wallet`);
  const locks = page.locator('.own-locks > li');
  for (const [amount, left] of [
    ['500', 1],
    ['501', 0],
  ] as const) {
    await page.getByRole('button', { name: `Withdraw ${amount} WALK` }).click();
    await page.getByRole('button', { name: 'Sign and withdraw' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    if (left > 0) await locks.filter({ hasText: ' 500' }).waitFor({ state: 'detached' });
    else await page.getByText('You have no locks.').waitFor();
  }
  assert.equal(await locks.count(), 0);
  await page.goto(`${url}/#/token/${asset}`);
}
