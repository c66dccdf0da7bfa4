/** From the launch of a token to its graduation, signed in the page. */
import assert from 'node:assert/strict';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { balanceOf, utxosOf } from '../../../src/client/trade/utxo.ts';
import { drawnOn } from '../support.ts';
import { ordersAre } from '../tradeWorld.ts';
import { drawn, type Journey } from './journey.ts';
import { launch } from './launch.ts';
import { openTab } from './lists.ts';
import { ADA } from './market.ts';
import { costsIn, review, sign } from './signing.ts';

/** Pixels above the status line. */
const SCREEN = 770;

const buySell: Journey = {
  name: 'buy-fill-sell',
  done: 'buys, looks at what is signed, goes back and forth, signs; then sells half',
  seen: 'Placing, Filling, Filled, block by block, in both lists; the bar moves with the fill',
  async run(scene) {
    const { market } = scene;
    const { session, asset } = scene.own;
    const { page } = session;
    await session.open('#/wallet');
    const own = parseAddress(await page.locator('.wallet-address code').innerText());
    assert(own !== null);
    await session.open(`#/token/${asset}`);
    const amount = page.getByLabel('You spend');
    const formIsNew = () =>
      session.asked(
        'another form, which is empty',
        () => amount.inputValue(),
        (text) => text === '',
      );
    const button = page.getByRole('button', { name: 'Review buy' });
    const place = await button.boundingBox();
    assert(place !== null && place.y + place.height < SCREEN, 'the whole form is on the screen');
    await amount.fill('120.5');
    await page.locator('.quote[data-state=quote]').waitFor();
    await page.locator('.quote-details').waitFor();
    assert.deepEqual(await button.boundingBox(), place, 'nothing moves when the quote comes');
    await amount.press('Enter');
    await page.getByRole('button', { name: 'Sign and buy' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    const isFocused = await amount.evaluate((node) => node.matches(':focus'));
    assert(isFocused, 'the keyboard is where it was');
    await review(session, 'buy');
    const said = await page.locator('dialog').innerText();
    assert.match(said, /123\.1 ADA goes to the order/, 'what is signed is read from the bytes');
    await page.goBack();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.goForward();
    await formIsNew();
    await amount.fill('121');
    await page.locator('.quote[data-state=quote]').waitFor();
    await page.getByRole('button', { name: 'Review buy' }).click();
    await page.goBack();
    // Back and forth within one frame is no change of the page: it keeps its form.
    await amount.waitFor({ state: 'detached' });
    await page.goForward();
    await formIsNew();
    await amount.fill('120.5');
    const own120 = page.locator('.own-orders > li').filter({ hasText: '120.5 ADA' });
    const id = () => own120.getAttribute('data-key');
    const becomes = async (state: string) => {
      await own120.locator('.chip').getByText(state, { exact: true }).waitFor();
      await openTab(session, 'Orders');
      await page
        .locator(`.feed > [data-key="${await id()}"]`)
        .getByText(state)
        .waitFor();
    };
    await market.hold(async () => {
      const before = await drawn(session, market, asset);
      const balance = () => page.getByText(/^[\d.,]+\s₳ · [\d.]+[kM]? WALK$/).innerText();
      const had = await balance();
      const held = async () => balanceOf(await utxosOf(market.client, own.payment.hash)).lovelace;
      const heldBefore = await held();
      await review(session, 'buy');
      const [total, lent] = await costsIn(session);
      assert(lent > ADA, 'a deposit');
      await sign(session, 'buy');
      await becomes('Placing');
      await session.asked('its coins are on their way', balance, (now) => now !== had);
      assert.equal(await page.getByRole('button', { name: /^Get 10,000/ }).isVisible(), false);
      const ref = await id();
      assert.deepEqual(await drawn(session, market, asset), before, 'nothing has happened yet');
      await market.mine();
      assert.equal(heldBefore - (await held()), total, 'the review said what the wallet pays');
      await becomes('Filling');
      await session.asked(
        'it is filled',
        async () => {
          await market.mine();
          return own120.getByText('Filled', { exact: true }).count();
        },
        (count) => count === 1,
      );
      await becomes('Filled');
      assert.equal(heldBefore - (await held()), total - lent, 'and what of it comes back');
      assert.equal(await id(), ref, 'it is the same order');
      const after = await drawn(session, market, asset);
      const count = (bars: typeof after) => bars.reduce((sum, { trades }) => sum + trades, 0);
      assert.equal(count(after), count(before) + 1, 'its trade is in a bar');
      assert.notEqual(after.at(-1)?.close, before.at(-1)?.close);
    });
    await ordersAre(session, 'Filled', /120\.5 ADA → [\d,]+ WALK/);
    await page.locator('.direction label[data-value=sell]').click();
    await page.getByRole('button', { name: '50 %', exact: true }).click();
    await review(session, 'sell');
    await sign(session, 'sell');
    await ordersAre(session, 'Filled', /WALK → [\d.,]+ ADA/);
    await drawn(session, market, asset);
    await page.locator('.direction label[data-value=buy]').click();
    await scene.picture(session);
  },
};

const terms: Journey = {
  name: 'slippage-and-minimum',
  done: 'buys a number of tokens, chooses a custom slippage, asks for what cannot be',
  seen: 'the least that an order takes, in a plain sentence; refusals in words, amounts in ADA',
  async run(scene) {
    const { session, asset } = scene.own;
    const { page } = session;
    await session.open(`#/token/${asset}`);
    await page.getByText('Get tokens', { exact: true }).click();
    await page.getByLabel('You get', { exact: true }).fill('1 000 000');
    await review(session, 'buy');
    await sign(session, 'buy');
    await ordersAre(session, 'Filled', /→ 1,000,000 WALK/);
    await page.getByText('Spend ADA', { exact: true }).click();
    await page.getByText('Custom', { exact: true }).click();
    await page.getByLabel('Custom slippage').fill('7.5');
    await page.getByText('Fills for at least 92.50 % of the quote.').waitFor();
    await page.getByLabel('You spend').fill('0.5');
    await page.getByText('The coin side of a trade is at least 1 ADA').waitFor();
    await page.getByLabel('You spend').fill('15000');
    await page.locator('.quote[data-state=quote]').waitFor();
    await scene.picture(session);
    await page.getByRole('button', { name: 'Review buy' }).click();
    const failure = page.locator('.trade-failure');
    await failure.getByRole('alert').waitFor();
    assert.match(await failure.innerText(), /wallet/i);
    assert.doesNotMatch(await failure.innerText(), /UNKNOWN|lovelace/);
    await page.getByLabel('You spend').fill('1,5');
    await page.getByText(/without commas/).waitFor();
    // The browser notes each refusal by its status.
    const refusals = session.errors.splice(0);
    assert(refusals.every((error) => error.includes('the server responded with a status')));
  },
};

const oneClick: Journey = {
  name: 'one-click',
  done: 'sets a custom size, switches on buying with one click, clicks',
  seen: 'an order at once with the least output that was on the screen; one notice up to its fill',
  async run(scene) {
    const { session, asset } = scene.own;
    const { page } = session;
    await session.open(`#/token/${asset}`);
    await page.getByText('Presets and one-click buy').click();
    await page.getByLabel('Preset 2').fill('60');
    assert.equal(await page.getByRole('button', { name: /at once$/ }).count(), 0, 'it is off');
    await page.getByLabel('One-click buy').check();
    const sent = page.waitForRequest((request) => request.url().endsWith('/order'));
    await page.getByRole('button', { name: 'Buy for 60 ADA at once' }).click();
    const body: unknown = (await sent).postDataJSON();
    const { minOutput, amount } = Object(body);
    assert.equal(amount, String(60n * ADA));
    assert.match(String(minOutput), /^[1-9]\d+$/, 'the least output is named');
    await ordersAre(session, 'Filled', /60 ADA → [\d,]+ WALK/);
    await page.getByText(/Buy of WALK: filled\. 60 ADA/).waitFor();
    await scene.picture(session);
  },
};

const filters: Journey = {
  name: 'filter-trades',
  done: 'filters the trades by size, by its own, by side, and by the wallet of another',
  seen: 'only the trades that fit, from the whole history; what that wallet paid and has made',
  async run(scene) {
    const { market, seeded, own } = scene;
    const { session, asset } = own;
    const { page } = session;
    await market.bought(seeded.carol, asset, 200);
    await openTab(session, 'Trades');
    const panel = page.getByRole('region', { name: 'Trades' });
    const rows = panel.locator('.tape > li');
    await panel.getByLabel('Trades: size').selectOption('100000000');
    await session.asked(
      'the two large ones',
      () => rows.count(),
      (count) => count === 2,
    );
    await panel.getByLabel('Trades: size').selectOption('0');
    await panel.getByLabel('Mine').check();
    await session.asked(
      'its own five',
      () => rows.count(),
      (count) => count === 5,
    );
    await panel.getByText('Sells', { exact: true }).click();
    await session.asked(
      'its one sell',
      () => rows.count(),
      (count) => count === 1,
    );
    await panel.getByText('All', { exact: true }).click();
    await panel.getByLabel('Mine').uncheck();
    await session.asked(
      'all six',
      () => rows.count(),
      (count) => count === 6,
    );
    await rows
      .first()
      .getByRole('button', { name: /^Only trades of wallet/ })
      .click();
    await session.asked(
      'the one of the other wallet',
      () => rows.count(),
      (count) => count === 1,
    );
    const maker = panel.locator('.maker-line');
    await session.asked(
      'what it paid, with fees, and what it made of it',
      () => maker.innerText(),
      (text) => /paid\s(19\d|20\d)[\s\S]*gain\s[+−]?[\d.,]+\s₳\s\([+−]?[\d.]+ %\)/.test(text),
    );
    await panel.scrollIntoViewIfNeeded();
    await scene.picture(session);
    await panel.getByRole('button', { name: 'Trades of all wallets' }).click();
    await maker.waitFor({ state: 'detached' });
  },
};

const cancel: Journey = {
  name: 'cancel',
  done: 'signs an order while the price runs away, and cancels it',
  seen: 'the order is open with its price, then Cancelled; its coins are back',
  async run(scene) {
    const { market, seeded, own } = scene;
    const { session, asset } = own;
    const { page } = session;
    await session.open(`#/token/${asset}`);
    await page.getByText('5 %', { exact: true }).click();
    await page.getByRole('button', { name: '60 ₳', exact: true }).click();
    await page.locator('.quote[data-state=quote]').waitFor();
    const gets = () => page.locator('.quote .received').first().innerText();
    const before = await gets();
    await market.bought(seeded.carol, asset, 200);
    await session.asked('the quote follows the pool', gets, (now) => now !== before);
    await review(session, 'buy');
    // The price runs away between the last look and the signature.
    await market.bought(seeded.carol, asset, 3000);
    await sign(session, 'buy');
    const mine = /60 ADA → at least/;
    await ordersAre(session, 'Open', mine);
    await scene.picture(session);
    await page.getByRole('button', { name: /^Cancel: Buy/ }).click();
    await page.getByRole('button', { name: 'Sign and cancel the order' }).click();
    await ordersAre(session, 'Cancelled', /60 ADA/);
  },
};

const limit: Journey = {
  name: 'limit',
  done: 'orders at a quarter below the price; another wallet sells until the price is there',
  seen: 'what it means in plain words; open among the orders by price, then filled at that price',
  async run(scene) {
    const { market, seeded, own } = scene;
    const { session, asset } = own;
    const { page } = session;
    // A large buy raises the price, so that there is a fall to wait for.
    await market.bought(seeded.carol, asset, 2500);
    await session.open(`#/token/${asset}`);
    await page.getByText('Limit', { exact: true }).click();
    await page.getByRole('button', { name: '−25 %', exact: true }).click();
    await page.getByLabel('You spend').fill('77');
    await page.getByText(/^Fills when the pool pays [\d,]+ WALK or more for/).waitFor();
    await page.getByText('7 days', { exact: true }).click();
    const price = Number(await page.getByLabel('Max. price').inputValue());
    await page.getByRole('button', { name: 'Review buy' }).click();
    await sign(session, 'buy');
    await ordersAre(session, 'Open', /77 ADA → at least/);
    await page.getByRole('region', { name: 'Depth of the pool' }).getByText('1 limit').waitFor();
    await scene.picture(session);
    const { assets } = balanceOf(await seeded.carol.utxos());
    const amount = assets.get(asset) ?? assert.fail('it has bought some');
    await market.filled(seeded.carol, {
      assetId: asset,
      side: 'SELL',
      amount,
      slippage: 'infinity',
    });
    await ordersAre(session, 'Filled', /77 ADA → [\d,]+ WALK/);
    const { items } = (await market.client.orders.feed({ asset })).data.ledger;
    const { toAmount } = items.find(({ fromAmount }) => fromAmount === '77000000') ?? assert.fail();
    assert(77 / Number(toAmount) <= price, 'no more was paid for a token than the limit');
    const tx = page.locator('.own-orders .tx-link').first();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await tx.click();
    await page.getByText('Transaction id copied.').waitFor();
    assert.match(await page.evaluate('navigator.clipboard.readText()'), /^[0-9a-f]{64}$/);
    await page.getByText('Market', { exact: true }).click();
  },
};

const lock: Journey = {
  name: 'lock-and-withdraw',
  done: 'locks 1,001 tokens in two stages, waits, and withdraws each',
  seen: 'what opens when, before signing; the locks with a calendar; then none',
  async run(scene) {
    const { market, own } = scene;
    const { session, asset } = own;
    const { page } = session;
    // This chain is ahead of the clock, and the page signs no stages that its own clock denies.
    const followChain = async () => {
      const { tip } = (await market.client.server.ready()).data;
      await page.clock.setSystemTime((tip.time ?? 0) * 1000);
    };
    await followChain();
    await session.open(`#/token/${asset}`);
    await page.getByRole('button', { name: 'Lock tokens…' }).click();
    await page.getByRole('textbox', { name: 'Amount', exact: true }).fill('1001');
    // Some minutes from now, as the field wants it: local time, in whole seconds.
    const untilMs = (await market.lastTradeMs(asset)) + 400_000;
    const until = await page.evaluate(`(() => {
      const at = new Date(${untilMs});
      return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    })()`);
    await page.getByLabel('Until (your time)').fill(String(until));
    await page.getByLabel('Stages').selectOption('2');
    assert.match(await page.locator('.unlocks').innerText(), /500[\s\S]*501/);
    await page.getByRole('button', { name: 'Review the lock' }).click();
    await page.getByRole('button', { name: 'Sign and lock' }).click();
    await page.locator('dialog').first().waitFor({ state: 'detached' });
    await session.open('#/wallet');
    const locks = page.locator('.own-locks > li');
    await locks.nth(1).waitFor();
    await locks.first().scrollIntoViewIfNeeded();
    await scene.picture(session);
    for (const [amount, left] of [
      ['500', 1],
      ['501', 0],
    ] as const) {
      await market.mine(300);
      await followChain();
      await page.getByRole('button', { name: `Withdraw ${amount} WALK` }).click();
      await page.getByRole('button', { name: 'Sign and withdraw' }).click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      if (left > 0) await locks.filter({ hasText: ' 500' }).waitFor({ state: 'detached' });
      else await page.getByText('You have no locks.').waitFor();
    }
    assert.equal(await locks.count(), 0);
  },
};

const graduate: Journey = {
  name: 'graduate',
  done: 'looks on while the curve of its token is bought out; sells a quarter on the AMM',
  seen: 'the page turns to the AMM without a reload; the sell is filled there; the bars go on',
  async run(scene) {
    const { market, seeded, own } = scene;
    const { session, asset } = own;
    const { page } = session;
    await session.open(`#/token/${asset}`);
    await page.getByRole('button', { name: 'Review buy' }).waitFor();
    await market.graduate(seeded.carol, asset);
    await page.locator('.token-head').getByText('AMM', { exact: true }).waitFor();
    await page.locator('.direction label[data-value=sell]').click();
    await page.getByRole('button', { name: '25 %', exact: true }).click();
    await review(session, 'sell');
    await sign(session, 'sell');
    await ordersAre(session, 'Filled', /WALK → [\d.,]+ ADA/, 2);
    await drawn(session, market, asset);
    assert(((await drawnOn(page)) ?? []).length > 1);
    await scene.picture(session);
  },
};

const ORDERS = [cancel, limit, lock, graduate];
export const TRADE_JOURNEYS = [launch, buySell, terms, oneClick, filters, ...ORDERS];
