/** Transactions as anybody may write them, for recognition to judge: honest ones, look-alikes. */
import assert from 'node:assert/strict';
import { formatAddress, scriptAddress } from '../../src/cardano/codec/address.ts';
import {
  encodeAssets,
  encodeOutput,
  encodeRefs,
  type NewOutput,
} from '../../src/cardano/codec/encode.ts';
import type { OutputRef } from '../../src/cardano/codec/output.ts';
import { Constr, type PlutusData } from '../../src/cardano/codec/plutusData.ts';
import {
  decodeTransaction,
  type Redeemer,
  type Transaction,
} from '../../src/cardano/codec/transaction.ts';
import { asValue, coins, type Value } from '../../src/cardano/codec/value.ts';
import {
  launchIdData,
  type OrderDatum,
  orderData,
  type PoolDatum,
  poolData,
  poolNftName,
} from '../../src/cardano/datums/datums.ts';
import { capLovelace } from '../../src/cardano/datums/deployment.ts';
import { metadataData } from '../../src/cardano/datums/metadata.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { makeGenesis } from '../../src/cardano/validators/genesis.ts';
import { recogniseBlock } from '../../src/chain/recognise/block.ts';
import type { KnownState } from '../../src/chain/recognise/knownState.ts';
import { type Rules, rulesOf } from '../../src/chain/recognise/rules.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import { genesisPlan, keyNamed } from '../support/ledgerWorld.ts';
import { type RawPlan, rawTransaction } from '../support/rawTransaction.ts';

export const ADA = 1_000_000n;
export const { deployment } = makeGenesis(genesisPlan());
export const RULES: Rules = rulesOf(deployment);
const { scripts } = deployment;

export const ALICE = {
  network: 'testnet',
  payment: { kind: 'key', hash: keyNamed('alice').hash },
  stake: { kind: 'key', hash: keyNamed('alice/stake').hash },
  pointer: false,
} as const;
export const aliceText = formatAddress(ALICE);

export function atScript(name: keyof typeof scripts, stake: typeof ALICE.stake | null = null) {
  return scriptAddress('testnet', scripts[name].hash, stake);
}

export const NOTHING: KnownState = {
  pool: () => null,
  order: () => null,
  lock: () => null,
  isWatched: () => false,
};

/** The events of the last transaction, when all transactions are in one block of a new chain. */
export function meaningOf(...transactions: Transaction[]): MarketEvent[] {
  const last = transactions.at(-1)?.id;
  return recogniseBlock(7, transactions, NOTHING, RULES).filter(({ tx }) => tx === last);
}

export function kindsOf(...transactions: Transaction[]): string[] {
  return meaningOf(...transactions).map(({ kind }) => kind);
}

let made = 0;
/** An output that nothing is known of. */
export function someRef(): OutputRef {
  made += 1;
  return { txHash: made.toString(16).padStart(64, '0'), index: 0 };
}

export interface Action extends Omit<RawPlan, 'feeLovelace' | 'redeemers'> {
  readonly mint?: ReadonlyMap<string, bigint>;
  /** Data by position among the sorted inputs. */
  readonly spends?: Readonly<Record<number, PlutusData>>;
  readonly mints?: readonly PlutusData[];
}

export function transaction({ mint, spends = {}, mints = [], ...plan }: Action): Transaction {
  const fields = mint === undefined ? plan.fields : { ...plan.fields, 9: encodeAssets(mint) };
  const whole = { inputs: [someRef()], feeLovelace: 1n, ...plan };
  const tx = decodeTransaction(
    rawTransaction(fields === undefined ? whole : { ...whole, fields }).bytes,
  );
  const units = { memory: 0n, cpu: 0n };
  const redeemers: Redeemer[] = [
    ...Object.entries(spends).map(([index, data]): Redeemer => {
      return { purpose: 'spend', index: Number(index), data, ...units };
    }),
    ...mints.map((data, index): Redeemer => ({ purpose: 'mint', index, data, ...units })),
  ];
  return { ...tx, redeemers };
}

/** Puts its scripts' failure into a transaction: only collateral moves. */
export function failing(
  collateral: readonly OutputRef[],
  back: NewOutput,
  outputs: readonly NewOutput[],
): Transaction {
  const fields = { 13: encodeRefs(collateral), 16: encodeOutput(back) };
  return transaction({ outputs, isValid: false, fields });
}

export interface LaunchChange {
  readonly datum?: Partial<PoolDatum>;
  /** Instead of the datum. */
  readonly data?: string | null;
  readonly address?: string;
  readonly nftPolicy?: string;
  readonly nftMinted?: bigint;
  readonly tokenPolicy?: string;
  readonly supply?: bigint;
  readonly nftInPool?: bigint;
  readonly metadataAt?: string;
  readonly metadataOf?: string;
  readonly mint?: ReadonlyMap<string, bigint>;
}

export interface Launch {
  readonly tx: Transaction;
  readonly token: string;
  readonly nft: string;
  readonly pool: OutputRef;
}

const SOLD = 1_000n;

/** An honest launch with a small initial buy, but for what `change` says. */
export function launchOf(name: string, change: LaunchChange = {}): Launch {
  const seed = someRef();
  const author = { creatorPkh: ALICE.payment.hash, creatorSkh: ALICE.stake.hash };
  const nftName = poolNftName({ seed, ...author });
  const nft = `${change.nftPolicy ?? deployment.launchPolicyId}.${nftName}`;
  const policy = change.tokenPolicy ?? RULES.tokenPolicyId(nftName);
  const token = `${policy}.${Buffer.from(name).toString('hex')}`;
  const { curve, executorKeyHash: executor, settings } = deployment;
  const datum: PoolDatum = {
    nft,
    token,
    aNum: curve.aNum,
    bNum: curve.bNum,
    executor,
    capLovelace: capLovelace(deployment),
    witness1: scripts.ammPool.hash,
    witness2: settings.policyId,
    ...change.datum,
  };
  const supply = change.supply ?? curve.supply;
  const inPool = asValue(5n * ADA, [
    [nft, change.nftInPool ?? 1n],
    [token, supply - SOLD],
  ]);
  const data = change.data === undefined ? dataHex(poolData(datum)) : change.data;
  const pool = { address: change.address ?? atScript('curvePool'), value: inPool };
  const about = metadataData({
    asset: change.metadataOf ?? token,
    ticker: 'TICK',
    logoCID: 'bafkrei',
    description: 'what it says',
    launchType: 0,
    author: { pkh: author.creatorPkh, skh: author.creatorSkh },
    socials: { twitter: '', discord: '', telegram: '', website: '' },
  });
  const told = { address: change.metadataAt ?? deployment.metadataAddress, value: coins(9n * ADA) };
  const bought = { address: aliceText, value: asValue(2n * ADA, [[token, SOLD]]) };
  const minted: [string, bigint][] = [
    [nft, change.nftMinted ?? 1n],
    [token, supply],
  ];
  const tx = transaction({
    inputs: [seed],
    mint: change.mint ?? new Map(minted),
    outputs: [
      data === null ? pool : { ...pool, datum: data },
      { ...told, datum: dataHex(about) },
      bought,
    ],
    mints: [new Constr(0, [launchIdData({ seed, ...author }), 0n, 0n])],
  });
  MARKETS.set(token, nft);
  return { tx, token, nft, pool: { txHash: tx.id, index: 0 } };
}

/** NFTs of the pools that were launched here, by token. */
const MARKETS = new Map<string, string>();

export interface OrderChange {
  readonly datum?: Partial<OrderDatum>;
  readonly data?: string | null;
  readonly address?: string;
  readonly value?: Value;
}

/** An honest order for `token`, but for what `change` says. */
export function orderOf(token: string, side: 'buy' | 'sell', change: OrderChange = {}) {
  const { fees, executorKeyHash: executor } = deployment;
  const datum: OrderDatum = {
    redeemer: ALICE,
    input: side === 'buy' ? '.' : token,
    output: side === 'buy' ? token : '.',
    worstPrice: { numerator: 1n, denominator: 3n },
    feeLovelace: fees.executorFeeLovelace,
    depositLovelace: fees.orderDepositLovelace,
    executor,
    refundAfterMs: 1_800_000_000_000n,
    owner: ALICE.payment.hash,
    poolNft: MARKETS.get(token) ?? `${deployment.launchPolicyId}.00`,
    ...change.datum,
  };
  const onTop = datum.feeLovelace + datum.depositLovelace;
  const usual = side === 'buy' ? coins(5n * ADA + onTop) : asValue(onTop, [[token, 500n]]);
  const data = change.data === undefined ? dataHex(orderData(datum)) : change.data;
  const address = change.address ?? atScript('order', ALICE.stake);
  const output = { address, value: change.value ?? usual };
  const tx = transaction({ outputs: [data === null ? output : { ...output, datum: data }] });
  return { tx, ref: { txHash: tx.id, index: 0 } };
}

/** The same datum with one field more. */
export function longer(data: Constr): string {
  return dataHex(new Constr(data.index, [...data.fields, 0n]));
}

export function eventOf<Kind extends MarketEvent['kind']>(
  events: readonly MarketEvent[],
  kind: Kind,
) {
  const found = events.find((event): event is MarketEvent & { kind: Kind } => event.kind === kind);
  return found ?? assert.fail(`${kind} is among ${events.map((event) => event.kind)}`);
}
