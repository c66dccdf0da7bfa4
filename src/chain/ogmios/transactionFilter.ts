/**
 * Decides on the node's JSON, and without reading the whole JSON, which transactions may matter to
 * the market. A transaction passes if it has an output at one of the deployment's scripts or at its
 * metadata address (by payment part), an output or a mint of a known policy, or an input that
 * spends a watched output. Recognition needs no other transaction. An output at a script that other
 * markets use too counts only if it holds or names a known policy.
 *
 * Known policies come from the watch list, from the mint of a launch, and from outputs that hold a
 * pool's NFT. Memory is bounded by the launched tokens and their unspent outputs.
 *
 * Undo: a spent output stays watched until its spending is final (`FilterMatch`), and a rolled-back
 * block removes its outputs. Policies stay: then more transactions match, never fewer.
 */

import { addressText, type Credential, parseAddress } from '../../cardano/codec/address.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import { type JsonObject, listOf, objectOf, unreadable } from '../../cardano/codec/json.ts';
import {
  type PartialDeployment,
  SCRIPT_NAMES,
  type ScriptName,
  SHARED_SCRIPTS,
} from '../../cardano/datums/deployment.ts';
import { signersHash } from '../../cardano/datums/signers.ts';
import type { RefText } from '../../engine/market/events.ts';
import type { FilterTargets, WatchList } from './messages.ts';

/** Five bits a character: the head of an address and the first 222 bits of its payment part. */
const PREFIX_CHARACTERS = 46;
/** How CBOR, as hex, begins a byte string of 28 bytes. */
const HASH_HEAD = '581c';
const HASH_CHARACTERS = 56;

/** Changes of a transaction: outputs that are watched from now on, and watched ones it spent. */
export interface FilterMatch {
  readonly made: RefText[];
  readonly spent: RefText[];
}

export class TransactionFilter {
  readonly #launchPolicy: string;
  readonly #addresses: ReadonlySet<string>;
  readonly #shared: ReadonlySet<string>;
  readonly #under: TransactionFilter | null;
  readonly #policies = new Set<string>();
  readonly #refs = new Set<RefText>();

  /** `under`: a filter whose policies and outputs also count here. */
  constructor(
    { launchPolicyId }: FilterTargets,
    addresses: ReadonlySet<string>,
    shared: ReadonlySet<string>,
    under: TransactionFilter | null = null,
  ) {
    this.#launchPolicy = launchPolicyId;
    this.#addresses = addresses;
    this.#shared = shared;
    this.#under = under;
  }

  static of(targets: FilterTargets): TransactionFilter {
    const { credentials, shared } = targets;
    const [alone, others] = [credentials, shared].map((list) => new Set(list.flatMap(prefixes)));
    return new TransactionFilter(targets, alone ?? new Set(), others ?? new Set());
  }

  /** A copy for pending transactions: it also learns from them, this filter does not. */
  forMempool(): TransactionFilter {
    const targets = { credentials: [], shared: [], launchPolicyId: this.#launchPolicy };
    return new TransactionFilter(targets, this.#addresses, this.#shared, this);
  }

  /** Forgets all but these. */
  reset({ policies, refs }: WatchList): void {
    this.#policies.clear();
    this.#refs.clear();
    this.#policies.add(this.#launchPolicy);
    for (const policy of policies) this.#policies.add(policy);
    for (const ref of refs) this.#refs.add(ref);
  }

  /** Removes spent outputs whose spending is final. */
  forget(refs: readonly RefText[]): void {
    for (const ref of refs) this.#refs.delete(ref);
  }

  /** Applies the transaction; null: it does not matter here. Throws `unreadableMessage`. */
  match(tx: JsonObject, id: string): FilterMatch | null {
    const match: FilterMatch = { made: [], spent: [] };
    this.#inputs(tx.inputs, match);
    this.#inputs(tx.collaterals, match);
    const mints = this.#mint(tx.mint);
    const outputs = listOf(tx.outputs, 'outputs');
    const known = this.#policies.size;
    this.#outputs(outputs, id, match);
    // An output may have told of a policy that outputs before it hold.
    if (this.#policies.size > known) {
      match.made.length = 0;
      this.#outputs(outputs, id, match);
    }
    // If the scripts failed, this is the one output that there is then, behind all others.
    if (tx.collateralReturn !== undefined && this.#output(tx.collateralReturn)) {
      match.made.push(`${id}:${outputs.length}`);
    }
    for (const ref of match.made) this.#refs.add(ref);
    return mints || match.made.length > 0 || match.spent.length > 0 ? match : null;
  }

  isWatched(ref: RefText): boolean {
    return this.#refs.has(ref) || this.#under?.isWatched(ref) === true;
  }

  isKnown(policy: string): boolean {
    return this.#policies.has(policy) || this.#under?.isKnown(policy) === true;
  }

  #inputs(list: unknown, { spent }: FilterMatch): void {
    for (const input of listOf(list, 'inputs')) {
      const ref = refOf(input);
      if (this.isWatched(ref)) spent.push(ref);
    }
  }

  /** Every policy that a launch mints becomes a known policy. */
  #mint(value: unknown): boolean {
    if (value === undefined) return false;
    const mint = objectOf(value, 'mint');
    if (Object.hasOwn(mint, this.#launchPolicy)) {
      for (const policy in mint) this.#policies.add(policy);
      return true;
    }
    for (const policy in mint) if (this.isKnown(policy)) return true;
    return false;
  }

  #outputs(outputs: readonly unknown[], id: string, { made }: FilterMatch): void {
    for (let index = 0; index < outputs.length; index += 1) {
      if (this.#output(outputs[index])) made.push(`${id}:${index}`);
    }
  }

  #output(value: unknown): boolean {
    const { address, value: held, datum } = objectOf(value, 'an output');
    if (typeof address !== 'string') throw unreadable('an output has no address');
    const assets = objectOf(held, 'the value of an output');
    if (Object.hasOwn(assets, this.#launchPolicy)) {
      for (const policy in assets) if (policy !== 'ada') this.#policies.add(policy);
    }
    for (const policy in assets) if (this.isKnown(policy)) return true;
    const prefix = address.slice(0, prefixLength(address));
    if (this.#addresses.has(prefix)) return true;
    return this.#shared.has(prefix) && typeof datum === 'string' && this.#names(datum);
  }

  /** Whether a datum may name a known policy: a byte string of 28 bytes. */
  #names(datum: string): boolean {
    for (let at = datum.indexOf(HASH_HEAD); at !== -1; at = datum.indexOf(HASH_HEAD, at + 1)) {
      const start = at + HASH_HEAD.length;
      if (this.isKnown(datum.slice(start, start + HASH_CHARACTERS))) return true;
    }
    return false;
  }
}

/** Spent outputs of a transaction, as texts. */
export function spentBy(tx: JsonObject): RefText[] {
  const list = tx.spends === 'collaterals' ? tx.collaterals : tx.inputs;
  return listOf(list, 'inputs').map(refOf);
}

function refOf(value: unknown): RefText {
  const { transaction, index } = objectOf(value, 'an input');
  const { id } = objectOf(transaction, 'the transaction of an input');
  return `${id}:${index}`;
}

function prefixLength(address: string): number {
  return address.lastIndexOf('1', 9) + 1 + PREFIX_CHARACTERS;
}

/** The beginnings of all addresses with this payment part, whatever their stake part is. */
function prefixes({ kind, hash }: Credential): string[] {
  const first = kind === 'script' ? 1 : 0;
  const heads = [0, 2, 4, 6].flatMap((stake) => [0, 1].map((net) => ((first + stake) << 4) | net));
  return heads.map((head) => {
    const text = addressText(Buffer.concat([Uint8Array.of(head), fromHex(hash + hash)]));
    return text.slice(0, prefixLength(text));
  });
}

type FilteredDeployment = Pick<
  PartialDeployment,
  'launchPolicyId' | 'metadataAddress' | 'scripts' | 'settings'
>;

/** Where transactions of a deployment leave outputs, and the policy under which they mint. */
export function filterTargetsOf({
  scripts,
  metadataAddress,
  launchPolicyId,
  settings,
}: FilteredDeployment): FilterTargets {
  const guards = (names: readonly ScriptName[]) =>
    names.flatMap((name): Credential[] => {
      const script = scripts[name] ?? null;
      return script === null ? [] : [{ kind: 'script', hash: script.hash }];
    });
  const own = guards(SCRIPT_NAMES.filter((name) => !SHARED_SCRIPTS.includes(name)));
  const metadata = metadataAddress === null ? null : parseAddress(metadataAddress);
  const credentials: Credential[] = metadata === null ? own : [...own, metadata.payment];
  if (settings !== undefined) credentials.push({ kind: 'script', hash: signersHash(settings) });
  return { credentials, shared: guards(SHARED_SCRIPTS), launchPolicyId };
}
