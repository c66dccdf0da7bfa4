/**
 * What a wallet does on the market, each from request to accepted transaction: have it built, check
 * the bytes against the request, sign, submit. The command line, the simulated traders and the page
 * share it.
 *
 * `prepare…` stops before the signature, so that a person can review; the others go through.
 * Rejects with `ApiError`. What must be paid is derived from the request, never from the answer.
 */
import { parseAddress } from '../../cardano/codec/address.ts';
import { type OutputRef, parseRef, refText } from '../../cardano/codec/output.ts';
import { asValue } from '../../cardano/codec/value.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';
import { minimumOutput, priceOfLeast, worstPriceOf } from '../../engine/market/order.ts';
import { ApiError } from '../apiError.ts';
import type { Client } from '../client.ts';
import type { LaunchForm } from '../rest/wallets.ts';
import type {
  CancelAnswer,
  CreateLockAnswer,
  LaunchAnswer,
  LockRow,
  OrderAnswer,
  OrderBody,
  QuoteAnswer,
  TransferAnswer,
  WithdrawAnswer,
} from '../types.ts';
import { type Review, review } from './review.ts';
import type { Intent, OrderIntent } from './transactionCheck.ts';
import { integerOf, utxosOf, type WalletUtxo } from './utxo.ts';
import type { TradingWallet } from './wallet.ts';

export interface OrderRequest {
  readonly assetId: AssetId;
  readonly side: OrderBody['side'];
  /** Lovelace of a BUY, tokens of the others. */
  readonly amount: bigint;
  readonly slippage: OrderBody['slippage'];
  /** The least output that the order takes, in place of the slippage. */
  readonly minOutput?: bigint;
  /** Seconds: a limit order, which waits until the pool gives `minOutput`, or may be given back. */
  readonly waitFor?: number;
  /** Of a BUY_WITH_OUTPUT: an order that offers more is not signed. */
  readonly maxInputLovelace?: bigint;
  /** Seconds for which a block may take it; absent: as the server does, 0: no end of its own. */
  readonly ttl?: number;
}

type OfWallet = 'changeAddress' | 'utxos' | 'collaterals';

export interface LaunchRequest extends Omit<LaunchForm, OfWallet | 'initialDeposit'> {
  /** Of the initial buy; 0: none. */
  readonly initialLovelace: bigint;
}

export interface TransferRequest {
  readonly to: string;
  readonly lovelace: bigint | 'max';
  readonly assets: ReadonlyMap<AssetId, bigint>;
  /** Exactly these, as CIP-30 CBOR; absent: those of the wallet. */
  readonly utxos?: readonly string[];
}

export interface LockRequest {
  readonly assetId: AssetId;
  readonly amount: bigint;
  readonly stages: number;
  /** Unix milliseconds at which the last stage unlocks. */
  readonly lockEndMs: number;
}

/** A transaction that the server accepted. */
export interface SubmittedTx {
  readonly txHash: string;
  readonly feeLovelace: bigint;
}

export interface PlacedOrder extends SubmittedTx {
  /** `<tx>:<index>` of the order's output. */
  readonly id: string;
  readonly beacon: string;
  readonly venue: OrderAnswer['venue'];
  readonly input: AssetId;
  readonly output: AssetId;
  readonly inputAmount: bigint;
  /** What it would receive at the moment of the quote, and the least that it takes. */
  readonly outputAmount: bigint;
  readonly minimumOutput: bigint;
  /** Of the order's output. */
  readonly orderLovelace: bigint;
}

export interface LaunchedToken extends SubmittedTx {
  readonly asset: AssetId;
  readonly logoCid: string;
  readonly userTokens: bigint;
}

/** Built and checked; nothing has been signed. */
export interface PreparedTx<Built, Result extends SubmittedTx = SubmittedTx> {
  readonly built: Built;
  readonly review: Review;
  /** Asks the wallet for its signature, and sends both to the server. */
  submit(): Promise<Result>;
}

export class TradingClient {
  readonly client: Client;
  readonly wallet: TradingWallet;

  constructor(client: Client, wallet: TradingWallet) {
    this.client = client;
    this.wallet = wallet;
  }

  async quote(request: OrderRequest): Promise<QuoteAnswer> {
    return (await this.client.build.quote(termsOf(request))).data;
  }

  utxos(): Promise<readonly WalletUtxo[]> {
    return utxosOf(this.client, this.wallet.keyHash);
  }

  async locks(): Promise<readonly LockRow[]> {
    return (await this.client.vesting.byOwner(this.wallet.keyHash)).data.vestings;
  }

  async order(request: OrderRequest): Promise<PlacedOrder> {
    return (await this.prepareOrder(request)).submit();
  }

  async launch(request: LaunchRequest): Promise<LaunchedToken> {
    return (await this.prepareLaunch(request)).submit();
  }

  /** `id` is `<tx>:<index>` of the order's output. */
  async cancel(id: string): Promise<SubmittedTx> {
    return (await this.prepareCancel(id)).submit();
  }

  async lock(request: LockRequest): Promise<SubmittedTx> {
    return (await this.prepareLock(request)).submit();
  }

  /** `id` is `<tx>:<index>` of the lock's output. */
  async withdraw(id: string): Promise<SubmittedTx> {
    return (await this.prepareWithdraw(id)).submit();
  }

  async transfer(request: TransferRequest): Promise<SubmittedTx> {
    return (await this.prepareTransfer(request)).submit();
  }

  async prepareOrder(request: OrderRequest): Promise<PreparedTx<OrderAnswer, PlacedOrder>> {
    const body = { ...termsOf(request), ...(await this.#funding()) };
    const { data: built } = await this.client.build.order(body);
    const intent = orderIntent(request, built);
    return this.#prepared(built, intent, (submitted, { payments }) => {
      const { input, output, inputAmount, worstPrice } = intent;
      const [order] = payments;
      return {
        ...submitted,
        id: refText({ txHash: submitted.txHash, index: order?.index ?? 0 }),
        beacon: built.beacon,
        venue: built.venue,
        ...{ input, output, inputAmount },
        outputAmount: integerOf(built.outputAmount),
        minimumOutput: minimumOutput(inputAmount, worstPrice),
        orderLovelace: order?.value.lovelace ?? 0n,
      };
    });
  }

  async prepareLaunch(request: LaunchRequest): Promise<PreparedTx<LaunchAnswer, LaunchedToken>> {
    const { initialLovelace, ...info } = request;
    const funding = { ...(await this.#funding()), collaterals: null };
    const form = { ...info, ...funding, initialDeposit: String(initialLovelace) };
    const { data: built } = await this.client.build.launch(form);
    const { assetId: asset, logoCID: logoCid } = built;
    const userTokens = integerOf(built.userOutputTokens ?? 0);
    const name = request.name.trim();
    const intent = { kind: 'launch', asset, name, initialLovelace, userTokens } as const;
    return this.#prepared(built, intent, (submitted) => {
      return { ...submitted, asset, logoCid, userTokens };
    });
  }

  async prepareCancel(id: string): Promise<PreparedTx<CancelAnswer>> {
    const ref = outputRef(id);
    const { txHash, index } = ref;
    const funding = { ...(await this.#funding()), collaterals: null };
    const body = { txHash, index: String(index), ...funding };
    const { data: built } = await this.client.build.cancel(body);
    return this.#prepared(built, { kind: 'reclaim', ref }, same);
  }

  async prepareLock(request: LockRequest): Promise<PreparedTx<CreateLockAnswer>> {
    const { assetId, stages, lockEndMs, amount } = request;
    const terms = { lockEnd: lockEndMs, stagesCount: stages, amount: String(amount) };
    const body = { address: this.wallet.address, assetId, ...terms };
    const { data: built } = await this.client.vesting.createLock(body);
    return this.#prepared(built, { kind: 'lock', asset: assetId, amount, stages, lockEndMs }, same);
  }

  async prepareWithdraw(id: string): Promise<PreparedTx<WithdrawAnswer>> {
    const ref = outputRef(id);
    const body = { id: refText(ref), address: this.wallet.address };
    const { data: built } = await this.client.vesting.withdraw(body);
    return this.#prepared(built, { kind: 'reclaim', ref }, same);
  }

  async prepareTransfer(request: TransferRequest): Promise<PreparedTx<TransferAnswer>> {
    const { to, lovelace, assets } = request;
    if (parseAddress(to) === null) throw new ApiError('INVALID_PARAMS', `${to} is no address`);
    const { changeAddress, utxos } = await this.#funding();
    const listed = Array.from(assets, ([unit, amount]) => ({ unit, amount: String(amount) }));
    const transferAssets = { lovelace: String(lovelace), assets: listed };
    const chosen = { utxos: request.utxos ?? utxos, changeAddress };
    const body = { ...chosen, distAddress: to, transferAssets };
    const { data: built } = await this.client.build.transfer(body);
    const value = lovelace === 'max' ? null : asValue(lovelace, assets);
    return this.#prepared(built, { kind: 'transfer', to, value }, same);
  }

  /** Whose outputs pay, and where change goes. */
  async #funding() {
    const utxos = (await this.wallet.utxos()) ?? ('splash-wallet' as const);
    return { changeAddress: this.wallet.address, utxos };
  }

  #prepared<Built extends BuiltAnswer, Result extends SubmittedTx>(
    built: Built,
    purpose: Intent,
    resultOf: (submitted: SubmittedTx, review: Review) => Result,
  ): PreparedTx<Built, Result> {
    const { client, wallet } = this;
    const { cbor } = built;
    const intent = { ...purpose, mustExpire: typeof built.validUntil === 'number' };
    const reviewed = review(cbor, wallet, intent);
    const submit = async () => {
      const witness = await wallet.sign(cbor);
      const body = { cbor, witness, changeAddress: wallet.address };
      const { txHash } = (await client.submit.signAndSubmit(body)).data;
      if (txHash !== reviewed.txHash) {
        throw new ApiError('NOT_WHAT_WAS_ASKED', `${txHash} was submitted, not what was signed`);
      }
      return resultOf({ txHash, feeLovelace: reviewed.feeLovelace }, reviewed);
    };
    return { built, review: reviewed, submit };
  }
}

interface BuiltAnswer {
  readonly cbor: string;
  /** Unix ms from which no block takes it; null: no end. */
  readonly validUntil: number | null;
}

/** As `/order` and `/quote` take them. */
function termsOf({ assetId, side, slippage, waitFor, ttl, ...amounts }: OrderRequest) {
  const { amount, minOutput } = amounts;
  return {
    ...{ assetId, side, slippage, amount: String(amount) },
    ...(minOutput === undefined ? {} : { minOutput: String(minOutput) }),
    ...(waitFor === undefined ? {} : { waitFor }),
    ...(ttl === undefined ? {} : { ttl }),
  };
}

function same(submitted: SubmittedTx): SubmittedTx {
  return submitted;
}

/** The terms that the order must have. */
function orderIntent(request: OrderRequest, built: OrderAnswer): OrderIntent {
  const { assetId, side, amount, slippage, minOutput, maxInputLovelace } = request;
  const isSell = side === 'SELL';
  const [input, output] = isSell ? [assetId, COIN] : [COIN, assetId];
  const inputAmount = integerOf(built.inputAmount);
  const outputAmount = integerOf(built.outputAmount);
  const fits =
    built.inputAsset === input &&
    built.outputAsset === output &&
    inputAmount > 0n &&
    outputAmount > 0n &&
    (side === 'BUY_WITH_OUTPUT' ? outputAmount >= amount : inputAmount === amount);
  if (!fits) throw notAsked('the order that was built is not the one asked for.');
  if (!isSell && maxInputLovelace !== undefined && inputAmount > maxInputLovelace) {
    throw notAsked('the price went up since the quote. Look at it again.');
  }
  if (minOutput === undefined) {
    const worstPrice = worstPriceOf(inputAmount, outputAmount, slippage);
    return { kind: 'order', input, output, inputAmount, worstPrice };
  }
  const worstPrice = priceOfLeast(inputAmount, minOutput);
  return { kind: 'order', input, output, inputAmount, worstPrice };
}

function notAsked(why: string): ApiError {
  return new ApiError('NOT_WHAT_WAS_ASKED', `Not signed: ${why}`);
}

function outputRef(id: string): OutputRef {
  const ref = parseRef(id);
  if (ref === null) throw new ApiError('INVALID_PARAMS', `${id} is no <tx>:<index>`);
  return ref;
}
