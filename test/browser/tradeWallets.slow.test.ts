/** Wallets of a browser: extensions by CIP-30, and the test wallet's ways in and out. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { addressBytes, parseAddress } from '../../src/cardano/codec/address.ts';
import { array, encodeAssets, uint } from '../../src/cardano/codec/encode.ts';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { Key } from '../../src/client/index.ts';
import { balanceOf, utxoCbor, utxosOf } from '../../src/client/trade/utxo.ts';
import { secretOf } from '../support/ledgerWorld.ts';
import { openBrowser, type Visit, visit } from './support.ts';
import { field, launchOn, ordersAre, startWallet, TradeWorld } from './tradeWorld.ts';

/** One market and one browser for all; each visit has storage of its own. */
let [shared, opened]: [TradeWorld | null, Browser | null] = [null, null];
const ends: (() => void | Promise<void>)[] = [];
const scope = { after: (end: () => void | Promise<void>) => void ends.unshift(end) };

before(async () => {
  [opened, shared] = await Promise.all([openBrowser(scope), TradeWorld.start(scope)]);
});

after(async () => {
  for (const end of ends) await end();
});

function scene() {
  assert(shared !== null && opened !== null);
  return { world: shared, browser: opened };
}

/** What the extension's user does and has. */
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
async function install(session: Visit, world: TradeWorld, key: Key): Promise<Holder> {
  const holder: Holder = { networkId: 0, declines: false, asked: [] };
  const utxos = async () => await utxosOf(world.client, key.hash);
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

test('an extension connects, signs, declines, and is refused on another network', async (t) => {
  const { world, browser } = scene();
  const session = await visit(browser, world.url);
  const { page } = session;
  const bob = await world.funded('bob', 10_000);
  const holder = await install(session, world, new Key(secretOf('bob')));
  const connect = page.getByRole('button', { name: 'Connect Pocket' });

  await t.test('on another network', async () => {
    holder.networkId = 1;
    await session.open('#/wallet');
    await connect.click();
    await page.getByText(/Pocket is on mainnet, this server is on devnet/).waitFor();
    assert.equal(await connect.count(), 1, 'the same wallet under two names is one');
  });

  await t.test('connected: its address and its balance, with tokens', async () => {
    holder.networkId = 0;
    await connect.click();
    await page.getByText(bob.wallet.address).waitFor();
    await page.locator('.balance').getByText('10,000 ADA', { exact: true }).waitFor();
    assert.equal(await page.locator('img[src^="javascript"]').count(), 0);
    const asset = await launchOn(session, 'Ext');
    await session.open('#/wallet');
    await page.locator('.holdings li').getByText('EXT').waitFor();
    await session.open(`#/token/${asset}`);
  });

  await t.test('a declined signature is shown, and can be tried again', async () => {
    holder.declines = true;
    await page.getByLabel('You spend').fill('40');
    await page.getByRole('button', { name: 'Review buy' }).click();
    await page.getByRole('button', { name: 'Sign and buy' }).click();
    await page.getByText(/You declined in the wallet.*user declined to sign/).waitFor();
    holder.declines = false;
    await page.getByRole('button', { name: 'Sign and buy' }).click();
    await ordersAre(session, 'Filled', /40 ADA → [\d,]+ EXT/);
    assert(holder.asked.length >= 2 && holder.asked.every(([, partial]) => partial));
  });

  await t.test('a server that builds something else gets no signature', async () => {
    const asked = holder.asked.length;
    // Terms of the order that was asked for, bytes of one for twice as much.
    await page.route('**/order', async (route) => {
      const body: unknown = route.request().postDataJSON();
      const right: unknown = await (await route.fetch()).json();
      const doubled = { ...Object(body), amount: '80000000' };
      const other: unknown = await (await route.fetch({ postData: doubled })).json();
      await route.fulfill({ json: { ...Object(right), cbor: field(other, 'cbor') } });
    });
    await page.getByLabel('You spend').fill('40');
    await page.getByRole('button', { name: 'Review buy' }).click();
    await page.getByText(/Not signed: this is not what was asked for/).waitFor();
    await page.unroute('**/order');
    assert.equal(holder.asked.length, asked);
  });

  await t.test('switched to another network meanwhile, nothing is signed', async () => {
    const asked = holder.asked.length;
    holder.networkId = 1;
    await page.getByLabel('You spend').fill('40');
    await page.getByRole('button', { name: 'Review buy' }).click();
    await page.getByRole('button', { name: 'Sign and buy' }).click();
    await page.getByText(/Pocket is on mainnet/).waitFor();
    assert.equal(holder.asked.length, asked);
  });
  session.assertClean();
});

test('the test wallet is kept, exported, forgotten and imported', async () => {
  const { world, browser } = scene();
  const session = await visit(browser, world.url);
  const { page } = session;
  await startWallet(session);
  const address = await page.locator('.wallet-address code').innerText();

  await page.reload();
  await page.getByText(address).waitFor();
  await page.getByRole('button', { name: 'Show the secret key' }).click();
  await page.getByText(/A person who sees this key can spend/).waitFor();
  await page.getByRole('button', { name: 'Show it' }).click();
  const secret = await page.locator('.secret').innerText();
  assert.equal(new Key(secret).address('testnet'), address, 'the export is the key');

  await page.getByRole('button', { name: 'Forget this wallet' }).click();
  await page.getByRole('button', { name: 'Forget it' }).click();
  await page.getByRole('button', { name: 'Use a test wallet' }).waitFor();
  assert.equal(await page.evaluate(`JSON.stringify(localStorage).includes('${secret}')`), false);

  await page.getByText('Import a key').click();
  await page.getByLabel('Secret key').fill('abc');
  await page.getByRole('button', { name: 'Import it' }).click();
  await page.getByText('A secret key has 64 hex digits').waitFor();
  await page.getByLabel('Secret key').fill(secret);
  await page.getByRole('button', { name: 'Import it' }).click();
  await page.getByText(address).waitFor();
  await page.locator('.balance').getByText('10,000 ADA', { exact: true }).waitFor();
  session.assertClean();
});
