/**
 * Layouts of the datums on the chain, read strictly: an extra field, another constructor or a wrong
 * kind of value is no datum of ours (null). Source: onchain.md, section Outputs.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import type { SplashFees } from '../../engine/market/splash.ts';
import type { Address, Credential } from '../codec/address.ts';
import { blake2b224, blake2b256 } from '../codec/hash.ts';
import { fromHex } from '../codec/hex.ts';
import { compareRefs, type OutputRef } from '../codec/output.ts';
import { Constr, encodePlutusData, type PlutusData } from '../codec/plutusData.ts';
import { isAmount, isOutputIndex, isRatioTerm } from './bounds.ts';

const NO_BYTES = '';

export function assetData(asset: AssetId): Constr {
  const [policy = NO_BYTES, name = NO_BYTES] = asset.split('.');
  return new Constr(0, [policy, name]);
}

export function readAssetData(data: PlutusData | undefined): AssetId | null {
  const [policy, name] = fieldsOf(data, 2) ?? [];
  if (typeof policy !== 'string' || typeof name !== 'string') return null;
  if (policy === NO_BYTES) return name === NO_BYTES ? '.' : null;
  return policy.length === 56 && name.length <= 64 ? `${policy}.${name}` : null;
}

function credentialData({ kind, hash }: Credential): Constr {
  return new Constr(kind === 'key' ? 0 : 1, [hash]);
}

function readCredential(data: PlutusData | undefined): Credential | null {
  if (!(data instanceof Constr) || data.fields.length !== 1) return null;
  const [hash] = data.fields;
  if (typeof hash !== 'string' || hash.length !== 56 || data.index > 1) return null;
  return { kind: data.index === 0 ? 'key' : 'script', hash };
}

export function addressData({ payment, stake }: Address): Constr {
  const stakeData =
    stake === null ? new Constr(1, []) : new Constr(0, [new Constr(0, [credentialData(stake)])]);
  return new Constr(0, [credentialData(payment), stakeData]);
}

export function readAddressData(
  data: PlutusData | undefined,
  network: Address['network'],
): Address | null {
  const [paymentData, stakeData] = fieldsOf(data, 2) ?? [];
  const payment = readCredential(paymentData);
  if (payment === null || !(stakeData instanceof Constr)) return null;
  if (stakeData.index === 1 && stakeData.fields.length === 0) {
    return { network, payment, stake: null, pointer: false };
  }
  const [inner] = fieldsOf(fieldsOf(stakeData, 1)?.[0], 1) ?? [];
  const stake = readCredential(inner);
  return stake === null ? null : { network, payment, stake, pointer: false };
}

export interface PoolDatum {
  readonly nft: AssetId;
  readonly token: AssetId;
  readonly aNum: bigint;
  readonly bNum: bigint;
  readonly executor: string;
  readonly capLovelace: bigint;
  readonly witness1: string;
  readonly witness2: string;
}

export function poolData(pool: PoolDatum): Constr {
  const { nft, token, aNum, bNum, executor, capLovelace, witness1, witness2 } = pool;
  const pair = [assetData(nft), assetData('.'), assetData(token)];
  return new Constr(0, [...pair, aNum, bNum, executor, capLovelace, witness1, witness2]);
}

/** Longest text of a hash, hex. */
const HASH_LENGTH = 64;

export function readPoolData(data: PlutusData | null): PoolDatum | null {
  const fields = fieldsOf(data, 9);
  if (fields === null) return null;
  const [nft, coin, token] = fields.slice(0, 3).map(readAssetData);
  const [aNum, bNum, executor, capLovelace, witness1, witness2] = fields.slice(3);
  if (nft == null || coin !== '.' || token == null || token === '.') return null;
  if (!isRatioTerm(aNum) || !isRatioTerm(bNum) || !isAmount(capLovelace)) return null;
  // Tokens that cost nothing have no price.
  if (aNum === 0n && bNum === 0n) return null;
  if (typeof executor !== 'string' || executor.length > HASH_LENGTH) return null;
  if (typeof witness1 !== 'string' || typeof witness2 !== 'string') return null;
  return { nft, token, aNum, bNum, executor, capLovelace, witness1, witness2 };
}

export interface AmmDatum {
  readonly nft: AssetId;
  readonly token: AssetId;
  readonly lpFeePer10k: bigint;
  readonly executor: string;
  readonly creatorPkh: string;
  /** Empty for an address without stake part. */
  readonly creatorSkh: string;
  readonly owedLovelace: bigint;
  /** Policy of the settings' NFT; null: a pool of before there were settings. */
  readonly settings: string | null;
}

/** Without settings. */
const AMM_FIELDS = 8;

export function ammData(amm: AmmDatum): Constr {
  const { nft, token, lpFeePer10k, executor, creatorPkh, creatorSkh, owedLovelace } = amm;
  const pair = [assetData(nft), assetData('.'), assetData(token)];
  const settings = amm.settings === null ? [] : [amm.settings];
  const terms = [lpFeePer10k, executor, creatorPkh, creatorSkh, owedLovelace, ...settings];
  return new Constr(0, [...pair, ...terms]);
}

export function readAmmData(data: PlutusData | null): AmmDatum | null {
  const fields = fieldsOf(data, AMM_FIELDS + 1) ?? fieldsOf(data, AMM_FIELDS);
  if (fields === null) return null;
  const [nft, coin, token] = fields.slice(0, 3).map(readAssetData);
  const [lpFeePer10k, executor, creatorPkh, creatorSkh, owedLovelace] = fields.slice(3);
  const settings = fields[AMM_FIELDS] ?? null;
  if (nft == null || coin !== '.' || token == null || token === '.') return null;
  if (!isAmount(lpFeePer10k) || !isAmount(owedLovelace)) return null;
  if (typeof executor !== 'string' || executor.length > HASH_LENGTH) return null;
  if (typeof creatorPkh !== 'string' || creatorPkh.length > HASH_LENGTH) return null;
  if (typeof creatorSkh !== 'string' || creatorSkh.length > HASH_LENGTH) return null;
  if (settings !== null && typeof settings !== 'string') return null;
  return { nft, token, lpFeePer10k, executor, creatorPkh, creatorSkh, owedLovelace, settings };
}

/**
 * The pool of Splash that a launched token of mainnet graduates into: its output also holds the
 * treasury's and the royalty's earnings, which are not part of the reserves.
 */
interface SplashPoolDatum {
  readonly nft: AssetId;
  readonly token: AssetId;
  /** In the pool's output, but not the pool's. */
  readonly earnedLovelace: bigint;
  readonly earnedTokens: bigint;
  readonly fees: SplashFees;
}

const SPLASH_FIELDS = 15;
/** Fee of a trade, and the shares of treasury and royalty in it. */
const FEES = [4, 5, 6] as const;
/** Treasury and royalty, of either side in turn. */
const EARNED = [7, 8, 9, 10] as const;

export function readSplashPool(data: PlutusData | null): SplashPoolDatum | null {
  const fields = fieldsOf(data, SPLASH_FIELDS);
  if (fields === null) return null;
  const [nft, coin, token] = fields.slice(0, 3).map(readAssetData);
  if (nft == null || nft === '.' || coin !== '.' || token == null || token === '.') return null;
  const [treasuryX, treasuryY, royaltyX, royaltyY] = EARNED.map((at) => fields[at]);
  if (!isAmount(treasuryX) || !isAmount(royaltyX)) return null;
  if (!isAmount(treasuryY) || !isAmount(royaltyY)) return null;
  const [feeNum, treasuryFee, royaltyFee] = FEES.map((at) => fields[at]);
  if (!isAmount(feeNum) || !isAmount(treasuryFee) || !isAmount(royaltyFee)) return null;
  return {
    ...{ nft, token, fees: { feeNum, treasuryFee, royaltyFee } },
    earnedLovelace: treasuryX + royaltyX,
    earnedTokens: treasuryY + royaltyY,
  };
}

export interface OrderDatum {
  readonly redeemer: Address;
  readonly input: AssetId;
  readonly output: AssetId;
  /** Output per input, at worst. */
  readonly worstPrice: { readonly numerator: bigint; readonly denominator: bigint };
  readonly feeLovelace: bigint;
  readonly depositLovelace: bigint;
  readonly executor: string;
  readonly refundAfterMs: bigint;
  readonly owner: string;
  /** NFT of the one pool that may fill it; null: the order's layout names none. */
  readonly poolNft: AssetId | null;
}

/** By an order's first field, its tag. A later layout has the pool behind the fields of '01'. */
const ORDER_LAYOUTS = {
  '01': { fields: 10, namesPool: false },
  '02': { fields: 11, namesPool: true },
} as const;
export type OrderLayout = keyof typeof ORDER_LAYOUTS;

/** Layout of deployment files without a layout, and layout of new deployments. */
export const OLDEST_LAYOUT: OrderLayout = '01';
export const NEWEST_LAYOUT: OrderLayout = '02';

function isOrderLayout(tag: unknown): tag is OrderLayout {
  return typeof tag === 'string' && Object.hasOwn(ORDER_LAYOUTS, tag);
}

/** Whether an order of this layout names the one pool that may fill it. */
export function namesPool(layout: OrderLayout): boolean {
  return ORDER_LAYOUTS[layout].namesPool;
}

export function layoutOf({ poolNft }: Pick<OrderDatum, 'poolNft'>): OrderLayout {
  return poolNft === null ? OLDEST_LAYOUT : NEWEST_LAYOUT;
}

export function orderData(order: OrderDatum): Constr {
  const { poolNft } = order;
  const { numerator, denominator } = order.worstPrice;
  return new Constr(0, [
    layoutOf(order),
    addressData(order.redeemer),
    assetData(order.input),
    assetData(order.output),
    new Constr(0, [numerator, denominator]),
    order.feeLovelace,
    order.depositLovelace,
    order.executor,
    order.refundAfterMs,
    order.owner,
    ...(poolNft === null ? [] : [assetData(poolNft)]),
  ]);
}

/** Checks only the layout: an owner may also take back an order beyond the bounds. */
export function readOrderData(
  data: PlutusData | null,
  network: Address['network'],
): OrderDatum | null {
  const fields = data instanceof Constr && data.index === 0 ? data.fields : [];
  const [tag] = fields;
  if (!isOrderLayout(tag) || fields.length !== ORDER_LAYOUTS[tag].fields) return null;
  const redeemer = readAddressData(fields[1], network);
  const input = readAssetData(fields[2]);
  const output = readAssetData(fields[3]);
  const [numerator, denominator] = fieldsOf(fields[4], 2) ?? [];
  const [feeLovelace, depositLovelace, executor, refundAfterMs, owner, nft] = fields.slice(5);
  if (redeemer === null || input === null || output === null) return null;
  if (typeof numerator !== 'bigint' || typeof denominator !== 'bigint') return null;
  if (typeof feeLovelace !== 'bigint' || typeof depositLovelace !== 'bigint') return null;
  if (typeof refundAfterMs !== 'bigint' || typeof executor !== 'string') return null;
  if (typeof owner !== 'string') return null;
  const poolNft = readAssetData(nft);
  if (poolNft === null && namesPool(tag)) return null;
  const worstPrice = { numerator, denominator };
  const sums = { feeLovelace, depositLovelace };
  return { redeemer, input, output, worstPrice, ...sums, executor, refundAfterMs, owner, poolNft };
}

/** Settings that k of n keys may change: the executor's key, and the address for fees. */
export interface SettingsDatum {
  readonly executor: string;
  readonly fee: Address;
}

export function settingsData({ executor, fee }: SettingsDatum): Constr {
  return new Constr(0, [executor, addressData(fee)]);
}

export function readSettingsData(
  data: PlutusData | null,
  network: Address['network'],
): SettingsDatum | null {
  const [executor, feeData] = fieldsOf(data, 2) ?? [];
  const fee = readAddressData(feeData, network);
  if (typeof executor !== 'string' || executor.length !== 56 || fee === null) return null;
  return { executor, fee };
}

interface LockDatum {
  readonly unlockMs: bigint;
  readonly owner: string;
}

export function lockData({ unlockMs, owner }: LockDatum): Constr {
  return new Constr(0, [unlockMs, owner]);
}

export function readLockData(data: PlutusData | null): LockDatum | null {
  const [unlockMs, owner] = fieldsOf(data, 2) ?? [];
  if (typeof unlockMs !== 'bigint' || typeof owner !== 'string') return null;
  return owner.length === 56 ? { unlockMs, owner } : null;
}

export interface LaunchId {
  readonly seed: OutputRef;
  readonly creatorPkh: string;
  readonly creatorSkh: string;
}

export function outputRefData({ txHash, index }: OutputRef): Constr {
  return new Constr(0, [new Constr(0, [txHash]), BigInt(index)]);
}

export function readOutputRefData(data: PlutusData | null | undefined): OutputRef | null {
  const [hash, index] = fieldsOf(data, 2) ?? [];
  const [txHash] = fieldsOf(hash, 1) ?? [];
  if (typeof txHash !== 'string' || !isOutputIndex(index)) return null;
  return { txHash, index: Number(index) };
}

export function launchIdData({ seed, creatorPkh, creatorSkh }: LaunchId): Constr {
  return new Constr(0, [outputRefData(seed), creatorPkh, creatorSkh]);
}

export function readLaunchId(data: PlutusData | undefined): LaunchId | null {
  const [ref, creatorPkh, creatorSkh] = fieldsOf(data, 3) ?? [];
  const seed = readOutputRefData(ref);
  if (seed === null || typeof creatorPkh !== 'string' || typeof creatorSkh !== 'string') {
    return null;
  }
  return { seed, creatorPkh, creatorSkh };
}

/** Name of the pool NFT: the hash of the launch id as the chain serialises it. */
export function poolNftName(id: LaunchId): string {
  return blake2b256(encodePlutusData(launchIdData(id)));
}

/** Fields of `Constr 0` when there are exactly `count`. */
export function fieldsOf(
  data: PlutusData | null | undefined,
  count: number,
): readonly PlutusData[] | null {
  const fits = data instanceof Constr && data.index === 0 && data.fields.length === count;
  return fits ? data.fields : null;
}

/**
 * The name of an order before and after it is on the chain: a hash over the smallest input of its
 * transaction and its own output index, 28 bytes as hex. Source: onchain.md, section Outputs.
 */
export function beacon(inputs: readonly OutputRef[], outputIndex: number): string {
  const [first] = [...inputs].sort(compareRefs);
  if (first === undefined) throw new Error('a transaction has an input');
  const message = new Uint8Array(48);
  message.set(fromHex(first.txHash), 0);
  const indexes = new DataView(message.buffer, 32);
  indexes.setBigUint64(0, BigInt(first.index));
  indexes.setBigUint64(8, BigInt(outputIndex));
  return blake2b224(message);
}
