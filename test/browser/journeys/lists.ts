/** The lists below a token's chart: to their oldest rows, with the keyboard. */
import assert from 'node:assert/strict';
import type { Client } from '../../../src/client/index.ts';
import type { Visit } from '../support.ts';
import type { Scene } from './journey.ts';

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
  const author = /Author (?:holds)?\s*([\d.]+%)/;
  const shareIn = async (selector: string) => author.exec(await seen.text(selector))?.[1];
  await seen.asked(
    'one share of the author in both panels',
    () => Promise.all(['.distribution', '.insights .flags'].map(shareIn)),
    ([holders, cautions]) => holders !== undefined && holders === cautions,
  );
  for (const panel of ['.distribution', '.insights'])
    assert.match(await seen.text(`${panel} .base`), /(?:tokens|supply) outside the pool/);
}

/** By what they made, then by what they traded, as HTTP has them. */
async function listsTraders(client: Client, asset: string, seen: Visit): Promise<void> {
  await openTab(seen, 'Top traders');
  const rows = seen.page.locator('.traders tbody tr');
  const keys = () => rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-key')));
  for (const [sort, label] of [
    ['realized', 'Realized'],
    ['volume', 'Volume'],
  ] as const) {
    await seen.page.locator('.top-traders .choices').getByText(label, { exact: true }).click();
    const traders = (await client.holders.traders({ asset, sort })).data.map(({ pkh }) => pkh);
    assert(traders.length > 3, 'several have traded');
    await seen.asked(
      `traders by ${sort}`,
      keys,
      (found) => JSON.stringify(found) === JSON.stringify(traders),
    );
  }
}

/** Opens a tab of the lists below the chart. */
export async function openTab({ page }: Visit, name: string): Promise<void> {
  await page.getByRole('tab', { name: new RegExp(`^${name}`) }).click();
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
  await openTab(seen, 'Orders');
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
  await openTab(seen, 'Trades');
  await goesOnTo(
    seen,
    TRADES,
    trades.map(({ id }) => id),
  );
  await listsTraders(market.client, main, seen);
  await openTab(seen, 'Holders');
  await goesOnTo(seen, HOLDERS, holderIds);
  await sharesAgree(seen);
  const width = await seen.page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert(Number(width) <= 0, 'nothing is wider than the screen');
}
