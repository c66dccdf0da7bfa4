/** Answers and reports of the thread that follows a node: plain data. */
import type { Credential } from '../../cardano/codec/address.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import { refText, type Utxo } from '../../cardano/codec/output.ts';
import { decodePlutusHex, encodePlutusData } from '../../cardano/codec/plutusData.ts';
import type { EraSlots } from '../../cardano/codec/slots.ts';
import type { Redeemer, Transaction } from '../../cardano/codec/transaction.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { SubmitOutcome } from '../../cardano/ledger/port.ts';
import type { Evaluation } from '../../cardano/ledger/scalus.ts';
import type { RefText } from '../../engine/market/events.ts';
import type { BackoffLimits } from '../../engine/runtime/backoff.ts';
import type { ChainTip, Point, Removal } from '../port.ts';
import type { ConnectionName, NodeFaultKind } from './observer.ts';

/** A transaction passes if it touches one of these; see TransactionFilter. */
export interface FilterTargets {
  /** Payment parts of addresses. */
  readonly credentials: readonly Credential[];
  /** Scripts of other markets too: an output counts whose value or datum names a known policy. */
  readonly shared: readonly Credential[];
  readonly launchPolicyId: string;
}

/** Policies and outputs known to the fold; sent when a stream opens and after a deep roll-back. */
export interface WatchList {
  readonly policies: readonly string[];
  readonly refs: readonly RefText[];
}

export interface Limits {
  /** Largest message of the node. */
  readonly messageBytes: number;
  /** Most requested blocks that were not received yet. */
  readonly inFlight: number;
  /** Most blocks in flight or received and not read yet. */
  readonly underWay: number;
  /** Without an answer for this long, the node counts as lost. */
  readonly answerMs: number;
  /** Without a block for this long, the node's tip is requested. */
  readonly quietMs: number;
  /** Between attempts to reach the node. */
  readonly retry: BackoffLimits;
  /** A transaction that lost its block in a fork may be missing in the mempool this long. */
  readonly returnMs: number;
}

export interface WorkerOptions {
  readonly url: string;
  /** null: every transaction passes. */
  readonly targets: FilterTargets | null;
  readonly limits: Limits;
  /** For the jitter between attempts. */
  readonly seed: number;
}

/** Crosses threads, which Plutus data cannot: its classes get lost. */
export interface SerializedTransaction extends Omit<Transaction, 'redeemers'> {
  readonly redeemers: readonly (Omit<Redeemer, 'data'> & {
    /** CBOR, hex. */
    readonly data: string;
  })[];
}

export interface SerializedBlock {
  readonly point: Point;
  readonly height: number;
  readonly timeMs: number;
  readonly ids: readonly string[];
  readonly transactions: readonly SerializedTransaction[];
  /** Position in the block of each transaction. */
  readonly txIndexes: readonly number[];
}

export type SerializedEvent =
  | { readonly kind: 'forward'; readonly block: SerializedBlock }
  /** `needsWatchList`: nothing follows until `begin`. */
  | { readonly kind: 'back'; readonly point: Point | null; readonly needsWatchList: boolean }
  | {
      readonly kind: 'mempool';
      readonly whole: boolean;
      readonly added: readonly SerializedTransaction[];
      readonly removed: readonly Removal[];
    };

export interface EvaluationRequest {
  readonly bytes: Uint8Array;
  /** Outputs that the transaction spends or refers to. */
  readonly utxos: readonly Utxo[];
}

/** Each may throw the Fault `nodeSilent`: the node is away, and the same may be asked again. */
export interface OgmiosCalls {
  /** The stream's number; null: the chain holds none of the points. */
  open(points: readonly Point[]): number | null;
  begin(stream: number, watchList: WatchList): void;
  /** Answered as soon as there are events; null once the stream is closed. */
  pull(stream: number): readonly SerializedEvent[] | null;
  close(stream: number): void;
  submit(bytes: Uint8Array): SubmitOutcome;
  /** Reports this transaction, by its id, as if it had been submitted here. */
  expect(txHash: string): void;
  parameters(): ProtocolParameters;
  evaluate(request: EvaluationRequest): Evaluation;
  stop(): void;
}

export type OgmiosNews =
  | { readonly kind: 'tip'; readonly tip: ChainTip | null }
  /** The first one means that the node was reached. */
  | { readonly kind: 'eras'; readonly eras: readonly EraSlots[] }
  | { readonly kind: 'passedOver'; readonly part: string }
  | { readonly kind: 'connected'; readonly connection: ConnectionName }
  | {
      readonly kind: 'lost';
      readonly connection: ConnectionName;
      readonly cause: NodeFaultKind;
      readonly message: string;
      readonly retryInMs: number | null;
    };

export const DEFAULT_LIMITS: Limits = {
  // The largest block of mainnet is a few MB of JSON.
  messageBytes: 32 << 20,
  inFlight: 128,
  underWay: 2_000,
  answerMs: 20_000,
  quietMs: 20_000,
  retry: { firstMs: 500, maxMs: 30_000 },
  returnMs: 2_000,
};

export function serializeTransaction(tx: Transaction): SerializedTransaction {
  const redeemers = tx.redeemers.map(({ data, ...redeemer }) => {
    return { ...redeemer, data: toHex(encodePlutusData(data)) };
  });
  return { ...tx, redeemers };
}

export function deserializeTransaction(tx: SerializedTransaction): Transaction {
  const redeemers = tx.redeemers.map(({ data, ...redeemer }) => {
    return { ...redeemer, data: decodePlutusHex(data) };
  });
  return { ...tx, redeemers };
}

/** The outputs that it spends. */
export function spentRefs(tx: SerializedTransaction): RefText[] {
  return (tx.isValid ? tx.inputs : tx.collateralInputs).map(refText);
}
