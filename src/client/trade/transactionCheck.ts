/**
 * Whether a transaction that a server built does what was asked, before it is signed.
 *
 * The rule: whatever is not paid back to the wallet's own address must be a payment that the intent
 * names, at most so many lovelace; nothing is minted, certified or withdrawn beside it. Inputs need
 * no look: the ledger conserves value, so what does not leave in an output comes back in one, and
 * the fee is bounded here.
 * Trusts: the server to name scripts of its deployment; datums are read in full. And not to
 *         name our output as collateral for scripts that fail: only our references would show it.
 *         And to name the market that may fill an order: only the server could tell us its NFT.
 *         The order's script asks for the worst price whatever the market is, and for nothing more,
 *         so a wrong one brings that price, or no fill and a refund.
 */
import { type Address, parseAddress } from '../../cardano/codec/address.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import { datumOf, type Output, type OutputRef, refText } from '../../cardano/codec/output.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { amountOf, type Value } from '../../cardano/codec/value.ts';
import { type OrderDatum, readLockData, readOrderData } from '../../cardano/datums/datums.ts';
import { readPartialOrder } from '../../cardano/datums/partialOrder.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';
import type { Ratio } from '../../engine/market/ratio.ts';

export type Intent = Purpose & {
  /** It was asked for with an end: one that may be submitted at any later time is not signed. */
  readonly mustExpire?: boolean;
};

type Purpose =
  | OrderIntent
  | LaunchIntent
  | LockIntent
  | TransferIntent
  /** Takes back the output at `ref`: an order that is cancelled, a lock that is open. */
  | { readonly kind: 'reclaim'; readonly ref: OutputRef };

export interface OrderIntent {
  readonly kind: 'order';
  readonly input: AssetId;
  readonly output: AssetId;
  readonly inputAmount: bigint;
  /** Output per input; the order must not take less. */
  readonly worstPrice: Ratio;
}

interface LaunchIntent {
  readonly kind: 'launch';
  readonly asset: AssetId;
  /** UTF-8 of it is the asset name. */
  readonly name: string;
  readonly initialLovelace: bigint;
  /** Tokens of the initial buy. */
  readonly userTokens: bigint;
}

interface LockIntent {
  readonly kind: 'lock';
  readonly asset: AssetId;
  readonly amount: bigint;
  readonly stages: number;
  readonly lockEndMs: number;
}

interface TransferIntent {
  readonly kind: 'transfer';
  readonly to: string;
  /** null: everything that the wallet gives. */
  readonly value: Value | null;
}

/** Whose transaction it is. */
export interface Owner {
  readonly address: string;
  readonly keyHash: string;
}

const MAX_FEE_LOVELACE = 3_000_000n;
const MAX_COLLATERAL_LOVELACE = 5_000_000n;
/** Executor fee and deposit of an order. */
const MAX_ON_TOP_LOVELACE = 5_000_000n;
/** Of each stage of a lock, beside its tokens. */
const MAX_LOCK_LOVELACE = 3_000_000n;
/** What the pool keeps, the metadata's output and the least launch fee. */
const MAX_LAUNCH_LOVELACE = 20_000_000n;

/** null, or in words what is wrong. */
export function objectionTo(tx: Transaction, owner: Owner, intent: Intent): string | null {
  const paidAway = tx.outputs.filter(({ address }) => address !== owner.address);
  return generalObjection(tx, owner, intent) ?? objectionToPayments(tx, paidAway, owner, intent);
}

function generalObjection(tx: Transaction, owner: Owner, intent: Intent): string | null {
  if (!tx.isValid) return 'it announces that its scripts fail';
  if (tx.hasCertificates || tx.hasWithdrawals) return 'it touches stake';
  if (intent.mustExpire === true && tx.validToSlot === null) return 'it never expires';
  if (tx.feeLovelace > MAX_FEE_LOVELACE) return `its fee is ${tx.feeLovelace} lovelace`;
  if (tx.mint.size > 0 && intent.kind !== 'launch') return 'it mints or burns';
  if (tx.collateralInputs.length > 0) {
    const collateral = tx.totalCollateralLovelace;
    if (collateral === null || collateral > MAX_COLLATERAL_LOVELACE) {
      return 'it risks too much collateral';
    }
  }
  const stranger = tx.requiredSigners.find((signer) => signer !== owner.keyHash);
  return stranger === undefined ? null : `it needs the signature of ${stranger}`;
}

function objectionToPayments(
  tx: Transaction,
  paidAway: readonly Output[],
  owner: Owner,
  intent: Intent,
): string | null {
  switch (intent.kind) {
    case 'order':
      return objectionToOrder(paidAway, owner, intent);
    case 'launch':
      return objectionToLaunch(tx, paidAway, owner, intent);
    case 'lock':
      return objectionToLock(paidAway, owner, intent);
    case 'transfer':
      return objectionToTransfer(tx, paidAway, owner, intent);
    case 'reclaim': {
      const ref = refText(intent.ref);
      if (!tx.inputs.some((input) => refText(input) === ref)) return `it does not spend ${ref}`;
      return paidAway.length > 0 ? 'it pays someone else' : null;
    }
  }
}

function objectionToOrder(
  paidAway: readonly Output[],
  owner: Owner,
  { input, output, inputAmount, worstPrice }: OrderIntent,
): string | null {
  const [order, ...more] = paidAway;
  if (order === undefined || more.length > 0) return 'it pays others than the one order';
  const own = parseAddress(owner.address);
  if (own === null || !isScriptOf(order.address, own)) return 'the order is at an unknown address';
  const datum = readAnyOrder(order, own.network);
  if (datum === null) return 'the order has no datum of an order';
  if (!isSame(datum.redeemer, own) || datum.owner !== owner.keyHash) return 'the order is not ours';
  if (datum.input !== input || datum.output !== output) return 'the order trades other assets';
  const { numerator, denominator } = datum.worstPrice;
  if (denominator <= 0n || numerator * worstPrice.denominator < worstPrice.numerator * denominator)
    return 'the order takes a worse price';
  const { value } = order;
  const onTop = datum.onTopLovelace ?? value.lovelace - (input === COIN ? inputAmount : 0n);
  if (onTop < 0n || onTop > MAX_ON_TOP_LOVELACE) {
    return `the order costs ${onTop} lovelace on top`;
  }
  const lovelace = (input === COIN ? inputAmount : 0n) + onTop;
  const tokens = input === COIN ? 0 : 1;
  if (value.lovelace !== lovelace || value.assets.size !== tokens) return 'the order holds more';
  if (datum.amount !== null && datum.amount !== inputAmount) return 'the order offers more';
  if (input !== COIN && amountOf(value, input) !== inputAmount) return 'the order offers more';
  return null;
}

interface OrderTerms
  extends Pick<OrderDatum, 'redeemer' | 'owner' | 'input' | 'output' | 'worstPrice'> {
  /** Fees and deposit; null: all that the output holds beside the offer. */
  readonly onTopLovelace: bigint | null;
  /** null: what the output holds. */
  readonly amount: bigint | null;
}

/** An order of the launchpad, or a limit order of Splash, which says what it offers. */
function readAnyOrder(output: Output, network: Address['network']): OrderTerms | null {
  const data = datumOf(output);
  const order = readOrderData(data, network);
  if (order !== null) {
    return { ...order, onTopLovelace: order.feeLovelace + order.depositLovelace, amount: null };
  }
  const limit = readPartialOrder(data, network);
  return limit?.tag === '00' ? { ...limit, onTopLovelace: null } : null;
}

function objectionToLaunch(
  tx: Transaction,
  paidAway: readonly Output[],
  owner: Owner,
  { asset, name, initialLovelace, userTokens }: LaunchIntent,
): string | null {
  const supply = tx.mint.get(asset);
  const others = [...tx.mint].filter(([id]) => id !== asset);
  if (supply === undefined || supply <= 0n) return 'it does not mint the token';
  if (others.length !== 1 || others[0]?.[1] !== 1n) return 'it mints more than token and pool NFT';
  if (asset.split('.')[1] !== toHex(new TextEncoder().encode(name))) return 'another name';
  const own = tx.outputs.filter(({ address }) => address === owner.address);
  const kept = own.reduce((sum, { value }) => sum + amountOf(value, asset), 0n);
  if (kept !== userTokens) return `it keeps ${kept} tokens for us, not ${userTokens}`;
  if (initialLovelace > 0n && userTokens === 0n) return 'the initial buy brings nothing';
  const minted = new Set(tx.mint.keys());
  let lovelace = 0n;
  for (const { value } of paidAway) {
    lovelace += value.lovelace;
    if ([...value.assets.keys()].some((id) => !minted.has(id))) return 'it gives away other tokens';
  }
  const most = initialLovelace + initialLovelace / 100n + MAX_LAUNCH_LOVELACE;
  return lovelace > most ? `it pays ${lovelace} lovelace away, more than ${most}` : null;
}

function objectionToLock(
  paidAway: readonly Output[],
  owner: Owner,
  { asset, amount, stages, lockEndMs }: LockIntent,
): string | null {
  const own = parseAddress(owner.address);
  let locked = 0n;
  let lastMs = 0n;
  for (const output of paidAway) {
    const datum = readLockData(datumOf(output));
    if (own === null || !isScriptOf(output.address, own)) return 'a lock at an unknown address';
    if (datum === null || datum.owner !== owner.keyHash) return 'a lock that is not ours';
    const { lovelace, assets } = output.value;
    if (lovelace > MAX_LOCK_LOVELACE || assets.size !== 1) return 'a lock that holds more';
    locked += amountOf(output.value, asset);
    if (datum.unlockMs > lastMs) lastMs = datum.unlockMs;
  }
  if (paidAway.length !== stages) return `${paidAway.length} stages, not ${stages}`;
  if (locked !== amount) return `it locks ${locked}, not ${amount}`;
  return lastMs > BigInt(lockEndMs) ? 'it locks for longer' : null;
}

function objectionToTransfer(
  tx: Transaction,
  paidAway: readonly Output[],
  owner: Owner,
  { to, value }: TransferIntent,
): string | null {
  if (paidAway.some(({ address }) => address !== to)) return 'it pays someone else';
  if (value === null || to === owner.address) return null;
  const paid = tx.outputs.filter(({ address }) => address === to);
  const sum = (asset: AssetId) => paid.reduce((all, one) => all + amountOf(one.value, asset), 0n);
  const assets = new Set(paid.flatMap((one) => [...one.value.assets.keys()]));
  for (const asset of [COIN, ...assets, ...value.assets.keys()]) {
    if (sum(asset) !== amountOf(value, asset)) return `it pays ${sum(asset)} of ${asset}`;
  }
  return null;
}

/** A script's address with the owner's stake part. */
function isScriptOf(text: string, own: Address): boolean {
  const address = parseAddress(text);
  if (address === null || address.payment.kind !== 'script') return false;
  return address.network === own.network && address.stake?.hash === own.stake?.hash;
}

function isSame(a: Address, b: Address): boolean {
  return a.payment.kind === b.payment.kind
    ? a.payment.hash === b.payment.hash && a.stake?.hash === b.stake?.hash
    : false;
}
