/**
 * A refused transaction together with its outputs in the ledger, for the table of refusals: which
 * scripts, datums and keys it needs, and which it brings. Source: Conway's rules UTXO and UTXOW.
 */
import { parseAddress } from '../../cardano/codec/address.ts';
import {
  bytesOf,
  elementsOf,
  entriesOf,
  type Item,
  integerOf,
  mapField,
  numberOf,
  readCbor,
  setElementsOf,
  span,
} from '../../cardano/codec/cbor.ts';
import { languageScriptHash } from '../../cardano/codec/hash.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import {
  type Output,
  type OutputRef,
  referenceScriptOf,
  refText,
  type Utxo,
} from '../../cardano/codec/output.ts';
import { refJson } from '../../cardano/codec/outputJson.ts';
import { namedRefs, type Transaction } from '../../cardano/codec/transaction.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { JsonValue } from '../../engine/runtime/exactJson.ts';
import { rewardAccountText } from './transactionJson.ts';

/** The ledger's state at the refusal. */
export interface RefusalContext {
  readonly slot: number;
  readonly parameters: ProtocolParameters;
  /** null: it is spent or unknown. */
  readonly output: (ref: OutputRef) => Utxo | null;
}

export interface RuleFailure {
  readonly code: number;
  readonly data?: JsonValue;
}

/** A failure that lists its culprits; null where there are none. */
export function unlessEmpty(
  code: number,
  name: string,
  list: readonly JsonValue[],
): RuleFailure | null {
  return list.length === 0 ? null : { code, data: { [name]: list } };
}

interface NeededScript {
  readonly hash: string;
  /** In Ogmios' words: the script's purpose, and the place to which its redeemer points. */
  readonly purpose: JsonValue;
  readonly pointer: { readonly purpose: 'spend' | 'mint' | 'withdraw'; readonly index: number };
  /** The output that it guards. */
  readonly spends: Utxo | null;
}

interface ProvidedScript {
  /** 0 native, then the versions of Plutus. */
  readonly language: number;
  /** Its CBOR (native), or the code in one layer of CBOR. */
  readonly code: Uint8Array;
  readonly isReference: boolean;
}

/** Key of the witness set, and the language of the scripts there. */
const WITNESS_SCRIPTS = [
  [1, 0],
  [3, 1],
  [6, 2],
  [7, 3],
] as const;

export class JudgedTransaction {
  readonly tx: Transaction;
  readonly context: RefusalContext;
  /** The unspent outputs among all outputs that the transaction names. */
  readonly utxos: ReadonlyMap<string, Utxo>;

  constructor(tx: Transaction, context: RefusalContext) {
    this.tx = tx;
    this.context = context;
    const found = namedRefs(tx).flatMap((ref) => context.output(ref) ?? []);
    this.utxos = new Map(found.map((utxo) => [refText(utxo.ref), utxo]));
  }

  utxosOf(refs: readonly OutputRef[]): Utxo[] {
    return refs.flatMap((ref) => this.utxos.get(refText(ref)) ?? []);
  }

  /** A field of the body, with the bytes that it lies in. */
  field(key: number): Item | undefined {
    return mapField(this.tx.body, readCbor(this.tx.body), key);
  }

  bytesIn(key: number): string | null {
    const found = this.field(key);
    return found === undefined ? null : toHex(bytesOf(this.tx.body, found));
  }

  witness(key: number): Item | undefined {
    return mapField(this.tx.witnessSet, readCbor(this.tx.witnessSet), key);
  }

  /** Accounts and amounts, in the order of the ledger. */
  withdrawals(): { readonly account: Uint8Array; readonly lovelace: bigint }[] {
    const { body } = this.tx;
    const map = this.field(5);
    if (map === undefined) return [];
    return entriesOf(map)
      .map(([account, amount]) => {
        return { account: bytesOf(body, account), lovelace: integerOf(body, amount) };
      })
      .sort((a, b) => Buffer.compare(a.account, b.account));
  }

  needed(): NeededScript[] {
    const { tx } = this;
    const spends = tx.inputs.flatMap((ref, index): NeededScript[] => {
      const utxo = this.utxos.get(refText(ref));
      const payment = utxo && parseAddress(utxo.output.address)?.payment;
      if (utxo === undefined || payment?.kind !== 'script') return [];
      const purpose = { purpose: 'spend', outputReference: refJson(ref) };
      return [{ hash: payment.hash, purpose, pointer: { purpose: 'spend', index }, spends: utxo }];
    });
    const policies = [...new Set([...tx.mint.keys()].map((asset) => asset.slice(0, 56)))].sort();
    const mints = policies.map((hash, index): NeededScript => {
      const purpose = { purpose: 'mint', policy: hash };
      return { hash, purpose, pointer: { purpose: 'mint', index }, spends: null };
    });
    const accounts = this.withdrawals().flatMap(({ account }, index): NeededScript[] => {
      if (!isScriptAccount(account)) return [];
      const purpose = { purpose: 'withdraw', rewardAccount: rewardAccountText(account) };
      const hash = toHex(account.subarray(1));
      return [{ hash, purpose, pointer: { purpose: 'withdraw', index }, spends: null }];
    });
    return [...spends, ...mints, ...accounts];
  }

  /** Scripts by hash; the witness set goes before references. */
  provided(): Map<string, ProvidedScript> {
    const found = new Map<string, ProvidedScript>();
    const add = (script: ProvidedScript) => {
      const hash = languageScriptHash(script.language, script.code);
      if (!found.has(hash)) found.set(hash, script);
    };
    const { witnessSet, inputs, referenceInputs } = this.tx;
    for (const [key, language] of WITNESS_SCRIPTS) {
      const list = this.witness(key);
      for (const script of list === undefined ? [] : setElementsOf(list)) {
        const code = language === 0 ? span(witnessSet, script) : bytesOf(witnessSet, script);
        add({ language, code, isReference: false });
      }
    }
    for (const { output } of this.utxosOf([...inputs, ...referenceInputs])) {
      const script = scriptIn(output);
      if (script !== null) add({ ...script, isReference: true });
    }
    return found;
  }

  /** Scripts in the outputs that it makes, by hash. */
  published(): Map<string, ProvidedScript> {
    const held = this.tx.outputs.flatMap((output) => {
      const { scriptHash } = output;
      const script = scriptHash === null ? null : scriptIn(output);
      return scriptHash === null || script === null ? [] : ([[scriptHash, script]] as const);
    });
    return new Map(held);
  }

  /** Needed Plutus scripts that the transaction provides. */
  neededPlutus(): (NeededScript & ProvidedScript)[] {
    const provided = this.provided();
    return this.needed().flatMap((needed) => {
      const script = provided.get(needed.hash);
      return script === undefined || script.language === 0 ? [] : [{ ...needed, ...script }];
    });
  }
}

function scriptIn(output: Output): ProvidedScript | null {
  const held = referenceScriptOf(output);
  if (held === null) return null;
  const { language, bytes, script } = held;
  const code = language === 0 ? span(bytes, script) : bytesOf(bytes, script);
  return { language, code, isReference: false };
}

/** Bit 4 of an account's head: a script's. */
function isScriptAccount(account: Uint8Array): boolean {
  return ((account[0] ?? 0) & 0x10) !== 0;
}

/** Whether a native script holds for these keys within these bounds. Source: Allegra's rules. */
export function nativeHolds(
  code: Uint8Array,
  { keys, tx }: { readonly keys: ReadonlySet<string>; readonly tx: Transaction },
): boolean {
  const holds = (item: Item): boolean => {
    const [kind, first, second] = elementsOf(item);
    if (kind === undefined || first === undefined) return false;
    const each = (list: Item) => setElementsOf(list).map(holds);
    switch (numberOf(code, kind)) {
      case 0:
        return keys.has(toHex(bytesOf(code, first)));
      case 1:
        return each(first).every((one) => one);
      case 2:
        return each(first).some((one) => one);
      case 3:
        return (
          second !== undefined && each(second).filter((one) => one).length >= integerOf(code, first)
        );
      case 4:
        return tx.validFromSlot !== null && tx.validFromSlot >= integerOf(code, first);
      default:
        return tx.validToSlot !== null && tx.validToSlot <= integerOf(code, first);
    }
  };
  return holds(readCbor(code));
}
