/**
 * Interface behind the Ogmios server: a chain and a node's properties. The devnet implements it
 * over its ledger's file, tests over blocks that they write by hand.
 */

import type { JsonValue } from '../../engine/runtime/exactJson.ts';
import type { Era, EraConfig } from './networkFacts.ts';
import type { Answer, RpcError } from './rpc.ts';

export interface ServedPoint {
  readonly slot: number | bigint;
  /** Id of the block, hex. */
  readonly id: string;
}

export interface ServedTip extends ServedPoint {
  readonly height: number | bigint;
  readonly era: Era;
}

export interface ServedBlock extends ServedTip {
  /** The JSON of `block` in a `nextBlock` answer. */
  readonly text: string;
}

export interface ServedTransaction {
  readonly id: string;
  /** The size it has in the mempool. */
  readonly bytes: number;
  /** The JSON of a transaction, all fields. */
  readonly text: string;
}

export interface ChainListener {
  /** Blocks or the mempool changed. */
  changed(): void;
  /** Blocks above this place were taken back; called before `changed`. */
  shortened(place: number): void;
}

export interface ServedChain {
  /** null: no block yet. */
  readonly tip: ServedTip | null;
  /** Place of the oldest block that `blockAt` has. */
  readonly oldest: number;
  /**
   * The ordinal of a block, 1 for the first; 0 is the origin. undefined: not on this chain, or the
   * blocks after it are not kept.
   */
  placeOf(point: ServedPoint | 'origin'): number | undefined;
  blockAt(place: number): ServedBlock | undefined;
  /** The mempool, in the order in which it can be applied. */
  readonly pending: readonly ServedTransaction[];
  /** Changes with the mempool and with the tip: a node makes a new snapshot for both. */
  readonly snapshotVersion: string;
  /** Answers how to end it. */
  listen(listener: ChainListener): () => void;
}

export interface NodeFacts {
  /** As in `/health`: `mainnet`, or `unknown (42)` by its magic where it has no name. */
  readonly network: string;
  readonly networkMagic: number;
  /** ISO 8601. */
  readonly startTime: string;
  readonly eras: readonly EraConfig[];
  /** Answer of `queryLedgerState/protocolParameters`. */
  readonly parameters: JsonValue;
  /** 1 is all; what `/health` says of the node behind. */
  readonly synchronization: number;
  /** The node behind is there. */
  readonly isConnected: boolean;
  /** Why it makes no blocks, or keeps none; null or absent: it does. */
  readonly problem?: string | null;
}

type Params = Readonly<Record<string, unknown>>;

export interface ServedNode {
  readonly chain: ServedChain;
  readonly facts: NodeFacts;
  /** `cbor` is hex. Answers the id of an accepted transaction. */
  submit(cbor: string): Promise<string | RpcError>;
  /** Answer of `evaluateTransaction`. */
  evaluate(params: Params): Promise<Answer>;
  /** Answer of `queryLedgerState/utxo`. */
  utxo(params: Params): Promise<Answer>;
}
