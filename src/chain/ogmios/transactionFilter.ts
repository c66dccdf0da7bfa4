/**
 * Decides on the node's JSON, without reading all of it, which transactions may matter to the
 * market. It passes at least those that recognition needs: an output at one of the deployment's
 * scripts or at its metadata address (by payment part), an output or a mint of a known policy, an
 * input that spends a watched output.
 *
 * Known policies come from the watch list, from the mint of a launch, and from outputs that hold a
 * pool's NFT. Memory is bounded by the launched tokens and their unspent outputs.
 *
 * Undo: a spent output stays watched until its spending is final (`FilterMatch`), and a rolled-back
 * block removes its outputs. Policies stay: then more transactions match, never fewer.
 */

import { addressText, type Credential, parseAddress } from '../../cardano/codec/address.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import { type PartialDeployment, SCRIPT_NAMES } from '../../cardano/datums/deployment.ts';
import type { RefText } from '../../engine/market/events.ts';
import { type JsonObject, listOf, objectOf, unreadable } from './json.ts';
import type { FilterTargets, WatchList } from './messages.ts';

/** Five bits a character: the head of an address and the first 222 bits of its payment part. */
const PREFIX_CHARACTERS = 46;

/** What a transaction added to what is looked for, and what it spent of that. */
export interface FilterMatch {
  readonly made: RefText[];
  readonly spent: RefText[];
}

export class TransactionFilter {
  readonly #launchPolicy: string;
  readonly #addresses: ReadonlySet<string>;
  readonly #under: TransactionFilter | null;
  readonly #policies = new Set<string>();
  readonly #refs = new Set<RefText>();

  /** `under`: what that one knows is known here as well. */
  constructor(
    { launchPolicyId }: FilterTargets,
    addresses: ReadonlySet<string>,
    under: TransactionFilter | null = null,
  ) {
    this.#launchPolicy = launchPolicyId;
    this.#addresses = addresses;
    this.#under = under;
  }

  static of(targets: FilterTargets): TransactionFilter {
    return new TransactionFilter(targets, new Set(targets.credentials.flatMap(prefixes)));
  }

  /** A copy for pending transactions: it also learns from them, this filter does not. */
  forMempool(): TransactionFilter {
    const targets = { credentials: [], launchPolicyId: this.#launchPolicy };
    return new TransactionFilter(targets, this.#addresses, this);
  }

  /** Forgets all but these. */
  reset({ policies, refs }: WatchList): void {
    this.#policies.clear();
    this.#refs.clear();
    this.#policies.add(this.#launchPolicy);
    for (const policy of policies) this.#policies.add(policy);
    for (const ref of refs) this.#refs.add(ref);
  }

  /** Those that will not be taken back are gone for good. */
  forget(refs: readonly RefText[]): void {
    for (const ref of refs) this.#refs.delete(ref);
  }

  /** null: it does not matter. Takes in what it would do. Throws `unreadableMessage`. */
  match(tx: JsonObject, id: string): FilterMatch | null {
    const match: FilterMatch = { made: [], spent: [] };
    this.#inputs(tx.inputs, match);
    this.#inputs(tx.collaterals, match);
    const mints = this.#mint(tx.mint);
    const outputs = listOf(tx.outputs, 'outputs');
    for (let index = 0; index < outputs.length; index += 1) {
      if (this.#output(outputs[index])) match.made.push(`${id}:${index}`);
    }
    // Of failed scripts: the one output that there is then, behind all others.
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

  /** A launch makes all that it mints known. */
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

  #output(value: unknown): boolean {
    const { address, value: held } = objectOf(value, 'an output');
    if (typeof address !== 'string') throw unreadable('an output has no address');
    const assets = objectOf(held, 'the value of an output');
    if (Object.hasOwn(assets, this.#launchPolicy)) {
      for (const policy in assets) if (policy !== 'ada') this.#policies.add(policy);
    }
    for (const policy in assets) if (this.isKnown(policy)) return true;
    return this.#addresses.has(address.slice(0, prefixLength(address)));
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

/** Where transactions of a deployment leave outputs, and the policy under which they mint. */
export function filterTargetsOf({
  scripts,
  metadataAddress,
  launchPolicyId,
}: Pick<PartialDeployment, 'launchPolicyId' | 'metadataAddress' | 'scripts'>): FilterTargets {
  const guards = SCRIPT_NAMES.flatMap((name): Credential[] => {
    const script = scripts[name];
    return script === null ? [] : [{ kind: 'script', hash: script.hash }];
  });
  const metadata = metadataAddress === null ? null : parseAddress(metadataAddress);
  const credentials = metadata === null ? guards : [...guards, metadata.payment];
  return { credentials, launchPolicyId };
}
