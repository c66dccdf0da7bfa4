/** The page for everybody: any screen, keyboard, reader of the screen, language and name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContextOptions, Request } from 'playwright-core';
import { launchOf } from '../e2e/devnet/world.ts';
import { newTestApp } from '../support/app.ts';
import { secretOf } from '../support/ledgerWorld.ts';
import { TcpProxy } from '../support/tcpProxy.ts';
import { untilAsked } from '../support/until.ts';
import { openBrowser, Visit, visit, WAIT_MS } from './support.ts';
import { ordersAre, TradeWorld } from './tradeWorld.ts';
import {
  axeFindings,
  BOARD,
  chooseView,
  crowdedRow,
  hide,
  look,
  placesSeen,
  speakMarked,
  tabTo,
  tooWide,
  tooWideWithLongNames,
  unmarked,
  viewsOf,
  WATCH_PLACES,
} from './views.ts';

const ADA = 1_000_000n;
/** Where this server says that transactions are. */
const EXPLORER = 'https://explorer.example/tx/';
/** Reads from right to left, with digits that do not, and what would be an element in HTML. */
const NAME = 'שלום 42 <b>';

const TRADE = {
  ...{ id: '1', timeMs: 1_767_614_400_000, base: `${'03'.repeat(28)}.4c696e6b`, quote: '.' },
  ...{ baseDecimals: 0, quoteDecimals: 6, baseAmount: '1000', quoteAmount: '2500' },
};

test('every view is for everybody', async (t) => {
  const started = TradeWorld.start(t, { EXPLORER_URL: EXPLORER });
  const [browser, world] = await Promise.all([openBrowser(t), started]);
  const alice = await world.funded('alice', 10_000);
  const request = launchOf({ name: NAME, ticker: 'SHALOM', initialLovelace: 50n * ADA });
  const { asset: assetId } = await alice.launch(request);
  const pool = () => world.get(`/v1/pools-feed/initial/state?asset=${assetId}`);
  await untilAsked('it is launched', pool, (answer) => answer !== null, WAIT_MS);
  const buy = { assetId, side: 'BUY', amount: 30n * ADA, slippage: '15' } as const;
  await world.filled(alice, buy);

  /** Opens the page in German, with the wallet that has traded. */
  const german = async (options: BrowserContextOptions = {}): Promise<Visit> => {
    const seen = await visit(browser, world.url, { locale: 'de-DE', ...options });
    const key = ['upcurve.devnet-test-wallet.secret-key', secretOf('alice')];
    await seen.page.addInitScript(`localStorage.setItem(...${JSON.stringify(key)})`);
    return seen;
  };

  await t.test('axe finds nothing, and nothing is wider than the screen', async () => {
    const seen = await german();
    const found: string[] = [];
    for (const view of viewsOf(assetId)) {
      await look(seen, view);
      const faults = [...(await axeFindings(seen)), ...(await tooWide(seen))];
      found.push(...faults.map((fault) => `${view.hash} ${fault}`));
    }
    await seen.page.setViewportSize({ width: 390, height: 844 });
    await look(seen, { hash: `#/token/${assetId}`, shown: '.phone-bar .sell' });
    await seen.page.locator('.direction label[data-value=sell]').click();
    found.push(...(await axeFindings(seen)).map((fault) => `sell on a phone ${fault}`));
    await seen.page.setViewportSize({ width: 1280, height: 800 });
    await chooseView(seen, 'board');
    await look(seen, BOARD);
    const faults = [...(await axeFindings(seen)), ...(await tooWide(seen))];
    found.push(...faults.map((fault) => `board ${fault}`));
    await chooseView(seen, 'table');
    assert.deepEqual(found, []);
    assert.equal(await tooWideWithLongNames(seen), '');
    assert.equal(await seen.page.evaluate('document.documentElement.lang'), 'de');
    assert.match(await seen.text('td.col-price'), /\d,\d/, 'numbers are German');
    assert.deepEqual(await crowdedRow(seen), []);
    seen.assertClean();
    await seen.page.context().close();
  });

  await t.test('nothing moves when the best tokens and the status of the node come', async () => {
    for (const width of [390, 1280, 1920]) {
      const seen = await visit(browser, world.url, { viewport: { width, height: 900 } });
      await seen.page.addInitScript(WATCH_PLACES);
      await seen.open();
      await seen.page.locator('.best-top .figure').waitFor();
      await seen.page.locator('.status .tip-fact').waitFor();
      assert.deepEqual(await placesSeen(seen), { market: 1, language: 1 }, `${width} pixels`);
      await seen.page.context().close();
    }
  });

  await t.test('no text is outside of the messages, and the page can be mirrored', async () => {
    const seen = await german();
    await speakMarked(seen.page);
    const found: string[] = [];
    for (const view of viewsOf(assetId)) {
      await look(seen, view);
      const faults = [...(await unmarked(seen, ['SHALOM', NAME])), ...(await tooWide(seen))];
      found.push(...faults.map((fault) => `${view.hash} ${fault}`));
      assert.equal(await seen.page.evaluate('document.documentElement.dir'), 'rtl');
    }
    await chooseView(seen, 'board');
    await look(seen, BOARD);
    found.push(...(await unmarked(seen, ['SHALOM', NAME])), ...(await tooWide(seen)));
    assert.deepEqual(found, []);
    seen.assertClean();
    await seen.page.context().close();
  });

  await t.test('from no wallet to a filled order by keyboard alone', async () => {
    const seen = await visit(browser, world.url, { reducedMotion: 'reduce' });
    await seen.open();
    await seen.live();
    assert.equal(await seen.page.locator('.unit-switch').count(), 0, 'there is no rate');
    const { keyboard } = seen.page;
    await tabTo(seen, 'a[href="#/wallet"]');
    await keyboard.press('Enter');
    await tabTo(seen, '.connect-way .button.primary');
    await keyboard.press('Enter');
    await seen.page.locator('.connection .wallet-stack').first().waitFor();
    await tabTo(seen, '.connection .wallet-stack .button');
    await keyboard.press('Enter');
    await seen.page.locator('.balance').getByText('10,000 ADA', { exact: true }).waitFor();
    await keyboard.press('/');
    await keyboard.type('shalom');
    await seen.page.locator('#search-found [aria-selected="true"]').waitFor();
    await keyboard.press('Enter');
    await seen.page.locator('.token-columns:not(.coming)').waitFor();
    await tabTo(seen, '.trade-form input.amount');
    await keyboard.type('20');
    await seen.page.locator('.quote[data-state=quote]').waitFor();
    await tabTo(seen, '.trade-form button[type=submit]');
    await keyboard.press('Enter');
    await seen.page.locator('dialog').waitFor();
    await tabTo(seen, 'dialog button[type=submit]');
    await keyboard.press('Enter');
    await ordersAre(seen, 'Filled', /20 ADA → [\d,]+ SHALOM/);
    const moving = 'document.getAnimations().filter((each) => each.playState === "running").length';
    assert.equal(await seen.page.evaluate(moving), 0, 'nothing moves for who wants it so');
    seen.assertClean();
  });

  await t.test('trades and orders lead to their transactions, by keyboard too', async () => {
    const seen = await german();
    const { page } = seen;
    await look(seen, { hash: `#/token/${assetId}`, shown: '.tape .tx-link' });
    const [trade] = (await world.client.trades.list({ asset: assetId })).data;
    const { items } = (await world.client.orders.feed({ asset: assetId })).data.ledger;
    const [order] = items;
    const links = (list: string) => page.locator(`${list} a.tx-link`).first();
    assert.equal(await links('.tape').getAttribute('href'), `${EXPLORER}${trade?.txHash}`);
    const own = await page.locator('.own-orders > li').first().getAttribute('data-key');
    const placed = `${EXPLORER}${own?.split(':')[0]}`;
    assert.equal(await links('.own-orders').getAttribute('href'), placed);
    for (const list of ['.tape', '.own-orders']) {
      assert.match(String(await links(list).getAttribute('rel')), /noopener/);
      assert.equal(await links(list).getAttribute('target'), '_blank');
    }
    await page.locator('.tape').focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    const isFocused = await page
      .locator('.tape > li:nth-child(2) .tx-link')
      .evaluate((link) => link.matches(':focus'));
    assert.equal(isFocused, true);
    await page.getByRole('tab').first().focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(
      await links('.feed').getAttribute('href'),
      `${EXPLORER}${order?.evaluatedTransactionId}`,
    );
    await page.context().close();
  });

  await t.test(
    'views that were seen stay while the server is away, with their age',
    async (inner) => {
      const address = await TcpProxy.start(inner, Number(new URL(world.url).port));
      const seen = await german();
      const behind = new Visit(seen.page, address.url);
      const views = viewsOf(assetId).filter(({ shown }) => shown !== '.launch-form');
      const open = new Set<Request>();
      seen.page.on('request', (request) => void open.add(request));
      seen.page.on('requestfinished', (request) => void open.delete(request));
      seen.page.on('requestfailed', (request) => void open.delete(request));
      for (const view of views) await look(behind, view);
      await hide(seen.page, true);
      const frames =
        'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
      const unanswered = () => seen.page.evaluate(frames).then(() => open.size);
      await seen.asked('what it asked for before has come', unanswered, (count) => count === 0);
      const asked: string[] = [];
      const note = (request: Request) => asked.push(request.url());
      seen.page.on('request', note);
      await world.filled(alice, buy);
      await world.filled(alice, buy);
      assert.deepEqual(asked, [], 'a tab that is not looked at asks for nothing');
      seen.page.off('request', note);
      await hide(seen.page, false);

      address.isClosed = true;
      address.cut();
      await seen.page.locator('.outage').waitFor();
      for (const { hash, shown } of views) {
        await seen.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
        await seen.page.locator(shown).first().waitFor();
        await seen.page.getByText(/Was du siehst, galt vor \d+/).waitFor();
      }
      await seen.page.evaluate(`location.hash = '#/token/${assetId}'`);
      await seen.page.locator('.legend b').first().waitFor();
      await seen.page.locator('.flags > li').first().waitFor();
      address.isClosed = false;
      await behind.live();
      await seen.page.locator('.outage').waitFor({ state: 'detached' });
      await seen.page.context().close();
    },
  );

  await t.test('a server that falls silent is never called live', async (inner) => {
    const address = await TcpProxy.start(inner, Number(new URL(world.url).port));
    const seen = await visit(browser, address.url);
    const { page } = seen;
    await page.clock.install();
    await seen.open();
    await seen.live();
    const status = page.locator('.status');
    const freshness = () => status.getAttribute('data-freshness');
    await seen.asked('it is fresh', freshness, (word) => word === 'fresh');
    address.hold();
    // Its time stands still between these steps, however slow the machine is.
    await page.clock.pauseAt(2_000 + Number(await page.evaluate('Date.now()')));
    await page.clock.runFor(2_000);
    await seen.asked('it is late', freshness, (word) => word === 'late');
    await page.getByText(/^No message for \d+ s$/).waitFor();
    const tipSeconds = async () => Number(/tip ([\d.]+) s/.exec(await seen.text('.status'))?.[1]);
    assert((await tipSeconds()) >= 4, 'the age of the tip counts on');
    assert.equal(await page.locator('.outage').count(), 0);
    await page.clock.runFor(7_000);
    await seen.asked('it is old', freshness, (word) => word === 'old');
    await page.locator('.outage').waitFor();
    const isRed = await page.evaluate(`(() => {
      const dot = document.querySelector('.status .dot');
      const shown = getComputedStyle(dot).backgroundColor;
      dot.style.background = 'var(--down)';
      const red = getComputedStyle(dot).backgroundColor;
      dot.style.background = '';
      return shown === red;
    })()`);
    assert.equal(isRed, true, 'the dot is red');
    await page.clock.resume();
    address.release();
    await seen.live();
    await page.locator('.outage').waitFor({ state: 'detached' });
    await page.context().close();
  });

  await t.test('a view whose script is out of reach says so, and can be had again', async () => {
    const seen = await visit(browser, world.url);
    const { page } = seen;
    const views = /\/assets\/views-\w+\.js$/;
    await page.route(views, (route) => route.abort());
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
    await seen.open();
    await seen.live();
    await page.locator('.pools a').first().waitFor();
    assert.deepEqual(
      asked.filter((path) => views.test(path)),
      [],
      'who only looks loads none of it',
    );
    await page.evaluate(`location.hash = '#/wallet'`);
    await page.getByText('This part of the page could not be loaded.').waitFor();
    await page.unroute(views);
    await page.getByRole('button', { name: 'Load the page again' }).click();
    await page.locator('.connect-way').first().waitFor();
    await page.context().close();
  });

  await t.test('prices are in dollars where the server has a rate, if one wants', async (inner) => {
    const app = await newTestApp(inner, { env: { ADA_USD: '0.45' } });
    await app.feed(`${JSON.stringify(TRADE)}\n`);
    const seen = await visit(browser, app.url);
    await seen.open();
    const price = seen.page.locator('td.col-price');
    await price.getByText('0.0₅2500', { exact: true }).waitFor();
    await seen.page.getByRole('button', { name: /US dollars: 1 ADA is \$0\.45/ }).click();
    await price.getByText('$0.0₅1125', { exact: true }).waitFor();
    await seen.open(`#/token/${TRADE.base}`);
    await seen.page.reload();
    await seen.page.locator('.legend').getByText('$0.0₅1125').first().waitFor();
    await seen.page.getByRole('button', { name: 'Show prices in ADA' }).click();
    await seen.page.locator('.legend').getByText('0.0₅25').first().waitFor();
    seen.assertClean();
    await seen.page.context().close();
  });
});
