/**
 * Looks up what planners need of the chain. Outputs that a caller names are looked up again, never
 * believed, and outputs of the server's keys are refused.
 */

import { isFault } from '../../engine/runtime/assert.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { type Address, parseAddress } from '../codec/address.ts';
import { elementsOf, readCbor } from '../codec/cbor.ts';
import { fromHex, isHex } from '../codec/hex.ts';
import { type OutputRef, readRef, refText, type Utxo } from '../codec/output.ts';
import {
  callersCollateralAddress,
  type PartialDeployment,
  type ReferenceScript,
} from '../datums/deployment.ts';
import type { UtxoLookup } from '../ledger/port.ts';
import type { PlannedCollateral } from './plan.ts';

/** Key hashes whose outputs are the server's. */
type ServerKeys = Pick<PartialDeployment, 'executorKeyHash' | 'feeKeyHash' | 'collateralKeyHash'>;

/** One collateral output serves any number of transactions; a few are asked for to find one. */
const COLLATERAL_CANDIDATES = 20;
/** Where the position of ours is unknown: sending more dust than this costs more than it harms. */
const MAX_CANDIDATES = 1000;
const BEFORE_ALL = -1;
/** From a larger wallet the first outputs by reference; selection uses few of them anyway. */
const MAX_WALLET_OUTPUTS = 5000;
const MIN_COLLATERAL_LOVELACE = 3_000_000n;

export function serverKeyHashes(keys: ServerKeys): ReadonlySet<string> {
  const { executorKeyHash, feeKeyHash, collateralKeyHash } = keys;
  return new Set([executorKeyHash, feeKeyHash, collateralKeyHash].filter((hash) => hash !== null));
}

/** A script with its reference output; refused where the deployment does not name one. */
export function scriptWithReference(
  { network, scripts }: Pick<PartialDeployment, 'network' | 'scripts'>,
  name: keyof PartialDeployment['scripts'],
): ReferenceScript | Failure {
  const script = scripts[name] ?? null;
  if (script !== null && script.ref !== null) return { hash: script.hash, ref: script.ref };
  const what = `where the ${name} script lies on ${network} is not known to this node`;
  const remedy = 'use a node whose DEPLOYMENT_FILE names it';
  return new Failure('PROTOCOL_CONFIG', `${what}, so nothing that runs it is built: ${remedy}`);
}

/** The outputs that hold these scripts, in this order. */
export async function lookUpReferences(
  lookup: UtxoLookup,
  wanted: readonly ReferenceScript[],
): Promise<readonly Utxo[] | Failure> {
  const states = await lookup.byRefs(wanted.map(({ ref }) => ref));
  const found = states.flatMap((state) => (state.state === 'unspent' ? [state.utxo] : []));
  const holds = new Map(found.map(({ ref, output }) => [refText(ref), output.scriptHash]));
  const missing = wanted.filter(({ hash, ref }) => holds.get(refText(ref)) !== hash);
  if (missing.length === 0) return found;
  const texts = missing.map(({ ref }) => refText(ref)).join(', ');
  return new Failure('SERVER_ERROR', `the deployment's scripts are not on the chain: ${texts}`);
}

type CollateralPlace = Pick<PartialDeployment, 'scripts' | 'addressNetwork'>;

/** Collateral of the executor: pure ADA, never spent, returned to where it lies. */
export async function lookUpCollateral(
  lookup: UtxoLookup,
  keyHash: string,
  place: CollateralPlace,
): Promise<PlannedCollateral | Failure> {
  const callers = callersCollateralAddress(keyHash, place.addressNetwork);
  const isExecutors = (utxo: Utxo) => utxo.output.address !== callers;
  const [utxo] = await collateralOf(lookup, keyHash, place, isExecutors);
  if (utxo !== undefined) return { utxos: [utxo], returnAddress: utxo.output.address };
  return new Failure('SERVER_ERROR', 'the server has no collateral left');
}

/**
 * Outputs that the server sets aside hold 5 ADA. Clients sign for no more than this that returns to
 * the server.
 */
const MAX_CALLERS_COLLATERAL = 10_000_000n;

/**
 * Collateral that is set aside for transactions of callers, of `outputs` at most. Callers'
 * transactions can cost at most the amount that lies there. null: there is none.
 */
export async function lookUpCallersCollateral(
  lookup: UtxoLookup,
  keyHash: string,
  place: CollateralPlace,
  outputs: number,
): Promise<PlannedCollateral | null> {
  const returnAddress = callersCollateralAddress(keyHash, place.addressNetwork);
  const isCallers = ({ output: { address, value } }: Utxo) =>
    address === returnAddress && value.lovelace <= MAX_CALLERS_COLLATERAL;
  const held = outputs === 0 ? [] : await collateralOf(lookup, keyHash, place, isCallers);
  const [utxo] = held.slice(0, outputs);
  return utxo === undefined ? null : { utxos: [utxo], returnAddress };
}

/** The outputs of the first page that has any. */
async function collateralOf(
  lookup: UtxoLookup,
  keyHash: string,
  { scripts }: CollateralPlace,
  isWanted: (utxo: Utxo) => boolean,
): Promise<readonly Utxo[]> {
  // Ours was placed by the transaction that placed the scripts; anyone may send dust before it.
  const { ref } = scripts.order;
  const behind = ref === null ? [] : [{ after: { txHash: ref.txHash, index: BEFORE_ALL } }];
  const few = behind.map((from) => ({ limit: COLLATERAL_CANDIDATES, ...from }));
  for (const page of [...few, { limit: MAX_CANDIDATES }]) {
    const held = await lookup.byPaymentKey(keyHash, 'spendable', page);
    const found = held.filter((utxo) => isCollateral(utxo) && isWanted(utxo));
    if (found.length > 0) return found;
  }
  return [];
}

/** The wallet's first fit output, or else all outputs that may serve; null: none may. */
export function walletCollateral(
  wallet: readonly Utxo[],
  returnAddress: string,
): PlannedCollateral | null {
  const fit = wallet.find(isCollateral);
  const plain = wallet.filter(({ output }) => output.scriptHash === null);
  const utxos = fit === undefined ? plain : [fit];
  return utxos.length === 0 ? null : { utxos, returnAddress };
}

function isCollateral({ output: { value, scriptHash } }: Utxo): boolean {
  const isPure = value.assets.size === 0 && scriptHash === null;
  return isPure && value.lovelace >= MIN_COLLATERAL_LOVELACE;
}

/**
 * The outputs that an address' owner may spend: its key's outputs and its change in the mempool.
 */
export async function lookUpWallet(
  lookup: UtxoLookup,
  keys: ServerKeys,
  { payment }: Address,
  path: string,
): Promise<readonly Utxo[] | Failure> {
  if (serverKeyHashes(keys).has(payment.hash)) {
    return invalid(path, "this address is the server's");
  }
  return lookup.byPaymentKey(payment.hash, 'wallet', { limit: MAX_WALLET_OUTPUTS });
}

/** The reference of a CIP-30 output, hex CBOR `[input, output]`; its content is not read. */
export function parseUnspent(hex: string): OutputRef | null {
  if (!isHex(hex)) return null;
  try {
    const bytes = fromHex(hex);
    const [input, output] = elementsOf(readCbor(bytes));
    return input === undefined || output === undefined ? null : readRef(bytes, input);
  } catch (error) {
    if (isFault(error, 'malformedCbor')) return null;
    throw error;
  }
}

/** The named outputs, each once; refusals name the input field `path`. */
export async function lookUpNamed(
  lookup: UtxoLookup,
  keys: ServerKeys,
  refs: readonly OutputRef[],
  path: string,
): Promise<readonly Utxo[] | Failure> {
  const once = [...new Map(refs.map((ref) => [refText(ref), ref])).values()];
  const states = await lookup.byRefs(once);
  const servers = serverKeyHashes(keys);
  const utxos: Utxo[] = [];
  for (const [index, ref] of once.entries()) {
    const state = states[index];
    if (state === undefined || state.state === 'unknown') {
      return invalid(path, `${refText(ref)} is no output that this ledger knows`);
    }
    if (state.state === 'spent') return invalid(path, `${refText(ref)} is spent`);
    const payment = parseAddress(state.utxo.output.address)?.payment;
    if (payment?.kind !== 'key') return invalid(path, `${refText(ref)} belongs to no key`);
    if (servers.has(payment.hash)) return invalid(path, `${refText(ref)} is the server's`);
    utxos.push(state.utxo);
  }
  return utxos;
}
