/** Datums and redeemers of onchain.md as the test world writes them, by hand, for every field. */
import { Constr, Data, mintingPolicyToId } from '@lucid-evolution/lucid';
import {
  A_NUM,
  ALICE,
  addressData,
  asset,
  B_NUM,
  blake2b256,
  CAP,
  CREATOR,
  DEPOSIT,
  EXECUTOR,
  type Key,
  ORDER_FEE,
  START_MS,
  type World,
} from './world.ts';

export const REFUND_AFTER_MS = START_MS + 1_200_000;
export const LOVELACE = '';
export const TOKEN_NAME = '44415645';
export const NEVER_AGAIN = new Constr<Data>(9, []);

export const redeemers = {
  cancel: new Constr<Data>(0, []),
  execute: (index: number, pool: number) => new Constr<Data>(1, [BigInt(index), BigInt(pool)]),
  refund: (index: number) => new Constr<Data>(2, [BigInt(index)]),
  /** `orders`: as they are executed. */
  trade: (index: number, orders: readonly number[]) =>
    new Constr<Data>(0, [BigInt(index), orders.map(BigInt)]),
  graduate: (index: number, id: Data) => new Constr<Data>(1, [BigInt(index), id]),
  collect: (index: number, payout: number) => new Constr<Data>(1, [BigInt(index), BigInt(payout)]),
  launch: (id: Data, pool: number, token: string) =>
    new Constr<Data>(0, [id, BigInt(pool), asset(token)]),
  mintSettings: (name: string) => new Constr<Data>(0, [name]),
  mint: (name: string) => new Constr<Data>(0, [name]),
};

export interface OrderTerms {
  readonly input: string;
  readonly output: string;
  readonly worst: readonly [bigint, bigint];
  /** NFT of the pool. */
  readonly market: string;
  readonly redeemer?: string;
  readonly owner?: Key;
  readonly executor?: Key;
  readonly fee?: bigint;
}

export function orderDatum(terms: OrderTerms): Constr<Data> {
  const { input, output, worst, market, fee = ORDER_FEE } = terms;
  const { owner = ALICE, executor = EXECUTOR } = terms;
  return new Constr<Data>(0, [
    '02',
    addressData(terms.redeemer ?? owner.address),
    asset(input),
    asset(output),
    new Constr<Data>(0, [...worst]),
    fee,
    DEPOSIT,
    executor.pkh,
    BigInt(REFUND_AFTER_MS),
    owner.pkh,
    asset(market),
  ]);
}

export function launchId(seedHash: string, seedIndex: number, creator = CREATOR): Constr<Data> {
  const seed = new Constr<Data>(0, [new Constr<Data>(0, [seedHash]), BigInt(seedIndex)]);
  return new Constr<Data>(0, [seed, creator.pkh, creator.skh]);
}

export const nftName = (id: Data): string => blake2b256(Data.to(id));

export interface Ids {
  readonly id: Constr<Data>;
  readonly nft: string;
  readonly token: string;
}

/** Ids of the launch that spent output 0 of `seed`. */
export function launched(world: World, seed = 'aa', creator = CREATOR): Ids {
  const id = launchId(seed.repeat(32), 0, creator);
  const name = nftName(id);
  const token = mintingPolicyToId(world.tokenPolicy(name)) + TOKEN_NAME;
  return { id, nft: world.policyId + name, token };
}

export function curveDatum(world: World, { nft, token }: Ids, cap = CAP): Constr<Data> {
  const pair = [asset(nft), asset(LOVELACE), asset(token)];
  const terms = [A_NUM, B_NUM, EXECUTOR.pkh, cap, world.hash('ammPool'), world.settingsId];
  return new Constr<Data>(0, [...pair, ...terms]);
}

interface AmmTerms {
  readonly owed: bigint;
  readonly creator?: string;
  readonly creatorStake?: string;
  readonly lpFee?: bigint;
}

export function ammDatum(world: World, { nft, token }: Ids, terms: AmmTerms): Constr<Data> {
  const { owed, creator = CREATOR.pkh, creatorStake = CREATOR.skh, lpFee = 15n } = terms;
  const pair = [asset(nft), asset(LOVELACE), asset(token)];
  const roles = [EXECUTOR.pkh, creator, creatorStake];
  return new Constr<Data>(0, [...pair, lpFee, ...roles, owed, world.settingsId]);
}

/** The datum with one field changed. */
export const changed = (datum: Constr<Data>, field: number, to: Data): Constr<Data> =>
  new Constr<Data>(datum.index, datum.fields.with(field, to));

/** The same datum with one more field. */
export const longer = (datum: Constr<Data>): Constr<Data> =>
  new Constr<Data>(datum.index, [...datum.fields, 0n]);
