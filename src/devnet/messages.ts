/** What travels between the ledger's worker and the rest: plain data, transactions as bytes. */

import { decodeOutput, type OutputRef, type Utxo } from '../cardano/codec/output.ts';
import type { SlotConfig } from '../cardano/codec/slots.ts';
import type { Deployment } from '../cardano/datums/deployment.ts';
import type { SubmitOutcome, UtxoState, UtxoView } from '../cardano/ledger/port.ts';
import type { Page } from '../cardano/ledger/views.ts';
import type { Point } from '../chain/port.ts';
import type { Cause, Failure } from '../engine/runtime/errors.ts';
import type { GenesisPlan } from './genesis.ts';
import type { Resubmit } from './ledger.ts';
import type { BlockHead } from './ledgerFile.ts';
import type { BlockCopy, CopyOutcome, MempoolCopy, Reconciled } from './replica.ts';
import type { RawEvent } from './streams.ts';

export interface WorkerOptions {
  readonly file: string;
  readonly genesis: GenesisPlan;
  /** 32 bytes, hex. */
  readonly faucetSecret: string;
  /** 0: a block only when asked for; the slots of such a chain have a second. */
  readonly blockPaceMs: number;
  /** Start of slot 0 of a new chain. */
  readonly genesisTimeMs: number;
  /** Until it is told otherwise; `leader` where nothing is said. */
  readonly role?: LedgerRole;
  /** What another node's chain began with: a new file begins with the same. */
  readonly begun?: GenesisCopy;
}

/**
 * `leader` makes blocks and takes transactions. `replica` takes what a leader made, as it is; both
 * answer lookups and streams.
 */
export type LedgerRole = 'leader' | 'replica';

/** What a chain begins with, to be given to other nodes. */
export interface GenesisCopy {
  readonly text: string;
  readonly outputs: readonly PackedUtxo[];
}

/** The worker's first message, once it can serve. */
export interface Ready {
  readonly deployment: Deployment;
  readonly slotConfig: SlotConfig;
}

export interface PackedUtxo {
  readonly ref: OutputRef;
  /** Hex. */
  readonly cbor: string;
}

export interface PackedState {
  readonly state: UtxoState['state'];
  readonly utxo: PackedUtxo | null;
}

export interface PackedFailure {
  readonly failure: string;
  readonly cause: Cause;
}

export interface ForkResult {
  readonly tip: BlockHead | null;
  readonly takenBack: number;
}

/** Question → what is asked and what is answered. */
export interface Calls {
  submit: { argument: Uint8Array; answer: SubmitOutcome };
  faucet: { argument: { address: string; lovelace: bigint }; answer: SubmitOutcome };
  mine: { argument: number; answer: { tip: BlockHead | null } | PackedFailure };
  fork: {
    argument: { depth: number; resubmit: Resubmit };
    answer: ForkResult | PackedFailure;
  };
  tip: { argument: null; answer: { tip: BlockHead | null; slot: number } };
  byPaymentKey: {
    argument: { keyHash: string; view: UtxoView; page: Page };
    answer: PackedUtxo[];
  };
  byAsset: { argument: { asset: string; view: UtxoView }; answer: PackedUtxo[] };
  byRefs: { argument: readonly OutputRef[]; answer: PackedState[] };
  /** A number for the stream; null: none of the points is on the chain. */
  open: { argument: readonly Point[]; answer: number | null };
  /** Answered as soon as there is something; null once the stream is closed. */
  pull: { argument: number; answer: RawEvent[] | null };
  close: { argument: number; answer: null };
  /** Of a replica. */
  apply: { argument: readonly BlockCopy[]; answer: CopyOutcome };
  applyMempool: { argument: MempoolCopy; answer: CopyOutcome };
  rollTo: { argument: BlockHead | null; answer: CopyOutcome };
  reconcile: {
    argument: { points: readonly Point[]; reachesStart: boolean };
    answer: Reconciled;
  };
  /** Answered once all that waited was judged, before the first block. */
  lead: { argument: null; answer: { tip: BlockHead | null } };
  follow: { argument: null; answer: null };
  genesis: { argument: null; answer: GenesisCopy | PackedFailure };
  snapshot: { argument: string; answer: PackedFailure | null };
  blockOf: { argument: string; answer: BlockHead | null };
  stop: { argument: null; answer: null };
}

export type CallName = keyof Calls;

export interface Request<Name extends CallName = CallName> {
  readonly number: number;
  readonly name: Name;
  readonly argument: Calls[Name]['argument'];
}

export interface Reply {
  /** 0: nobody asked; `fault` says why no block can be made for now. */
  readonly number: number;
  readonly answer: unknown;
  /** A question that makes no sense, a fault of who asks: it fails alone. */
  readonly fault?: string;
}

export function packedFailure({ message, cause }: Failure): PackedFailure {
  return { failure: message, cause };
}

export function packed({ ref, output }: Utxo): PackedUtxo {
  return { ref, cbor: output.cbor };
}

export function unpacked({ ref, cbor }: PackedUtxo): Utxo {
  return { ref, output: decodeOutput(Buffer.from(cbor, 'hex')) };
}

export function packedState(state: UtxoState): PackedState {
  const utxo = state.state === 'unknown' || state.utxo === null ? null : packed(state.utxo);
  return { state: state.state, utxo };
}

export function unpackedState({ state, utxo }: PackedState): UtxoState {
  if (state === 'unspent' && utxo !== null) return { state, utxo: unpacked(utxo) };
  if (state === 'spent') return { state, utxo: utxo === null ? null : unpacked(utxo) };
  return { state: 'unknown' };
}
