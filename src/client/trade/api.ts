/** Typed calls of our public HTTP API. Source: api.md sections 2 to 5; nothing else is used. */
import type { AssetId } from '../../engine/market/asset.ts';
import type { Slippage } from '../../engine/market/order.ts';
import type { Side } from '../../engine/market/quote.ts';
import {
  Built,
  BuiltLaunch,
  BuiltOrder,
  Height,
  LockRows,
  PoolRows,
  Quote,
  ServerTime,
  Submitted,
  UtxoRows,
} from './answers.ts';
import type { ApiFailure } from './failure.ts';
import { type Reader, readerOf, Transport, type TransportOptions } from './transport.ts';
import { type OwnUtxo, ownUtxo } from './utxo.ts';

export interface OrderRequest {
  readonly assetId: AssetId;
  readonly side: Side;
  /** Lovelace of a BUY, tokens of the others. */
  readonly amount: bigint;
  readonly slippage: Slippage;
  /** Of a BUY_WITH_OUTPUT: an order that offers more is not signed. */
  readonly mostInputLovelace?: bigint;
}

export interface LaunchRequest {
  readonly name: string;
  readonly ticker: string;
  readonly description: string;
  readonly assetType: 'Meme' | 'AI';
  readonly launchType: 'DEFAULT' | 'HYPED';
  readonly twitter?: string;
  readonly discord?: string;
  readonly telegram?: string;
  readonly website?: string;
  /** 0: none. */
  readonly initialLovelace: bigint;
  readonly image: LaunchImage;
}

export interface LaunchImage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif';
}

export interface TransferRequest {
  readonly to: string;
  readonly lovelace: bigint | 'max';
  readonly assets: ReadonlyMap<AssetId, bigint>;
  /** Exactly these, as CIP-30 CBOR; absent: what the server finds. */
  readonly utxos?: readonly string[];
}

export interface LockRequest {
  readonly assetId: AssetId;
  readonly amount: bigint;
  readonly lockEndMs: number;
  readonly stages: number;
}

export type PoolList = 'New' | 'Latest' | 'CompletedCreateOn' | 'CompletedMCap' | 'MCapDesc';

const UTXO_PAGE = 1000;

const READ = {
  quote: readerOf(Quote),
  order: readerOf(BuiltOrder),
  launch: readerOf(BuiltLaunch),
  built: readerOf(Built),
  submitted: readerOf(Submitted),
  time: readerOf(ServerTime),
  height: readerOf(Height),
  utxos: readerOf(UtxoRows),
  locks: readerOf(LockRows),
  pools: readerOf(PoolRows),
};

export class ApiClient {
  readonly transport: Transport;

  constructor(options: TransportOptions) {
    this.transport = new Transport(options);
  }

  quote({ assetId, side, amount, slippage }: OrderRequest): Promise<Quote | ApiFailure> {
    const query = new URLSearchParams({ assetId, side, amount: String(amount), slippage });
    return this.#get(`/quote?${query}`, READ.quote);
  }

  order(request: OrderRequest, changeAddress: string): Promise<BuiltOrder | ApiFailure> {
    const { assetId, side, slippage } = request;
    const amount = String(request.amount);
    const wallet = { changeAddress, utxos: 'splash-wallet' };
    return this.#post('/order', { assetId, side, slippage, amount, ...wallet }, READ.order);
  }

  launch(request: LaunchRequest, changeAddress: string): Promise<BuiltLaunch | ApiFailure> {
    const { image, initialLovelace, ...info } = request;
    const form = new FormData();
    const initialDeposit = String(initialLovelace);
    const wallet = { changeAddress, utxos: 'splash-wallet', collaterals: null };
    const extension = image.mediaType.replace('image/', '');
    form.set('image', new Blob([image.bytes], { type: image.mediaType }), `logo.${extension}`);
    form.set('info', JSON.stringify({ ...info, initialDeposit, ...wallet }));
    return this.transport.call({ method: 'POST', path: '/launch', form, read: READ.launch });
  }

  cancel(txHash: string, index: number, changeAddress: string) {
    const body = { txHash, index: String(index), changeAddress, utxos: 'splash-wallet' };
    return this.#post('/cancel', { ...body, collaterals: null }, READ.built);
  }

  transfer({ to, lovelace, assets, utxos }: TransferRequest, changeAddress: string) {
    const listed = Array.from(assets, ([unit, amount]) => ({ unit, amount: String(amount) }));
    const transferAssets = { lovelace: String(lovelace), assets: listed };
    const chosen = utxos ?? 'splash-wallet';
    const body = { utxos: chosen, changeAddress, distAddress: to, transferAssets };
    return this.#post('/transfer', body, READ.built);
  }

  createLock({ assetId, amount, lockEndMs, stages }: LockRequest, address: string) {
    const terms = { lockEnd: lockEndMs, stagesCount: stages };
    const body = { address, assetId, amount: String(amount), ...terms };
    return this.#post('/create-lock', body, READ.built);
  }

  withdraw(id: string, address: string) {
    return this.#post('/withdraw', { id, address }, READ.built);
  }

  signAndSubmit(cbor: string, witness: string, changeAddress: string) {
    return this.#post('/sign-and-submit', { cbor, witness, changeAddress }, READ.submitted);
  }

  submit(cbor: string) {
    return this.#post('/submit', { cbor }, READ.submitted);
  }

  /** The first page of a wallet, which for all but strange ones is the wallet. */
  async utxos(keyHash: string): Promise<readonly OwnUtxo[] | ApiFailure> {
    const body = { pkh: keyHash, limit: UTXO_PAGE };
    const rows = await this.#post('/getUtxos', body, READ.utxos);
    return Array.isArray(rows) ? rows.map(ownUtxo) : rows;
  }

  locks(keyHash: string) {
    return this.#post(`/v1/vesting/get-by-redeemer?redeemerVkhs=${keyHash}`, {}, READ.locks);
  }

  pools(filter: PoolList) {
    return this.#get(`/v1/pools-main-page/initial/state?filter=${filter}`, READ.pools);
  }

  serverTime() {
    return this.#get('/v1/utility/server/time', READ.time);
  }

  faucet(address: string, ada: number) {
    return this.#post('/devnet/v1/faucet', { address, ada }, READ.submitted);
  }

  fork(depth: number, resubmit: 'all' | 'none') {
    return this.#post('/devnet/v1/fork', { depth, resubmit }, READ.height);
  }

  mine(blocks: number) {
    return this.#post('/devnet/v1/mine', { blocks }, READ.height);
  }

  #get<T>(path: string, read: Reader<T>): Promise<T | ApiFailure> {
    return this.transport.call({ method: 'GET', path, read });
  }

  #post<T>(path: string, body: unknown, read: Reader<T>): Promise<T | ApiFailure> {
    return this.transport.call({ method: 'POST', path, body, read });
  }
}
