/** What is beyond the first rows of a list comes when asked for, by keyboard, on a phone too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { manyOrders } from '../client/manyOrders.ts';
import { DevnetWorld } from '../e2e/devnet/world.ts';
import { openBrowser, type Visit, visit } from './support.ts';

const FIRST_ROWS = 100;
const PHONE = { viewport: { width: 390, height: 844 } };

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

test('orders, trades and holders beyond the first rows', async (t) => {
  const [browser, world] = await Promise.all([openBrowser(t), DevnetWorld.start(t)]);
  const client = new Client({ url: world.url });
  t.after(() => client.close());
  const many = await manyOrders(world, client);
  await many.filled();
  await many.share(12);
  const asset = many.assetId;
  const orders = (await client.orders.feed({ asset, limit: 100 })).data.ledger;
  const before = orders.items.at(-1)?.entityId ?? '';
  const older = (await client.orders.feed({ asset, before })).data.ledger;
  const orderIds = [...orders.items, ...older.items].map(({ entityId }) => entityId);
  const tradeIds = (await client.trades.list({ asset, limit: 500 })).data.map(({ id }) => id);
  const { holders } = (await client.holders.list({ assetId: asset })).data;
  const holderIds = ['pool', ...holders.map(({ address }) => address)];
  assert(orderIds.length > FIRST_ROWS && tradeIds.length > FIRST_ROWS && holders.length > 11);

  for (const options of [{}, PHONE]) {
    const seen = await visit(browser, world.url, options);
    await seen.open(`#/token/${asset}`);
    await seen.asked(
      'the newest ones',
      () => keysOf(seen, ORDERS),
      (found) => found.length === FIRST_ROWS,
    );
    await goesOnTo(seen, ORDERS, orderIds);
    await goesOnTo(seen, TRADES, tradeIds);
    await goesOnTo(seen, HOLDERS, holderIds);
    const width = await seen.page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert(Number(width) <= 0, 'nothing is wider than the screen');
    seen.assertClean();
    await seen.page.close();
  }
});
