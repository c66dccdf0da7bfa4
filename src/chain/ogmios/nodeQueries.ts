/**
 * Calls to the node beside blocks and mempool: submissions, protocol parameters, eras. They share
 * one connection, which is opened on demand. Every caller gets an answer or a fault.
 */

import { toHex } from '../../cardano/codec/hex.ts';
import { countOf, integerOf, objectOf, textOf } from '../../cardano/codec/json.ts';
import { refText, type Utxo } from '../../cardano/codec/output.ts';
import { readRef, utxoJson } from '../../cardano/codec/outputJson.ts';
import { decodeTransaction, type Transaction } from '../../cardano/codec/transaction.ts';
import { readParameters } from '../../cardano/ledger/ogmiosParameters.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { SubmitOutcome } from '../../cardano/ledger/port.ts';
import type { Evaluation } from '../../cardano/ledger/scalus.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import { type ConnectionDeps, NodeConnection } from './connection.ts';
import type { Eras } from './eras.ts';
import { MEMPOOL_REFUSES, NodeFault, NodeRefusal, refusalOf, UNKNOWN_INPUTS } from './fault.ts';
import type { EvaluationRequest } from './messages.ts';
import type { NodeReporter } from './observer.ts';

interface NodeQueriesDeps extends ConnectionDeps {
  readonly report: NodeReporter;
  /** Whether a transaction is known to be pending or in a block. */
  knows(id: string): boolean;
  /** The node has just accepted the transaction. */
  accepted(tx: Transaction): void;
}

const MAX_OURS = 10_000;
/** Source: JSON-RPC 2.0, section 5.1. */
const INTERNAL_ERROR = -32603;

export class NodeQueries {
  readonly #deps: NodeQueriesDeps;
  #connection: Promise<NodeConnection> | null = null;
  /** Snapshots of the mempool are taken one at a time. */
  #lookup: Promise<unknown> = Promise.resolve();
  readonly #ours = new Set<string>();
  /** Calls without an answer. */
  #open = 0;

  constructor(deps: NodeQueriesDeps) {
    this.#deps = deps;
  }

  /** Whether this process submitted the transaction recently. */
  isOurs(id: string): boolean {
    return this.#ours.has(id);
  }

  /** Streams report this transaction, submitted elsewhere, like one submitted here. */
  expect(id: string): void {
    this.#rememberOwn(id);
  }

  async close(): Promise<void> {
    // A connection that failed is none to close; who asked for it was told.
    const connection = await this.#connection?.catch(() => null);
    connection?.end(new NodeFault('closed', 'it is no longer needed'));
  }

  /** Throws `NodeFault`. */
  readEras(eras: Eras): Promise<void> {
    return this.#ask((connection) => eras.refresh(connection));
  }

  /** Throws `NodeFault`. */
  parameters(): Promise<ProtocolParameters> {
    return this.#ask(async (connection) => readParameters(await connection.protocolParameters()));
  }

  /** Throws `NodeFault`, and `NodeRefusal` where the node does not evaluate. */
  evaluate({ bytes, utxos }: EvaluationRequest): Promise<Evaluation> {
    return this.#ask((connection) => evaluateByNode(connection, bytes, utxos));
  }

  /** Throws `NodeFault`. */
  submit(bytes: Uint8Array): Promise<SubmitOutcome> {
    return this.#ask((connection) => this.#submit(bytes, connection));
  }

  async #ask<T>(question: (connection: NodeConnection) => Promise<T>): Promise<T> {
    this.#open += 1;
    try {
      return await question(await this.#connected());
    } finally {
      this.#open -= 1;
    }
  }

  async #submit(bytes: Uint8Array, connection: NodeConnection): Promise<SubmitOutcome> {
    const tx = decoded(bytes);
    if (tx !== null) this.#rememberOwn(tx.id);
    try {
      const txHash = await connection.submitTransaction(toHex(bytes));
      this.#rememberOwn(txHash);
      if (tx !== null) this.#deps.accepted(tx);
      return { outcome: 'accepted', txHash };
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      // Nothing is wrong with the transaction: it may be submitted again.
      if (error.code === INTERNAL_ERROR) throw new NodeFault('stalled', error.message);
      const mayBeKnown = error.code === UNKNOWN_INPUTS || error.code === MEMPOOL_REFUSES;
      if (tx !== null && mayBeKnown && (await this.#isKnownToNode(tx, connection))) {
        return { outcome: 'accepted', txHash: tx.id };
      }
      const refusal = refusalOf(error);
      return tx === null ? await this.#tooLarge(bytes, refusal) : refusal;
    }
  }

  /** Whether the transaction itself, pending or in a block, spends its inputs. */
  async #isKnownToNode({ id, outputs }: Transaction, connection: NodeConnection): Promise<boolean> {
    if (this.#deps.knows(id)) return true;
    const looked = this.#lookup.then(async () => {
      await connection.acquireMempool();
      const waits = await connection.hasTransaction(id);
      await connection.releaseMempool();
      return waits;
    });
    // The caller of this lookup hears of its failure; the next lookup only waits for its end.
    this.#lookup = looked.catch(() => {});
    if (await looked) return true;
    // One more than its outputs: after a failed script, the return of the collateral.
    const refs = Array.from({ length: outputs.length + 1 }, (_, index) => ({ txHash: id, index }));
    return (await connection.unspent(refs)).length > 0;
  }

  /** A node calls a transaction that is too long malformed. */
  async #tooLarge(bytes: Uint8Array, refusal: SubmitOutcome): Promise<SubmitOutcome> {
    const { maxBytes } = await this.parameters();
    if (bytes.length <= maxBytes) return refusal;
    const message = `Too large: ${bytes.length} bytes, ${maxBytes} are allowed`;
    return { outcome: 'refused', reason: 'LIMITS_EXCEEDED', message };
  }

  #rememberOwn(id: string): void {
    this.#ours.delete(id);
    this.#ours.add(id);
    for (const oldest of this.#ours) {
      if (this.#ours.size <= MAX_OURS) return;
      this.#ours.delete(oldest);
    }
  }

  #connected(): Promise<NodeConnection> {
    if (this.#connection !== null) return this.#connection;
    const { report } = this.#deps;
    const connection = NodeConnection.open(this.#deps, {
      onEnd: (fault) => {
        if (this.#connection === connection) this.#connection = null;
        // A server may end an idle connection.
        if (this.#open > 0) report.lost('questions', fault, null);
      },
    });
    this.#connection = connection;
    connection.then(
      () => report.connected('questions'),
      (error: unknown) => {
        if (this.#connection === connection) this.#connection = null;
        report.lost('questions', NodeFault.of(error), null);
      },
    );
    return connection;
  }
}

/** null: malformed; the node's refusal says why. */
function decoded(bytes: Uint8Array): Transaction | null {
  try {
    return decodeTransaction(bytes);
  } catch (error) {
    if (isFault(error, 'malformedCbor')) return null;
    throw error;
  }
}

const OVERLAPPING = 3002;
const SCRIPT_FAILED = 3010;

/**
 * Runs the scripts on `utxos`, which hold all inputs and references. Throws `NodeRefusal` where the
 * node does not evaluate, and `NodeFault`. Source: Ogmios' schema, EvaluateTransactionResponse.
 */
export async function evaluateByNode(
  connection: NodeConnection,
  bytes: Uint8Array,
  utxos: readonly Utxo[],
): Promise<Evaluation> {
  try {
    return await evaluated(connection, bytes, utxos);
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    if (error.code === SCRIPT_FAILED) {
      return { outcome: 'failed', message: `${error.message} ${jsonOf(error.data)}`, logs: [] };
    }
    if (error.code !== OVERLAPPING) throw error;
    // Ogmios refuses additional outputs that the ledger already has, and names them here.
    const known = overlapping(error.data);
    const others = utxos.filter(({ ref }) => !known.has(refText(ref)));
    if (others.length === utxos.length) throw error;
    return evaluated(connection, bytes, others);
  }
}

async function evaluated(
  connection: NodeConnection,
  bytes: Uint8Array,
  utxos: readonly Utxo[],
): Promise<Evaluation> {
  const found = await connection.evaluateTransaction(toHex(bytes), utxos.map(utxoJson));
  const budgets = found.map((each) => {
    const { validator, budget } = objectOf(each, 'an evaluated script');
    const { purpose, index } = objectOf(validator, 'validator');
    const { memory, cpu } = objectOf(budget, 'budget');
    return {
      purpose: textOf(purpose, 'validator.purpose'),
      index: countOf(index, 'validator.index'),
      memory: integerOf(memory, 'budget.memory'),
      cpu: integerOf(cpu, 'budget.cpu'),
    };
  });
  return { outcome: 'succeeded', budgets };
}

function overlapping(data: unknown): ReadonlySet<string> {
  const { overlappingOutputReferences: refs } = objectOf(data, 'overlapping outputs');
  if (!Array.isArray(refs)) return new Set();
  return new Set(refs.flatMap((each) => readRef(each) ?? []).map(refText));
}

const LONGEST_TEXT = 600;

function jsonOf(data: unknown): string {
  return (JSON.stringify(data) ?? '').slice(0, LONGEST_TEXT);
}
