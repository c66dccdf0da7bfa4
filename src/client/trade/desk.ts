/**
 * What a wallet does on the market, each from request to accepted transaction: have it built,
 * check it against the request, sign, submit. Traders and the command line share it.
 */

import { parseAddress } from '../../cardano/codec/address.ts';
import { parseRef, refText } from '../../cardano/codec/output.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { asValue } from '../../cardano/codec/value.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';
import { worstPriceOf } from '../../engine/market/order.ts';
import type { BuiltOrder } from './answers.ts';
import type {
  ApiClient,
  LaunchRequest,
  LockRequest,
  OrderRequest,
  TransferRequest,
} from './api.ts';
import { ApiFailure } from './failure.ts';
import type { Intent } from './inspect.ts';
import type { Wallet } from './wallet.ts';

/** A transaction that the server accepted. */
export interface Done {
  readonly txHash: string;
  readonly feeLovelace: bigint;
}

export interface PlacedOrder extends Done {
  /** `<tx>:<index>` of the order's output. */
  readonly id: string;
  readonly beacon: string;
  readonly venue: 'CURVE' | 'AMM' | null;
  readonly input: AssetId;
  readonly output: AssetId;
  readonly inputAmount: bigint;
  /** What it would receive at the moment of the quote, and the least that it takes. */
  readonly outputAmount: bigint;
  readonly minimumOutput: bigint;
  /** Of the order's output. */
  readonly orderLovelace: bigint;
}

export interface Launched extends Done {
  readonly asset: AssetId;
  readonly logoCid: string;
  readonly userTokens: bigint;
}

export class Desk {
  readonly client: ApiClient;
  readonly wallet: Wallet;

  constructor(client: ApiClient, wallet: Wallet) {
    this.client = client;
    this.wallet = wallet;
  }

  async order(request: OrderRequest): Promise<PlacedOrder | ApiFailure> {
    const built = await this.client.order(request, this.wallet.address);
    if (built instanceof ApiFailure) return built;
    const terms = termsOf(request, built);
    if (terms instanceof ApiFailure) return terms;
    const done = await this.#finish(built.cbor, { kind: 'order', ...terms });
    if (done instanceof ApiFailure) return done;
    const { transaction, ...rest } = done;
    const index = transaction.outputs.findIndex(({ address }) => address !== this.wallet.address);
    const { numerator, denominator } = terms.worstPrice;
    return {
      ...rest,
      id: refText({ txHash: done.txHash, index }),
      beacon: built.beacon,
      venue: built.venue ?? null,
      input: terms.input,
      output: terms.output,
      inputAmount: terms.inputAmount,
      outputAmount: BigInt(built.outputAmount),
      minimumOutput: (terms.inputAmount * numerator + denominator - 1n) / denominator,
      orderLovelace: transaction.outputs[index]?.value.lovelace ?? 0n,
    };
  }

  async launch(request: LaunchRequest): Promise<Launched | ApiFailure> {
    const built = await this.client.launch(request, this.wallet.address);
    if (built instanceof ApiFailure) return built;
    const { name, initialLovelace } = request;
    const asset = built.assetId;
    const userTokens = BigInt(built.userOutputTokens ?? 0);
    const intent: Intent = {
      kind: 'launch',
      asset,
      name: name.trim(),
      initialLovelace,
      userTokens,
    };
    const done = await this.#finish(built.cbor, intent);
    if (done instanceof ApiFailure) return done;
    const { txHash, feeLovelace } = done;
    return { txHash, feeLovelace, asset, logoCid: built.logoCID, userTokens };
  }

  /** `id` is `<tx>:<index>` of the order's output. */
  cancel(id: string): Promise<Done | ApiFailure> {
    return this.#reclaim(id, ({ txHash, index }) =>
      this.client.cancel(txHash, index, this.wallet.address),
    );
  }

  /** `id` is `<tx>:<index>` of the lock's output. */
  withdraw(id: string): Promise<Done | ApiFailure> {
    return this.#reclaim(id, () => this.client.withdraw(id.toLowerCase(), this.wallet.address));
  }

  async lock(request: LockRequest): Promise<Done | ApiFailure> {
    const { assetId: asset, amount, stages, lockEndMs } = request;
    const built = await this.client.createLock(request, this.wallet.address);
    if (built instanceof ApiFailure) return built;
    return this.#finish(built.cbor, { kind: 'lock', asset, amount, stages, lockEndMs });
  }

  async transfer(request: TransferRequest): Promise<Done | ApiFailure> {
    const { to, lovelace, assets } = request;
    if (parseAddress(to) === null) return new ApiFailure('INVALID_PARAMS', `${to} is no address`);
    const built = await this.client.transfer(request, this.wallet.address);
    if (built instanceof ApiFailure) return built;
    const value = lovelace === 'max' ? null : asValue(lovelace, assets);
    return this.#finish(built.cbor, { kind: 'transfer', to, value });
  }

  async #reclaim(
    id: string,
    build: (ref: { txHash: string; index: number }) => Promise<{ cbor: string } | ApiFailure>,
  ): Promise<Done | ApiFailure> {
    const ref = parseRef(id);
    if (ref === null) return new ApiFailure('INVALID_PARAMS', `${id} is no <tx>:<index>`);
    const built = await build(ref);
    if (built instanceof ApiFailure) return built;
    return this.#finish(built.cbor, { kind: 'reclaim', ref });
  }

  async #finish(
    cbor: string,
    intent: Intent,
  ): Promise<(Done & { readonly transaction: Transaction }) | ApiFailure> {
    const signed = this.wallet.sign(cbor, intent);
    if (signed instanceof ApiFailure) return signed;
    const { transaction, witness } = signed;
    const sent = await this.client.signAndSubmit(cbor, witness, this.wallet.address);
    if (sent instanceof ApiFailure) return sent;
    if (sent.txHash !== transaction.id) {
      return new ApiFailure('BAD_ANSWER', `${sent.txHash} was submitted, not what we signed`);
    }
    return { txHash: sent.txHash, feeLovelace: transaction.feeLovelace, transaction };
  }
}

/** The terms that the order must have, or why what was built is not what was asked. */
function termsOf(request: OrderRequest, built: BuiltOrder) {
  const { assetId, side, amount, slippage, mostInputLovelace } = request;
  const isSell = side === 'SELL';
  const [input, output] = isSell ? [assetId, COIN] : [COIN, assetId];
  const inputAmount = BigInt(built.inputAmount);
  const outputAmount = BigInt(built.outputAmount);
  const fits =
    built.inputAsset === input &&
    built.outputAsset === output &&
    inputAmount > 0n &&
    outputAmount > 0n &&
    (side === 'BUY_WITH_OUTPUT' ? outputAmount >= amount : inputAmount === amount) &&
    (isSell || mostInputLovelace === undefined || inputAmount <= mostInputLovelace);
  if (!fits) return new ApiFailure('NOT_WHAT_WAS_ASKED', 'the order built is not the one asked');
  const worstPrice = worstPriceOf(inputAmount, outputAmount, slippage);
  return { input, output, inputAmount, worstPrice };
}
