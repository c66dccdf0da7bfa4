/**
 * Makes a small market on a running devnet through its API, and lists the ids that requests may
 * use.
 */
import assert from 'node:assert/strict';
import { parseRef, refText } from '../../../src/cardano/codec/output.ts';
import { ApiError, Client, type Fetch } from '../../../src/client/index.ts';
import { type SubmittedTx, TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { utxoCbor } from '../../../src/client/trade/utxo.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import { outcomeOf } from '../../support/apiError.ts';
import { secretOf } from '../../support/ledgerWorld.ts';
import { untilAsked } from '../../support/until.ts';
import { ADA, launchOf } from '../devnet/world.ts';
import { objectOf } from './document.ts';
import type { Finds } from './values.ts';

const DESCRIBED = { assetType: 'AI', description: '' };

const PEOPLE = ['ann', 'ben', 'cid'] as const;
const FUNDED_ADA = 9_000;
const FUNDED_TIMES = 4;
const ASIDE = '98'.repeat(28);

export class Market {
  readonly #url: string;
  readonly #client: Client;
  readonly #traders: readonly TradingClient[];

  constructor(url: string) {
    this.#url = url;
    this.#client = new Client({ url, timeoutMs: 30_000, maxAttempts: 4 });
    this.#traders = PEOPLE.map((name) => {
      const secrets = { payment: secretOf(name), stake: secretOf(`${name}/stake`) };
      return new TradingClient(this.#client, new KeyWallet(secrets, 'testnet'));
    });
  }

  /**
   * Makes two tokens with trades, an open order and locks, so that every kind of id in a request
   * exists.
   */
  async play(): Promise<Finds> {
    const [ann, ben, cid] = this.#traders;
    assert(ann !== undefined && ben !== undefined && cid !== undefined);
    for (const { wallet } of this.#traders) {
      for (let times = 0; times < FUNDED_TIMES; times += 1) {
        await this.#client.devnet.faucet({ address: wallet.address, ada: FUNDED_ADA });
      }
    }
    await this.#blocks();
    const first = { name: 'Alpha', ticker: 'ALF', initialLovelace: 80n * ADA };
    const alpha = await ann.launch(launchOf(first));
    const beta = await ben.launch(launchOf({ name: 'Beta', ticker: 'BET' }));
    await this.#blocks();
    const buy = { assetId: alpha.asset, side: 'BUY', amount: 30n * ADA, slippage: '75' } as const;
    const filled = await this.#filled(ben, buy);
    await this.#filled(cid, { ...buy, assetId: beta.asset, slippage: 'infinity' });
    await this.#filled(cid, buy);
    await this.#filled(cid, { ...buy, side: 'SELL', amount: 900_000n });
    const lock = { assetId: alpha.asset, amount: 5_000n, stages: 2 };
    const now = async () => (await this.#client.server.time()).data.timestamp;
    let lockEndMs = 0;
    const locking = async () => {
      lockEndMs = (await now()) + 3_000;
      return outcomeOf(ann.lock({ ...lock, lockEndMs }));
    };
    // Its end may be over before it is built.
    const isMade = (found: SubmittedTx | ApiError) => !(found instanceof ApiError);
    const locked = await untilAsked('a lock is made', locking, isMade);
    assert(!(locked instanceof ApiError));
    await this.#blocks();
    const open = await this.#stranded(cid, ben, alpha.asset);
    await untilAsked('the lock is due', now, (nowMs) => nowMs > lockEndMs + 1_000);
    const orders = [filled.id, open.id, open.id, `${ASIDE}${'00'.repeat(4)}:0`];
    const locks = [`${locked.txHash}:0`, `${locked.txHash}:1`];
    const beacons = [filled.beacon, open.beacon, ASIDE];
    return this.#finds({
      assets: [alpha.asset, beta.asset, '.', `${ASIDE}.00`, alpha.asset.toUpperCase()],
      beacons,
      contentIds: [alpha.logoCid, beta.logoCid, `${alpha.logoCid}a`],
      orders,
      locks,
    });
  }

  async #finds(own: {
    assets: readonly string[];
    beacons: readonly string[];
    contentIds: readonly string[];
    orders: readonly string[];
    locks: readonly string[];
  }): Promise<Finds> {
    const { assets, beacons, contentIds, orders, locks } = own;
    const wallets = this.#traders.map(({ wallet }) => wallet);
    const pages = await Promise.all(this.#traders.map((trader) => trader.utxos()));
    const utxos = pages.flatMap((page) => page.slice(0, 4));
    const refs = [...orders, ...locks, ...utxos.slice(0, 3).map(({ ref }) => refText(ref))];
    const built = await this.#built();
    const [at = 0] = [Math.floor((await this.#client.server.time()).data.timestamp / 1000)];
    const rows = await (await fetch(`${this.#url}/v1/trades?asset=${assets[0]}`)).json();
    const trades: unknown[] = Array.isArray(rows) ? rows : [];
    const subscriptions = [
      { topic: 'Health' },
      ...assets.slice(0, 2).map((asset) => ({ topic: 'Trades', data: { asset } })),
    ];
    return {
      assets,
      beacons,
      contentIds,
      pictures: assets.map((asset) => `${asset}.png`),
      refs,
      keyHashes: [...wallets.map(({ keyHash }) => keyHash), ASIDE],
      addresses: wallets.map(({ address }) => address),
      hashes: refs.map((ref) => ref.slice(0, 64)),
      transactions: [built.cbor, built.signed, built.other],
      witnesses: [built.witness],
      outputs: utxos.map(utxoCbor),
      tradeIds: trades.map((row) => String(objectOf(row).id)),
      times: [at - 86_400, at - 60, at, at + 60],
      subscriptions: subscriptions.map((each) => JSON.stringify(each)),
      bodies: {
        ...this.#bodies(built, orders, locks),
        'POST /v1/stream': subscriptions.map((each) => [each]),
      },
    };
  }

  /**
   * A transfer: as built, with its witness, signed; and a signed transaction without its signature.
   */
  async #built() {
    const [ann, ben] = this.#traders;
    assert(ann !== undefined && ben !== undefined);
    const { address } = ann.wallet;
    const value = { lovelace: 5n * ADA, assets: new Map() };
    const to = ben.wallet.address;
    const { cbor } = (await ann.prepareTransfer({ to, ...value })).built;
    const witness = await ann.wallet.sign(cbor);
    const body = JSON.stringify({ cbor, witness, changeAddress: address });
    const headers = { 'content-type': 'application/json' };
    const signed = await fetch(`${this.#url}/sign`, { method: 'POST', headers, body });
    assert.equal(signed.status, 200);
    const other = (await ben.prepareTransfer({ to: address, ...value })).built.cbor;
    return { cbor, witness, address, other, signed: String(objectOf(await signed.json()).cbor) };
  }

  #bodies(
    { cbor, witness, address, signed }: { [name: string]: string },
    orders: readonly string[],
    locks: readonly string[],
  ): Finds['bodies'] {
    const both = [{ cbor, witness, changeAddress: address }];
    const owner = this.#traders[1]?.wallet.address;
    return {
      'POST /sign': both,
      'POST /sign-and-submit': both,
      'POST /submit': [{ cbor: signed }],
      'POST /withdraw': locks.map((id) => ({ id, address })),
      'POST /launch': [
        { ...DESCRIBED, name: 'Gamma', ticker: 'G', changeAddress: address },
        {
          ...DESCRIBED,
          name: 'Delta',
          ticker: 'D',
          initialDeposit: '50000000',
          changeAddress: owner,
        },
      ],
      'POST /cancel': orders.map((id) => {
        const ref = parseRef(id);
        return { txHash: ref?.txHash, index: String(ref?.index), changeAddress: owner };
      }),
      'POST /transfer': [
        { changeAddress: address, distAddress: owner, transferAssets: { lovelace: 'max' } },
        { changeAddress: owner, distAddress: address, transferAssets: { lovelace: '3000000' } },
      ],
    };
  }

  /** From request to fill. */
  async #filled(trader: TradingClient, request: Parameters<TradingClient['order']>[0]) {
    const placed = await trader.order(request);
    const ask = () => this.#status(placed.beacon);
    await untilAsked('the order is filled', ask, (status) => status === 'Evaluated');
    return placed;
  }

  /** An order that cannot be filled: its price is gone between its building and its sending. */
  async #stranded(rich: TradingClient, poor: TradingClient, assetId: string) {
    const buy = { assetId, side: 'BUY', slippage: '15' } as const;
    const [isBuilt, maySend] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding: Fetch = async (url, init) => {
      if (url.endsWith('/sign-and-submit')) {
        isBuilt.resolve();
        await maySend.promise;
      }
      return fetch(url, init);
    };
    const client = new Client({ url: this.#url, fetch: holding, timeoutMs: 120_000 });
    const small = new TradingClient(client, poor.wallet).order({ ...buy, amount: 10n * ADA });
    await Promise.race([isBuilt.promise, small]);
    await this.#filled(rich, { ...buy, amount: 3_000n * ADA, slippage: 'infinity' });
    maySend.resolve();
    const placed = await small;
    await this.#blocks();
    assert.equal(await this.#status(placed.beacon), 'Pending', 'its price is gone');
    return placed;
  }

  async #status(beacon: string): Promise<unknown> {
    const path = `/v1/user-history-feed/order/trades?beacon=${beacon}`;
    return objectOf(await (await fetch(this.#url + path)).json()).status;
  }

  /** Waits until the submitted transactions are in a block and applied. */
  async #blocks(): Promise<void> {
    const { height } = (await this.#client.devnet.mine({ blocks: 2 })).data;
    const folded = async () => {
      const metrics = await (await fetch(`${this.#url}/metrics`)).text();
      return Number(/^upcurve_chain_height (\d+)$/m.exec(metrics)?.[1]);
    };
    await untilAsked('the blocks are folded', folded, (now) => now >= height);
  }
}
