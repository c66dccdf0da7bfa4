/**
 * Wallets: holdings and created tokens, several wallets, export and import of keys, extensions,
 * alerts.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { addressBytes, parseAddress } from '../../../src/cardano/codec/address.ts';
import { array, encodeAssets, uint } from '../../../src/cardano/codec/encode.ts';
import { toHex } from '../../../src/cardano/codec/hex.ts';
import { Key } from '../../../src/client/index.ts';
import { balanceOf, utxoCbor, utxosOf } from '../../../src/client/trade/utxo.ts';
import { secretOf } from '../../support/ledgerWorld.ts';
import type { Visit } from '../support.ts';
import { field, launchOn, ordersAre, startWallet } from '../tradeWorld.ts';
import type { Journey } from './journey.ts';
import type { JourneyMarket } from './market.ts';

async function importKey({ page }: Visit, secret: string): Promise<void> {
  await page.getByText('Import a key').click();
  await page.getByLabel('Secret key').fill(secret);
  await page.getByRole('button', { name: 'Import it' }).click();
}

/** With two decimals, cut. */
function groupedAda(lovelace: bigint): string {
  const whole = (lovelace / 1_000_000n).toLocaleString('en');
  return `${whole}.${String((lovelace % 1_000_000n) / 10_000n).padStart(2, '0')}`;
}

const portfolio: Journey = {
  name: 'portfolio',
  done: 'imports the key of a trader with more than ten trades',
  seen: 'ADA and tokens in one total, gain, average costs, a line; price and fee of orders',
  async run(scene) {
    const { market, seeded } = scene;
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open('#/wallet');
    await importKey(seen, secretOf('bob'));
    await page.getByText(seeded.bob.wallet.address).waitFor();
    const { data } = await market.client.holders.portfolio([seeded.bob.wallet.keyHash]);
    const trades = data.tokens.reduce(
      (sum, { buyCount, sellCount }) => sum + buyCount + sellCount,
      0,
    );
    assert(trades > 10, `${trades} trades`);
    const row = page.locator('.pnl tbody tr');
    await seen.asked(
      'all tokens',
      () => row.count(),
      (count) => count === data.tokens.length,
    );
    await row.getByText('Cosmic Otter').waitFor();
    const main = data.tokens.find(({ asset }) => asset === scene.main);
    const average = row.filter({ hasText: 'Cosmic Otter' }).locator('.col-average');
    assert.equal(await average.getAttribute('title'), `${main?.averageBuyPrice} ADA`);
    const total = page.locator('.portfolio .fig').filter({ hasText: 'Total' });
    const coins = balanceOf(await utxosOf(market.client, seeded.bob.wallet.keyHash)).lovelace;
    const worth = coins + BigInt(data.valueAda.replace('.', ''));
    await seen.asked(
      'coins and tokens in one total',
      () => total.locator('.figure').innerText(),
      (text) => text === `${groupedAda(worth)}\u00a0₳`,
    );
    await page
      .locator('.ended-orders .own-price')
      .first()
      .getByText(/^at .+\s₳ · executor fee [\d.]+\s₳$/)
      .waitFor();
    await page.locator('.pnl-history svg').waitFor();
    await page.locator('.portfolio').scrollIntoViewIfNeeded();
    await scene.picture(seen);
  },
};

const share: Journey = {
  name: 'pnl-picture',
  done: 'shares what it made as a picture, and saves that',
  seen: 'the profit, how many times what was spent, the tokens it came from, no address',
  async run(scene) {
    const seen = await scene.visit({ acceptDownloads: true });
    const { page } = seen;
    await seen.open('#/wallet');
    await importKey(seen, secretOf('bob'));
    const address = await page.locator('.wallet-address code').innerText();
    await page
      .locator('.portfolio header')
      .getByRole('button', { name: 'Share as a picture' })
      .click();
    const picture = page.locator('.shared-picture');
    await picture.waitFor();
    const text = (await picture.getAttribute('alt')) ?? '';
    assert.match(text, /^Profit and loss [+−][\d.,]+\s₳.*BADG \+[\d.,]+\s₳/);
    assert(!text.includes(address.slice(0, 12)));
    await scene.picture(seen);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the picture' }).click(),
    ]);
    const bytes = await readFile(await file.path());
    assert.equal(file.suggestedFilename(), 'upcurve.png');
    assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1200, 630]);
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page
      .locator('.pnl')
      .getByRole('button', { name: /Cosmic Otter as a picture/ })
      .click();
    await picture.waitFor();
    assert.match((await picture.getAttribute('alt')) ?? '', /^Profit and loss .*\d×\. /);
    await page.keyboard.press('Escape');
    await seen.open(`#/token/${scene.main}`);
    const header = page.locator('.token-head');
    await header.getByRole('button', { name: 'Cosmic Otter as a picture' }).click();
    await seen.asked(
      'the picture of the server',
      () => page.evaluate("document.querySelector('.shared-picture')?.naturalWidth"),
      (width) => width === 1200,
    );
  },
};

const history: Journey = {
  name: 'history-csv',
  done: 'saves the history of its orders as a file',
  seen: 'a CSV file with one header and one line for each order that has ended',
  async run(scene) {
    const { seeded, market } = scene;
    const seen = await scene.visit({ acceptDownloads: true });
    const { page } = seen;
    await seen.open('#/wallet');
    await importKey(seen, secretOf('bob'));
    await page.locator('.own-orders > li').first().waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    const [header = '', ...rows] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
    assert.match(header, /entityId/);
    const { data } = await market.client.orders.ofKeys([seeded.bob.wallet.keyHash]);
    assert.equal(rows.length, data.ledger.count);
    await page.getByText(`${rows.length} orders saved.`).waitFor();
    await page.getByRole('button', { name: 'Save as CSV' }).scrollIntoViewIfNeeded();
    await scene.picture(seen);
  },
};

const twoWallets: Journey = {
  name: 'two-wallets',
  done: 'adds a second wallet beside the first, and shows both as one portfolio',
  seen: 'another address without tokens; together, the tokens of both',
  async run(scene) {
    const { session } = scene.own;
    const { page } = session;
    await session.open('#/wallet');
    const row = page.locator('.pnl tbody tr');
    await row.getByText('Walk', { exact: true }).waitFor();
    await session.asked(
      'the price went up, and with it the gain',
      () => row.locator('.col-unrealized').innerText(),
      (text) => /^\+[\d.,]+/.test(text),
    );
    const address = await page.locator('.wallet-address code').innerText();
    await page.getByRole('button', { name: 'Add another test wallet' }).click();
    await session.asked(
      'another address',
      () => page.locator('.wallet-address code').innerText(),
      (text) => text !== address,
    );
    await page.getByText('No token yet.').waitFor();
    await page.getByLabel('All 2 wallets').check();
    await row.getByText('Walk', { exact: true }).waitFor();
    await scene.picture(session);
  },
};

const keys: Journey = {
  name: 'keys',
  done: 'reloads, shows its secret key, forgets the wallet, and imports it again',
  seen: 'a warning before the key; no trace of it once forgotten; the same coins after the import',
  async run(scene) {
    const seen = await scene.visit();
    const { page } = seen;
    await startWallet(seen);
    const address = await page.locator('.wallet-address code').innerText();
    await page.reload();
    await page.getByText(address).waitFor();
    await page.getByRole('button', { name: 'Show the secret key' }).click();
    await page.getByText(/A person who sees this key can spend/).waitFor();
    await scene.picture(seen);
    await page.getByRole('button', { name: 'Show it' }).click();
    const secret = await page.locator('.secret').innerText();
    assert.equal(new Key(secret).address('testnet'), address, 'the export is the key');
    await page.getByRole('button', { name: 'Forget this wallet' }).click();
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.getByRole('button', { name: 'Use a test wallet' }).waitFor();
    assert.equal(await page.evaluate(`JSON.stringify(localStorage).includes('${secret}')`), false);
    await importKey(seen, 'abc');
    await page.getByText('A secret key has 64 hex digits').waitFor();
    await page.getByLabel('Secret key').fill(secret);
    await page.getByRole('button', { name: 'Import it' }).click();
    await page.getByText(address).waitFor();
    await page.locator('.balance').getByText('10,000 ADA', { exact: true }).waitFor();
  },
};

const alert: Journey = {
  name: 'alert',
  done: 'sets an alert on a price, goes elsewhere, reloads; the price comes there',
  seen: 'a notice with the price and a link, once; the alert is over then',
  async run(scene) {
    const { market, seeded } = scene;
    const asset = seeded.assets[3] ?? '';
    const seen = await scene.visit();
    const { page } = seen;
    await seen.open(`#/token/${asset}`);
    await page.getByRole('button', { name: 'Price alert for GYAK' }).click();
    const price = page.getByLabel('Price of a token');
    assert.equal(await price.inputValue(), '', 'Enter alone sets nothing');
    await price.fill('0');
    await page.getByRole('button', { name: 'Set the alert' }).click();
    await page.getByText('Enter a number above 0').waitFor();
    await page.getByText('At or above', { exact: true }).click();
    await page.getByText('Market cap', { exact: true }).last().click();
    await page.getByRole('textbox', { name: 'Market cap' }).fill('4000');
    await page.getByRole('button', { name: 'Set the alert' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    // It is kept: the next view, and the next visit, watch it too.
    await seen.open();
    await page.reload();
    await market.bought(seeded.carol, asset, 3000);
    await page.getByText(/GYAK is at or above 0\.000004 ADA/).waitFor();
    assert.equal(await page.evaluate(`localStorage['upcurve.alerts']`), '[]');
    await scene.picture(seen);
  },
};

/** The state of the simulated extension and its user. */
interface Holder {
  networkId: number;
  declines: boolean;
  /** Transactions that it was asked to sign, and whether partly. */
  readonly asked: (readonly [cbor: string, partial: boolean])[];
}

/**
 * An extension in the page whose key never comes into it: the page asks, this process answers. The
 * second entry is the same wallet under an old name; the third is no wallet.
 */
async function install(session: Visit, { client }: JourneyMarket, key: Key): Promise<Holder> {
  const holder: Holder = { networkId: 0, declines: false, asked: [] };
  const utxos = async () => await utxosOf(client, key.hash);
  const parsed = parseAddress(key.address('testnet'));
  assert(parsed !== null);
  const answers: Readonly<Record<string, (...args: readonly unknown[]) => unknown>> = {
    getNetworkId: () => holder.networkId,
    getChangeAddress: () => toHex(addressBytes(parsed)),
    getUtxos: async () => (await utxos()).map(utxoCbor),
    async getBalance() {
      const { lovelace, assets } = balanceOf(await utxos());
      return toHex(
        assets.size === 0 ? uint(lovelace) : array([uint(lovelace), encodeAssets(assets)]),
      );
    },
    signTx(cbor, partial) {
      if (holder.declines) return { thrown: { code: 2, info: 'user declined to sign' } };
      holder.asked.push([String(cbor), partial === true]);
      return key.witness(String(cbor));
    },
  };
  await session.page.exposeFunction('askHolder', async (name: string, args: readonly unknown[]) =>
    answers[name]?.(...args),
  );
  await session.page.addInitScript(`
    const ask = async (name, args) => {
      const answer = await askHolder(name, args);
      if (answer?.thrown !== undefined) throw answer.thrown;
      return answer;
    };
    const names = ${JSON.stringify(Object.keys(answers))};
    const api = Object.fromEntries(names.map((name) => [name, (...args) => ask(name, args)]));
    const enable = async () => api;
    const icon = 'javascript:alert(1)';
    const wallet = { name: 'Pocket', apiVersion: '1', icon, enable };
    window.cardano = { pocket: wallet, oldPocket: wallet, other: { name: 'no wallet' } };
  `);
  return holder;
}

const extension: Journey = {
  name: 'extension',
  done: 'connects a wallet extension on another network, then on this one; declines, then signs',
  seen: 'each refusal in words; a server that builds something else gets no signature',
  async run(scene) {
    const { market } = scene;
    const erin = await market.funded('erin', 1);
    const session = await scene.visit();
    const { page } = session;
    const holder = await install(session, market, new Key(secretOf('erin')));
    const connect = page.getByRole('button', { name: 'Connect Pocket' });
    const review = async () => {
      await page.getByLabel('You spend').fill('40');
      await page.getByRole('button', { name: 'Review buy' }).click();
    };
    const signs = page.getByRole('button', { name: 'Sign and buy' });

    holder.networkId = 1;
    await session.open('#/wallet');
    await connect.click();
    await page.getByText(/Pocket is on mainnet, this server is on devnet/).waitFor();
    assert.equal(await connect.count(), 1, 'the same wallet under two names is one');

    holder.networkId = 0;
    await connect.click();
    await page.getByText(erin.wallet.address).waitFor();
    await page.locator('.balance').getByText('10,000 ADA', { exact: true }).waitFor();
    assert.equal(await page.locator('img[src^="javascript"]').count(), 0);
    const asset = await launchOn(session, 'Ext');
    await session.open('#/wallet');
    await page.locator('.holdings li').getByText('EXT').waitFor();
    await session.open(`#/token/${asset}`);

    holder.declines = true;
    await review();
    await signs.click();
    await page.getByText(/You declined in the wallet.*user declined to sign/).waitFor();
    await scene.picture(session);
    holder.declines = false;
    await signs.click();
    await ordersAre(session, 'Filled', /40 ADA → [\d,]+ EXT/);
    assert(holder.asked.length >= 2 && holder.asked.every(([, partial]) => partial));

    // Terms of the order that was asked for, bytes of one for twice as much.
    const asked = holder.asked.length;
    await page.route('**/order', async (route) => {
      const body: unknown = route.request().postDataJSON();
      const right: unknown = await (await route.fetch()).json();
      const doubled = { ...Object(body), amount: '80000000' };
      const other: unknown = await (await route.fetch({ postData: doubled })).json();
      await route.fulfill({ json: { ...Object(right), cbor: field(other, 'cbor') } });
    });
    await review();
    await page.getByText(/Not signed: this is not what was asked for/).waitFor();
    await page.unroute('**/order');
    assert.equal(holder.asked.length, asked, 'a server that builds something else gets nothing');

    holder.networkId = 1;
    await review();
    await signs.click();
    await page.getByText(/Pocket is on mainnet/).waitFor();
    assert.equal(holder.asked.length, asked, 'switched to another network, nothing is signed');
  },
};

export const WALLET_JOURNEYS = [portfolio, share, history, twoWallets, keys, alert, extension];
