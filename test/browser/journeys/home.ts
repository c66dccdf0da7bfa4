/** The market as a whole: lists, search, watchlist, what strangers write, wrong links. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Visit } from '../support.ts';
import type { Journey, Scene } from './journey.ts';
import { seedMarket } from './seed.ts';

const BASE = 'Badges: shares of the supply outside the pool.';

function namesOn({ page }: Visit): () => Promise<string[]> {
  return () => page.locator('.pools .name').allTextContents();
}

const empty: Journey = {
  name: 'empty-market',
  done: 'opens a market in which nothing was ever launched',
  seen: 'it says how to begin; what is launched and bought meanwhile appears without a reload',
  async run(scene) {
    const { market, kept } = scene;
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open();
    await seen.live();
    await seen.asked(
      'an empty market says how to begin',
      () => seen.text('.empty'),
      (text) => text.includes('Launch a token'),
    );
    await scene.picture(seen);
    await page.evaluate('globalThis.mark = true');
    kept.seeded = await seedMarket(market);
    const [main = ''] = kept.seeded.assets;
    const names = namesOn(seen);
    await seen.asked(
      'all are listed',
      names,
      (found) => found.length === kept.seeded?.assets.length,
    );
    await seen.asked('the one traded most leads', names, ([top]) => top === 'Cosmic Otter');
    await seen.asked(
      'its traders are counted',
      () => seen.text(`[data-key="${main}"] .col-traders24h`),
      (text) => text === '4',
    );
    await seen.asked(
      'it is the top of the market',
      () => seen.text('.best-top strong'),
      (text) => text === 'Cosmic Otter',
    );
    assert.equal(await page.evaluate('globalThis.mark'), true, 'the page was never reloaded');
    market.begin();
  },
};

const home: Journey = {
  name: 'home',
  done: 'opens the market, and looks on while somebody else buys',
  seen: 'the newest trades at once, then this one; its token’s volume moves',
  async run(scene) {
    const { market, seeded, main } = scene;
    await loadsLittle(scene);
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open();
    await seen.live();
    const tape = page.locator('.ticker-tape li');
    await tape.nth(5).waitFor();
    const volume = () => seen.text(`[data-key="${main}"] .col-volume24h`);
    await seen.asked('its volume', volume, (text) => text !== '');
    const best = () =>
      page.locator('.best-card').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    await seen.asked('each card has a token', best, (found) => {
      return found.length === 3 && !found.includes(null) && new Set(found).size === 3;
    });
    const before = await volume();
    await market.bought(seeded.carol, main, 321);
    await seen.asked('the volume moves', volume, (text) => text !== before);
    // Less the fee that comes off first.
    await seen.asked(
      'its trade comes first',
      () => tape.first().innerText(),
      (text) => /OTTER\s+▲ 3[12]\d/.test(text),
    );
    await scene.picture(seen);
  },
};

/** On a low screen: what is not seen is not asked for before the reader moves. */
async function loadsLittle(scene: Scene): Promise<void> {
  const seen = await scene.visit({ viewport: { width: 1280, height: 540 } });
  const { page } = seen;
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await seen.open();
  await seen.live();
  await seen.asked('logos that are seen', () => logosIn(page, true), allOf);
  const others = asked.filter((path) => !path.startsWith('/ipfs/'));
  assert.equal(others.length, 3, `a document, a script, a stylesheet: ${others.join(' ')}`);
  assert.deepEqual((await logosIn(page, false)).filter(Boolean), [], 'no others');
  await page.mouse.move(9, 9);
  await seen.asked('logos below', () => logosIn(page, false), allOf);
}

/** Takes the rows whose logo is in view, or the others; tells of each if it shows a picture. */
function logosIn(page: Page, isInView: boolean): Promise<boolean[]> {
  return page.evaluate(`[...document.querySelectorAll('.pools .logo')]
    .filter((logo) => (logo.getBoundingClientRect().top < innerHeight - 30) === ${isInView})
    .map((logo) => logo.querySelector('img') !== null)`);
}

const allOf = (shown: readonly boolean[]) => shown.length > 0 && shown.every(Boolean);

/** Within the open menu: what authors hold, as badges of the rows and as a bound. */
async function filtersShares({ market }: Scene, seen: Visit): Promise<void> {
  const { page } = seen;
  const all = (await market.client.tickers.list()).data.items;
  const large = all.find(({ authorPercent }) => Number(authorPercent) > 10);
  assert(large !== undefined, 'an author who holds much');
  const badge = `Author ${large.authorPercent?.split('.')[0]}%`;
  const badges = () => seen.text(`[data-key="${large.asset}"] .badges`);
  await seen.asked('a badge says so', badges, (text) => text.startsWith(badge));
  assert.equal(await page.locator('.filters .base').innerText(), BASE);
  const bound = page.getByLabel('Max. author, %');
  await bound.fill('10.001');
  assert.equal(await bound.inputValue(), '', 'no percent of more than two decimals');
  await bound.fill('10.00');
  const rows = () => page.locator('.pools > tr').evaluateAll((found) => found.length);
  const { count } = (await market.client.tickers.list({ maxAuthorPercent: 10 })).data;
  await seen.asked('only tokens of which the author has less', rows, (found) => found === count);
  assert.equal(await page.locator(`[data-key="${large.asset}"]`).count(), 0);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await seen.asked('all once more', rows, (found) => found === all.length);
}

const sorted: Journey = {
  name: 'sort-and-filter',
  done: 'sorts by age, filters by volume, leaves out columns, walks the list with arrows',
  seen: 'the order that was asked for, only what is within the bounds, and no row that jumps away',
  async run(scene) {
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open('#/list/new');
    const names = namesOn(seen);
    await seen.asked('the newest first, by its link', names, ([top]) => top === 'Tiny Hippo');
    await page.getByRole('button', { name: 'Age' }).click();
    await seen.asked('the oldest first', names, ([top]) => top === 'Cosmic Otter');
    assert.equal(await page.locator('th.col-createdOn').getAttribute('aria-sort'), 'ascending');
    await page.getByRole('button', { name: 'Volume' }).click();
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Min. 24h volume, ADA').fill('2000');
    await seen.asked('only what was traded more', names, (found) => found.length === 1);
    await page.getByText('1 of 1 token').waitFor();
    await scene.picture(seen);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await seen.asked('all again', names, (found) => found.length > 5);
    await filtersShares(scene, seen);
    await page.keyboard.press('Escape');
    const headings = () => page.locator('.tickers thead th').allInnerTexts();
    await page.getByText('Columns', { exact: true }).click();
    for (const name of ['5m', 'Liquidity', '24 hours']) {
      await page.getByRole('checkbox', { name, exact: true }).uncheck();
    }
    assert.equal((await headings()).length, 10, 'three columns less');
    await page.getByRole('checkbox', { name: 'Holders', exact: true }).check();
    const [holders] = (await scene.market.client.tickers.list({ limit: 1 })).data.items;
    const held = () => seen.text(`[data-key="${holders?.asset}"] .col-holders`);
    await seen.asked('a column of holders', held, (text) => text === String(holders?.holders));
    await page.getByRole('checkbox', { name: 'Holders', exact: true }).uncheck();
    await page.reload();
    await seen.asked('which are kept', headings, ({ length }) => length === 10);
    assert.equal(await page.locator('.pools > tr').first().locator('> *').count(), 10);
    await page.locator('.table-box').hover();
    await page.getByText('order is paused under the pointer').waitFor();
    const shown = await names();
    await page.locator('.pools a').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await seen.asked(
      'arrow keys walk the list',
      () => seen.text('h1'),
      (text) => text === shown[1],
    );
  },
};

const board: Journey = {
  name: 'three-columns',
  done: 'looks at the market in three columns while somebody launches, then goes to a list',
  seen: 'new, about to graduate and graduated as cards; the new one moves in; the list as a table',
  async run(scene) {
    const { market } = scene;
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open();
    await page.locator('.lists label[title="In three columns"]').click();
    const columns = page.locator('.board-column');
    await columns.nth(2).waitFor();
    const isNew = page.locator('section[aria-label="New"] .card .name');
    const before = await isNew.first().textContent();
    const nora = await market.funded('nora', 1);
    await market.launch(nora, { name: 'Late Lynx', ticker: 'LYNX', initialAda: 20 });
    await seen.asked(
      'it is the first of the new',
      () => isNew.first().textContent(),
      (name) => name === 'Late Lynx' && name !== before,
    );
    const ring = page.locator('.card .ring').first();
    assert.match((await ring.getAttribute('title')) ?? '', /^Bonded: \d/);
    await scene.picture(seen);
    await page.reload();
    await columns.first().waitFor();
    await columns.getByRole('link', { name: 'About to graduate' }).click();
    await page.locator('.tickers').waitFor();
    assert.equal(new URL(page.url()).hash, '#/list/graduating');
  },
};

const search: Journey = {
  name: 'search',
  done: 'presses /, types a part of a name, presses Enter',
  seen: 'the tokens that fit with their market caps, then the one it chose, without a reload',
  async run(scene) {
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open();
    await seen.live();
    await page.evaluate('globalThis.mark = true');
    await page.keyboard.press('/');
    const options = page.locator('#search-found [role="option"]');
    await page.keyboard.type('turb');
    await options.getByText('Turbo Toad').waitFor();
    await scene.picture(seen);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('t');
    await options.nth(1).waitFor();
    // Enter is pressed while the list of the one letter is still shown; it means the four.
    await page.keyboard.type('urb');
    await page.keyboard.press('Enter');
    await seen.asked(
      'the token is shown',
      () => seen.text('h1'),
      (text) => text === 'Turbo Toad',
    );
    assert.equal(new URL(page.url()).hash, `#/token/${scene.seeded.assets[2]}`);
    assert.equal(await page.evaluate('globalThis.mark'), true, 'the page was never reloaded');
  },
};

const watchlist: Journey = {
  name: 'watchlist',
  done: 'stars two tokens, one in the list and one on its page, and comes back later',
  seen: 'both in the watchlist, the newest star first, also after a reload',
  async run(scene) {
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open('#/list/watchlist');
    await page.getByText('Your watchlist is empty.').waitFor();
    await seen.open('#/list/trending');
    await page.getByRole('button', { name: 'Watch Golden Yak' }).click();
    await seen.open(`#/token/${scene.main}`);
    await page.getByRole('button', { name: 'Watch Cosmic Otter' }).click();
    await seen.open('#/list/watchlist');
    await page.reload();
    await seen.asked(
      'both are there',
      namesOn(seen),
      (found) => found.join() === 'Cosmic Otter,Golden Yak',
    );
    await scene.picture(seen);
    await page.getByRole('button', { name: 'Watch Golden Yak' }).click();
    await seen.asked('one is left', namesOn(seen), (found) => found.join() === 'Cosmic Otter');
  },
};

const link: Journey = {
  name: 'shared-link',
  done: 'opens a link to a token that somebody sent, and copies it for the next person',
  seen: 'the token with its chart; title, description and picture are in the document for chats',
  async run(scene) {
    const { market, main } = scene;
    const context = { permissions: ['clipboard-read', 'clipboard-write'] };
    const seen = await scene.visit(context);
    const { page } = seen;
    const document = await (await fetch(`${market.url}/t/${main}`)).text();
    assert.match(document, /<meta property="og:title" content="Cosmic Otter/);
    assert.match(document, /<meta property="og:description" content="[^"]*₳|ADA/);
    await seen.open(`t/${main.toUpperCase()}`);
    await page.locator('.canvas canvas').first().waitFor();
    assert.equal(new URL(page.url()).pathname, '/');
    assert.equal(new URL(page.url()).hash, `#/token/${main}`);
    await seen.asked(
      'it is the token',
      () => page.title(),
      (title) => title === 'Cosmic Otter · upcurve',
    );
    await page.getByRole('button', { name: 'Copy a link to this token' }).click();
    await page.getByText('Link copied.').waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    assert.equal(copied, `${market.url}/t/${main}`);
    await scene.picture(seen);
  },
};

const bad: Journey = {
  name: 'bad-token',
  done: 'opens links with nonsense, with a script, and to a token that does not exist',
  seen: '“No such token”, the nonsense as text, and a way back to the market',
  async run(scene) {
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open('#/token/<script>globalThis.harmed=1</script>');
    await page.getByText('No such token').waitFor();
    await seen.open(`#/token/${'ab'.repeat(28)}.`);
    await seen.asked(
      'an unknown token is said to be one',
      () => seen.text('.empty'),
      (text) => text.includes('not known here'),
    );
    assert.equal(await page.evaluate('globalThis.harmed'), undefined);
    seen.assertClean();
    await seen.open('t/%3Cb%3Enonsense');
    await page.getByText('No such token').waitFor();
    await page.getByText('<b>nonsense').waitFor();
    assert.equal(await page.title(), 'No such token · upcurve');
    await scene.picture(seen);
    await page.getByRole('link', { name: 'To the market' }).click();
    await page.waitForFunction(`document.title.startsWith('Markets')`);
    await seen.open('no/such/page');
    await page.getByText('No such page').waitFor();
    await page.locator('.search-input').waitFor();
    await page.getByRole('link', { name: 'To the market' }).click();
    await page.locator('.pools a').first().waitFor();
    // The browser notes that the document of a wrong link is a 404.
    const notFound = seen.errors.splice(0);
    assert(
      notFound.every((error) => error.includes('404')),
      notFound.join(),
    );
  },
};

const strangers: Journey = {
  name: 'strangers-text',
  done: 'opens a token whose name, description and link carry scripts and HTML',
  seen: 'all of it as the text that it is; nothing runs',
  async run(scene) {
    const { market } = scene;
    const script = '<img src=x onerror="globalThis.harmed=1"><script>globalThis.harmed=1</script>';
    const name = '<b onclick=a>x';
    const mallory = await market.funded('mallory', 1);
    const asset = await market.launch(mallory, {
      ...{ name, ticker: 'HARM', description: `${script} javascript:alert(1)`, initialAda: 20 },
      website: 'https://example.org/"onmouseover="globalThis.harmed=1',
    });
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open('#/list/new');
    await seen.asked('the list has the name as it is', namesOn(seen), ([top]) => top === name);
    await seen.open(`#/token/${asset}`);
    await page.getByRole('tab', { name: 'About' }).click();
    await seen.asked(
      'so has its own page',
      () => seen.text('.description'),
      (text) => text.startsWith(script),
    );
    assert.equal(await page.title(), `${name} · upcurve`);
    const site = page.locator('.socials a').first();
    assert.match((await site.getAttribute('href')) ?? '', /^https:\/\/example\.org\/%22/);
    assert.match((await site.getAttribute('rel')) ?? '', /noopener/);
    await page.keyboard.press('/');
    await page.keyboard.type('harm');
    await page.locator('#search-found [role="option"]').waitFor();
    const foreign = '[onclick], [onerror], [onmouseover], main script, .search script';
    assert.equal(await page.locator(foreign).count(), 0);
    assert.equal(await page.evaluate('globalThis.harmed'), undefined);
    await scene.picture(seen);
  },
};

export const HOME_JOURNEYS = [empty, home, sorted, board, search, watchlist, link, bad, strangers];
