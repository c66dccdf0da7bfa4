/**
 * What planners need of the chain, always read from our own ledger: outputs that a caller names are
 * taken as names only. An output of a server's key is nobody's to spend here.
 */
import { type Address, parseAddress } from '../cardano/address.ts';
import { elementsOf, MalformedCbor, readCbor } from '../cardano/cbor.ts';
import type { Deployment } from '../cardano/deployment.ts';
import { fromHex, isHex } from '../cardano/hex.ts';
import { type OutputRef, readRef, refText, type Utxo } from '../cardano/output.ts';
import type { UtxoLookup } from '../chain/port.ts';
import { Failure, invalid } from '../runtime/errors.ts';
import type { PlannedCollateral } from './plan.ts';

export type ScriptName = keyof Deployment['scripts'];
/** The outputs that hold the deployment's scripts. */
export type References = Readonly<Record<ScriptName, Utxo>>;

/** One collateral output serves any number of transactions; a few are asked for to find one. */
const COLLATERAL_CANDIDATES = 20;
const BEFORE_ALL = -1;
/** Of larger wallets the first by reference; selection takes few of them anyway. */
const MOST_WALLET_OUTPUTS = 5000;
const LEAST_COLLATERAL_LOVELACE = 3_000_000n;

export function serverKeyHashes(deployment: Deployment): ReadonlySet<string> {
  const { executorKeyHash, feeKeyHash, collateralKeyHash } = deployment;
  return new Set([executorKeyHash, feeKeyHash, collateralKeyHash]);
}

export async function lookUpReferences(
  lookup: UtxoLookup,
  { scripts }: Deployment,
): Promise<References | Failure> {
  const { launchPolicy, curvePool, order, ammPool, vesting } = scripts;
  const wanted = [launchPolicy, curvePool, order, ammPool, vesting];
  const states = await lookup.byRefs(wanted.map(({ ref }) => ref));
  const found = states.map((state) => (state.state === 'unspent' ? state.utxo : null));
  const [a, b, c, d, e] = found;
  if (!a || !b || !c || !d || !e) {
    const missing = wanted.filter((_, index) => !found[index]).map(({ ref }) => refText(ref));
    const message = `the deployment's scripts are not on the chain: ${missing.join(', ')}`;
    return new Failure('SERVER_ERROR', message);
  }
  return { launchPolicy: a, curvePool: b, order: c, ammPool: d, vesting: e };
}

/** The server's own collateral: pure ADA, never spent, returned to where it lies. */
export async function lookUpCollateral(
  lookup: UtxoLookup,
  { collateralKeyHash, scripts }: Deployment,
): Promise<PlannedCollateral | Failure> {
  // Ours was placed by the transaction that placed the scripts; anyone may send dust before it.
  const own = { txHash: scripts.order.ref.txHash, index: BEFORE_ALL };
  for (const from of [{ after: own }, {}]) {
    const page = { limit: COLLATERAL_CANDIDATES, ...from };
    const held = await lookup.byPaymentKey(collateralKeyHash, 'spendable', page);
    const utxo = held.find(isCollateral);
    if (utxo !== undefined) return { utxos: [utxo], returnAddress: utxo.output.address };
  }
  return new Failure('SERVER_ERROR', 'the server has no collateral left');
}

function isCollateral({ output: { value, scriptHash } }: Utxo): boolean {
  const isPure = value.assets.size === 0 && scriptHash === null;
  return isPure && value.lovelace >= LEAST_COLLATERAL_LOVELACE;
}

/** What the owner of an address may spend: its key's outputs and its change in the mempool. */
export async function lookUpWallet(
  lookup: UtxoLookup,
  deployment: Deployment,
  { payment }: Address,
  path: string,
): Promise<readonly Utxo[] | Failure> {
  if (serverKeyHashes(deployment).has(payment.hash)) {
    return invalid(path, "this address is the server's");
  }
  return lookup.byPaymentKey(payment.hash, 'wallet', { limit: MOST_WALLET_OUTPUTS });
}

/** The reference of a CIP-30 output, hex CBOR `[input, output]`; its content is not read. */
export function parseUnspent(hex: string): OutputRef | null {
  if (!isHex(hex)) return null;
  try {
    const bytes = fromHex(hex);
    const [input, output] = elementsOf(readCbor(bytes));
    return input === undefined || output === undefined ? null : readRef(bytes, input);
  } catch (error) {
    if (error instanceof MalformedCbor) return null;
    throw error;
  }
}

/** The named outputs, each once; `path` names the input field in what is refused. */
export async function lookUpNamed(
  lookup: UtxoLookup,
  deployment: Deployment,
  refs: readonly OutputRef[],
  path: string,
): Promise<readonly Utxo[] | Failure> {
  const once = [...new Map(refs.map((ref) => [refText(ref), ref])).values()];
  const states = await lookup.byRefs(once);
  const servers = serverKeyHashes(deployment);
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
