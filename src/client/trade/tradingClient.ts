/**
 * A wallet's actions on the market, each from request to accepted transaction: have it built, check
 * the bytes against the request, sign, submit. The command line, the simulated traders and the page
 * share it.
 *
 * `prepare…` stops before the signature, so that a person can review; the others go through.
 * Rejects with `ApiError`. The client derives the required payments from the request, never from
 * the answer.
 */
import { parseAddress } from '../../cardano/codec/address.ts';
import { type OutputRef, parseRef, refText } from '../../cardano/codec/output.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';
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
import { boundOf, hundredthsOf, type OrderBound } from './bound.ts';
import { cleanedBlob } from './cleanPicture.ts';
import { launchTerms } from './launchCheck.ts';
import type { OrderIntent } from './orderCheck.ts';
import { namesCollateral, type Review, review } from './review.ts';
import { type Intent, MAX_CLOCK_MS } from './transactionCheck.ts';
import { integerOf, refOfUtxo, utxosOf, type WalletUtxo } from './utxo.ts';
import type { TradingWallet } from './wallet.ts';

export interface OrderRequest {
  readonly assetId: AssetId;
  readonly side: OrderBody['side'];
  /** Lovelace of a BUY, tokens of the others. */
  readonly amount: bigint;
  readonly slippage: OrderBody['slippage'];
  /** The least output that the order accepts; replaces the quote less slippage. */
  readonly minOutput?: bigint;
  /** Seconds: a limit order, which waits until the pool gives `minOutput`, or may be given back. */
  readonly waitFor?: number;
  /** The most input of a BUY_WITH_OUTPUT; replaces the quote plus slippage. `infinity` needs it. */
  readonly maxInputLovelace?: bigint;
  /** Seconds for which a block may take it; absent: the server's default, 0: no end. */
  readonly ttl?: number;
}

type OfWallet = 'changeAddress' | 'utxos' | 'collaterals';

export interface LaunchRequest extends Omit<LaunchForm, OfWallet | 'initialDeposit'> {
  /** Lovelace of the initial buy; 0: none. */
  readonly initialLovelace: bigint;
}

export interface TransferRequest {
  readonly to: string;
  readonly lovelace: bigint | 'max';
  readonly assets: ReadonlyMap<AssetId, bigint>;
  /** Exactly these, as CIP-30 CBOR; absent: the wallet's outputs. */
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
  /** The expected output at the moment of the quote, and the least that the order accepts. */
  readonly outputAmount: bigint;
  readonly minimumOutput: bigint;
  /** Lovelace in the order's output. */
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

/** Between the quote and the order, an order's time to live may grow by this many milliseconds. */
const MAX_DELAY_MS = 600_000n;

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

  /**
   * The client requests a quote here and compares the bytes with the quote and with the request's
   * bounds; it computes missing bounds from that quote. Rejects with PRICE_MOVED where the pool
   * gives less by now, or takes more: quote again, and ask whose money it is.
   */
  async prepareOrder(request: OrderRequest): Promise<PreparedOrder> {
    const quote = await this.quote(request);
    const bound = orderBound(request, quote);
    const terms = termsOf({ ...request, minOutput: bound.minOutput });
    const body = { ...terms, ...(await this.#funding()) };
    const { data: built } = await this.client.build.order(body);
    const intent = orderIntent(request, bound, quote, built);
    const prepared = await this.#prepared(built, intent, (submitted, { payments }) => {
      const { input, output, inputAmount, minOutput } = intent;
      const [order] = payments;
      return {
        ...submitted,
        id: refText({ txHash: submitted.txHash, index: order?.index ?? 0 }),
        beacon: built.beacon,
        venue: built.venue,
        ...{ input, output, inputAmount },
        outputAmount: integerOf(quote.outputAmount),
        minimumOutput: minOutput,
        orderLovelace: order?.value.lovelace ?? 0n,
      };
    });
    return { ...prepared, terms: signedTerms(quote, intent, prepared.review) };
  }

  /** The picture is uploaded without EXIF, comments and what else does not draw it. */
  async prepareLaunch(asked: LaunchRequest): Promise<PreparedTx<LaunchAnswer, LaunchedToken>> {
    const request = { ...asked, image: await cleanedBlob(asked.image) };
    const { initialLovelace, ...info } = request;
    const { data: config } = await this.client.build.protocolConfig();
    const terms = await launchTerms(request, config);
    const funding = { ...(await this.#funding()), collaterals: null };
    const form = { ...info, ...funding, initialDeposit: String(initialLovelace) };
    const { data: built } = await this.client.build.launch(form);
    const { assetId: asset } = built;
    const { logoCID: logoCid, userTokens } = terms;
    const mustExpire = request.ttl !== 0;
    const intent = { ...terms, kind: 'launch', asset, mustExpire } as const;
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
    const { timestamp } = (await this.client.server.time()).data;
    const { tip } = (await this.client.server.ready()).data;
    const nowMs = this.client.nowMs();
    const claimedMs = [timestamp, ...(tip.time === null ? [] : [tip.time * 1000])];
    // Later than our own clock, it would open the stages later than they were asked for.
    const startsMs = [nowMs, ...claimedMs.filter((startMs) => startMs <= nowMs + MAX_CLOCK_MS)];
    const scriptHash = await this.#lockScript();
    const { data: built } = await this.client.vesting.createLock(body);
    const when = { stages, startsMs, lockEndMs };
    const intent = { kind: 'lock', asset: assetId, amount, ...when, scriptHash } as const;
    return this.#prepared(built, intent, same);
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
    return this.#prepared(built, { kind: 'transfer', to, lovelace, assets }, same);
  }

  /** null: a node of mainnet knows too little of its launchpad to say. */
  async #lockScript(): Promise<string | null> {
    try {
      const { data: config } = await this.client.build.protocolConfig();
      return config.addresses.scripts.vesting?.hash ?? null;
    } catch (error) {
      if (error instanceof ApiError && error.cause === 'PROTOCOL_CONFIG') return null;
      throw error;
    }
  }

  /** References of the wallet's outputs, where some might be lost as collateral. */
  async #ownRefs(cbor: string): Promise<ReadonlySet<string>> {
    if (!namesCollateral(cbor)) return new Set();
    const own = await this.wallet.utxos();
    const refs = own === null ? (await this.utxos()).map(({ ref }) => ref) : own.map(refOfUtxo);
    return new Set(refs.map(refText));
  }

  /** The wallet whose outputs pay and which receives the change. */
  async #funding() {
    const utxos = (await this.wallet.utxos()) ?? ('splash-wallet' as const);
    return { changeAddress: this.wallet.address, utxos };
  }

  async #prepared<Built extends BuiltAnswer, Result extends SubmittedTx>(
    built: Built,
    intent: Intent,
    resultOf: (submitted: SubmittedTx, review: Review) => Result,
  ): Promise<PreparedTx<Built, Result>> {
    const { client, wallet } = this;
    const { cbor } = built;
    // Each has an end, unless its request said otherwise.
    const ending = { mustExpire: true, ...intent };
    const reviewed = review(cbor, wallet, ending, await this.#ownRefs(cbor));
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

/**
 * An order, with the terms that its bytes keep: `inputAmount`, the executor's fee and the deposit
 * exactly, the others at worst.
 */
export interface PreparedOrder extends PreparedTx<OrderAnswer, PlacedOrder> {
  readonly terms: QuoteAnswer;
}

/** The quote, with what the bytes say in its place. */
function signedTerms(
  quote: QuoteAnswer,
  { input, inputAmount, minOutput }: OrderIntent,
  { payments, executorFeeLovelace }: Review,
): QuoteAnswer {
  const paid = payments.reduce((sum, { value }) => sum + value.lovelace, 0n);
  const onTop = input === COIN ? paid - inputAmount : paid;
  const executorFee = String(executorFeeLovelace);
  const deposit = String(onTop - executorFeeLovelace);
  return {
    ...quote,
    inputAmount: String(inputAmount),
    minimumOutput: String(minOutput),
    fees: { ...quote.fees, executorFee, deposit },
  };
}

/** Values given by the caller stay; the rest is computed from the quote, once for all attempts. */
function orderBound(request: OrderRequest, quote: QuoteAnswer): OrderBound {
  const { side, amount, slippage, minOutput, maxInputLovelace } = request;
  if (side === 'BUY_WITH_OUTPUT' && slippage === 'infinity' && maxInputLovelace === undefined) {
    const message =
      'BUY_WITH_OUTPUT at any price needs the most that it may cost: maxInputLovelace';
    throw new ApiError('INVALID_PARAMS', message);
  }
  const found = boundOf(side, amount, quote, hundredthsOf(slippage));
  const maxInput = side === 'BUY_WITH_OUTPUT' ? (maxInputLovelace ?? found.maxInput) : amount;
  return { maxInput, minOutput: minOutput ?? found.minOutput };
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

/**
 * The terms that the order must have; from the answer it takes only the value that the server may
 * choose: the input.
 */
function orderIntent(
  { assetId, side, ttl }: OrderRequest,
  { maxInput, minOutput }: OrderBound,
  { fees, orderScript, expiresAt }: QuoteAnswer,
  built: OrderAnswer,
): OrderIntent & Pick<Intent, 'mustExpire'> {
  const isSell = side === 'SELL';
  const inputAmount = side === 'BUY_WITH_OUTPUT' ? integerOf(built.inputAmount) : maxInput;
  if (inputAmount === 0n || inputAmount > maxInput) {
    const what = `it takes ${inputAmount} lovelace now, more than ${maxInput}`;
    throw new ApiError('PRICE_MOVED', `Not signed: ${what}. Quote again, and look at the price.`);
  }
  return {
    kind: 'order',
    input: isSell ? assetId : COIN,
    output: isSell ? COIN : assetId,
    ...{ inputAmount, minOutput, scriptHash: orderScript },
    feeLovelace: integerOf(fees.executorFee),
    depositLovelace: integerOf(fees.deposit),
    refundBeforeMs: expiresAt === 0 ? null : BigInt(expiresAt) + MAX_DELAY_MS,
    mustExpire: ttl !== 0,
  };
}

function outputRef(id: string): OutputRef {
  const ref = parseRef(id);
  if (ref === null) throw new ApiError('INVALID_PARAMS', `${id} is no <tx>:<index>`);
  return ref;
}
