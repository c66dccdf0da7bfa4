/**
 * The devnet as a node: judges submitted transactions, makes blocks at their pace, and answers
 * queries.
 *
 * All changes of the ledger run from one bounded queue, in slices of `SLICE_MS`. A submission is
 * answered once the transaction is in the file; all transactions that a slice accepts share one
 * commit. Accepted transactions that no block contains are judged again at the next start, so an
 * acknowledged transaction survives a kill. If the disk refuses, no acknowledged transaction is
 * lost: the new submission is refused, and the block is tried again.
 */

import type { OutputRef, Utxo } from '../cardano/codec/output.ts';
import { readRef, utxoJson } from '../cardano/codec/outputJson.ts';
import { slotAt } from '../cardano/codec/slots.ts';
import { decodeTransaction, type Transaction } from '../cardano/codec/transaction.ts';
import type { Key } from '../cardano/keys/keys.ts';
import type { LedgerTerms } from '../cardano/ledger/parameters.ts';
import type { SubmitOutcome } from '../cardano/ledger/port.ts';
import { credentialOf } from '../cardano/ledger/utxoSet.ts';
import type { Clock, Timer } from '../engine/runtime/clock.ts';
import { Failure } from '../engine/runtime/errors.ts';
import type { JsonValue } from '../engine/runtime/exactJson.ts';
import { BlockTimer, MAX_AHEAD } from './blockTimer.ts';
import { evaluation } from './evaluation.ts';
import { payFromFaucet } from './faucet.ts';
import type { Ledger, Resubmit } from './ledger.ts';
import type { LedgerFile } from './ledgerFile.ts';
import { oneEra } from './ogmios/networkFacts.ts';
import {
  ALL_SPENT,
  deserialisationFailure,
  mempoolError,
  notNow,
  refusalError,
  transactionOf,
} from './ogmios/refusals.ts';
import { type Answer, invalidParams, type RpcError } from './ogmios/rpc.ts';
import type { NodeFacts, ServedNode } from './ogmios/served.ts';
import type { OgmiosMajor } from './ogmios/transactionJson.ts';
import { changedParameters, spokenBy } from './parameters.ts';
import { ServedLedger } from './servedLedger.ts';

const NETWORK_MAGIC = 42;

const MAX_COMMANDS = 2_000;
const SLICE_MS = 10;
/** Blocks that one command makes before others have their turn. */
const BLOCKS_A_TURN = 100;
const MAX_QUERIED = 1_000;
const NOT_KEPT = 'the disk of the devnet refuses to keep it: try again';
/** Between two tries to write, where blocks come on demand only. */
const PROBE_MS = 1_000;
const STOPPING = new Failure('NOT_READY', 'the devnet is stopping');

interface Command {
  readonly run: () => void;
  readonly refuse: (failure: Failure) => void;
}

interface NodeOptions {
  readonly ledger: Ledger;
  readonly file: LedgerFile;
  readonly clock: Clock;
  readonly faucetKey: Key;
  /** Between blocks; 0: only on demand. */
  readonly paceMs: number;
  /** Transactions are shown with their bytes, as with `--include-transaction-cbor`. */
  readonly includeCbor: boolean;
  /** Absent: 6. */
  readonly ogmiosMajor?: OgmiosMajor;
  /** A message: the disk refuses writes. null: it accepts them again. */
  readonly stalled: (message: string | null) => void;
  /** No block is made before the clock is there; null: blocks are made again. */
  readonly waits?: (message: string | null) => void;
}

type Params = Readonly<Record<string, unknown>>;

export class DevnetNode implements ServedNode {
  readonly chain: ServedLedger;
  readonly #options: NodeOptions;
  readonly #pace: BlockTimer;
  readonly #commands: Command[] = [];
  /** Answers that wait for the commit of this slice. */
  #unanswered: (() => void)[] = [];
  /** Ids of the pending transactions in the file. */
  readonly #written = new Set<string>();
  #isDraining = false;
  #isStopped = false;
  #probe: Timer | null = null;

  constructor(options: NodeOptions) {
    const { ledger, file, clock, includeCbor, ogmiosMajor = 6, waits = () => {} } = options;
    this.#options = options;
    this.chain = new ServedLedger(ledger, file, { includeCbor, ogmiosMajor });
    this.#pace = new BlockTimer(ledger, clock, () => this.#changed(), waits);
    file.onDisk((refusal) => {
      options.stalled(refusal);
      this.#probeSoon();
    });
    this.#restore();
  }

  /** The parameters and slot times by which transactions are judged now. */
  get terms(): LedgerTerms {
    return this.#options.ledger.terms;
  }

  get facts(): NodeFacts {
    const { ledger, file, ogmiosMajor = 6 } = this.#options;
    return { ...factsOf(ledger, ogmiosMajor), problem: file.refusal ?? this.#pace.waiting };
  }

  /** Begins to make blocks. */
  start(): void {
    if (this.#options.paceMs > 0) this.#pace.start();
    this.#drainSoon();
  }

  /** Refuses queued requests. */
  stop(): void {
    this.#isStopped = true;
    this.#pace.stop();
    this.#probe?.cancel();
    for (const { refuse } of this.#commands.splice(0)) refuse(STOPPING);
  }

  /** A paced chain finds out by its next block. */
  #probeSoon(): void {
    const { file, clock, paceMs } = this.#options;
    this.#probe?.cancel();
    if (this.#isStopped || file.refusal === null || paceMs > 0) return;
    this.#probe = clock.after(PROBE_MS, () => {
      file.probe();
      this.#probeSoon();
    });
  }

  #restore(): void {
    const { ledger, file } = this.#options;
    const pending = file.pending().map(decodeTransaction);
    for (const { id } of pending) this.#written.add(id);
    ledger.restore(pending.filter(({ id }) => !file.isInBlock(id)));
  }

  async submit(cbor: string): Promise<string | RpcError> {
    const { ledger } = this.#options;
    const bytes = Buffer.from(cbor, 'hex');
    const tx = transactionOf(bytes);
    if (tx === null) return deserialisationFailure('no transaction of this era');
    // As a node, which sees no more than that its inputs are gone.
    if (ledger.mempool.has(tx.id) || this.chain.isInBlock(tx.id)) return mempoolError(ALL_SPENT);
    const outcome = await this.#ask(() => ledger.submit(bytes));
    if (outcome instanceof Failure) return notNow(outcome.message);
    if (outcome.outcome === 'refused') return this.#explained(outcome, tx);
    return this.#isKept(tx.id) ? tx.id : notNow(NOT_KEPT);
  }

  /** An accepted transaction is dropped again where the disk refuses to keep it. */
  #isKept(id: string): boolean {
    const { ledger } = this.#options;
    return ledger.mempool.has(id) || ledger.returns(id) || this.chain.isInBlock(id);
  }

  #explained(outcome: Extract<SubmitOutcome, { outcome: 'refused' }>, tx: Transaction): RpcError {
    const { ledger } = this.#options;
    const output = (ref: OutputRef) => {
      const state = ledger.output(ref);
      return state.state === 'unspent' ? state.utxo : null;
    };
    const { slot, parameters } = ledger;
    return refusalError(outcome, tx, { output, slot, parameters: parameters.values });
  }

  async evaluate(params: Params): Promise<Answer> {
    const { ledger } = this.#options;
    return evaluation(params, (ref) => ledger.output(ref), ledger.terms);
  }

  async utxo({ outputReferences, addresses }: Params): Promise<Answer> {
    const asked = outputReferences ?? addresses;
    if (!Array.isArray(asked) || asked.length > MAX_QUERIED) {
      return invalidParams(`up to ${MAX_QUERIED} outputReferences or addresses`);
    }
    const found =
      addresses === undefined ? this.#byReference(asked) : this.#byAddress(asked.map(String));
    return { result: found.map((utxo): JsonValue => utxoJson(utxo)) };
  }

  #byReference(asked: readonly unknown[]): Utxo[] {
    return asked.flatMap((each) => {
      const ref = readRef(each);
      return ref === null ? [] : (this.#options.ledger.chain.get(ref) ?? []);
    });
  }

  #byAddress(addresses: readonly string[]): Utxo[] {
    const { chain } = this.#options.ledger;
    return [...new Set(addresses)].flatMap((address) => {
      const owned = [...chain.ofCredential(credentialOf({ output: { address } }))];
      return owned.filter(({ output }) => output.address === address);
    });
  }

  /** Pays coins to an address. */
  async faucet(address: string, lovelace: bigint): Promise<SubmitOutcome | Failure> {
    const { ledger, faucetKey } = this.#options;
    const outcome = await this.#ask(() => payFromFaucet(ledger, faucetKey, address, lovelace));
    if (outcome instanceof Failure || outcome.outcome === 'refused') return outcome;
    return this.#isKept(outcome.txHash) ? outcome : new Failure('NOT_READY', NOT_KEPT);
  }

  /** Takes the newest blocks back, fewer where there are fewer; the height then. */
  async fork(depth: number, resubmit: Resubmit): Promise<number | Failure> {
    const { ledger, file } = this.#options;
    return this.#ask(() => {
      // Pending transactions are written before the rollback: a kill between the two loses neither.
      const returning = resubmit === 'none' ? [] : ledger.newest(depth);
      const kept = file.changePending(returning, []);
      if (kept !== null) return kept;
      for (const { id } of returning) this.#written.add(id);
      const fork = ledger.fork(Math.min(depth, ledger.height), resubmit);
      if (fork instanceof Failure) return fork;
      this.chain.shortened();
      return fork.tip?.height ?? 0;
    });
  }

  /**
   * Puts these members of Ogmios' JSON in force, with the others as they are; the height then.
   * Rejects with `unreadableMessage`.
   */
  async changeParameters(text: string): Promise<number | Failure> {
    const { ledger } = this.#options;
    return this.#ask(() => {
      const parameters = changedParameters(ledger.parameters, text);
      return ledger.changeParameters(parameters) ?? ledger.height;
    });
  }

  /** Makes blocks at once; the height then. */
  async mine(blocks: number): Promise<number | Failure> {
    const { ledger } = this.#options;
    let height = ledger.height;
    for (let left = blocks; left > 0; left -= BLOCKS_A_TURN) {
      // In its turn: other calls may make blocks before it, and after it before it is answered.
      const made = await this.#ask(() => {
        const failure = this.#tooFarAhead(left) ?? ledger.forge(Math.min(left, BLOCKS_A_TURN));
        return failure ?? ledger.height;
      });
      if (made instanceof Failure) return made;
      height = made;
    }
    return height;
  }

  /** Blocks of a paced chain have the slots of a clock, and wait for it when they are ahead. */
  #tooFarAhead(count: number): Failure | null {
    const { ledger, clock, paceMs } = this.#options;
    if (paceMs === 0) return null;
    const ahead = Math.max(0, ledger.blockSlot - slotAt(ledger.slots, clock.nowMs()));
    if (ahead + count <= MAX_AHEAD) return null;
    const left = Math.max(0, MAX_AHEAD - ahead);
    const state = `blocks may be ${MAX_AHEAD} slots ahead of the clock, these are ${ahead}`;
    return new Failure('INVALID_PARAMS', `${state}: at most ${left} can be made now`);
  }

  /** Runs `work` in its turn and answers once its changes are in the file. */
  #ask<T>(work: () => T): Promise<T | Failure> {
    if (this.#isStopped) {
      return Promise.resolve(STOPPING);
    }
    if (this.#commands.length >= MAX_COMMANDS) {
      return Promise.resolve(new Failure('OVERLOADED', 'Too much is queued: try again'));
    }
    const answered = Promise.withResolvers<T | Failure>();
    const run = () => {
      try {
        const result = work();
        this.#unanswered.push(() => answered.resolve(result));
      } catch (error) {
        answered.reject(error);
      }
    };
    this.#commands.push({ run, refuse: answered.resolve });
    this.#drainSoon();
    return answered.promise;
  }

  #drainSoon(): void {
    if (this.#isDraining || !this.#isBusy()) return;
    this.#isDraining = true;
    this.#options.clock.soon(() => this.#drain());
  }

  #drain(): void {
    const { ledger, clock } = this.#options;
    this.#isDraining = false;
    if (this.#isStopped) return;
    const endMs = clock.monotonicMs() + SLICE_MS;
    do {
      if (ledger.isRevalidating) ledger.revalidateOne();
      else this.#commands.shift()?.run();
    } while (this.#isBusy() && clock.monotonicMs() < endMs);
    this.#changed();
    this.#drainSoon();
  }

  #isBusy(): boolean {
    return this.#options.ledger.isRevalidating || this.#commands.length > 0;
  }

  /** Writes pending changes, then answers them and shows them to clients. */
  #changed(): void {
    const { ledger, file } = this.#options;
    const accepted = new Map(Array.from(ledger.accepted(), (tx) => [tx.id, tx]));
    const added = [...accepted.values()].filter(({ id }) => !this.#written.has(id));
    const gone = [...this.#written].filter((id) => !accepted.has(id));
    // The commit of a block removes its transactions from the mempool.
    const dropped = gone.filter((id) => !file.isInBlock(id));
    const failure = added.length + dropped.length === 0 ? null : file.changePending(added, dropped);
    if (failure === null) {
      for (const { id } of added) this.#written.add(id);
      for (const id of gone) this.#written.delete(id);
    } else {
      // Not acknowledged, so dropped; `submit` sees that it is gone.
      for (const { id } of added) ledger.drop(id, 'REFUSED');
    }
    const answers = this.#unanswered;
    this.#unanswered = [];
    for (const answer of answers) answer();
    this.chain.changed();
  }
}

function factsOf(ledger: Ledger, ogmiosMajor: OgmiosMajor): NodeFacts {
  const { zeroTimeMs, zeroSlot, slotLengthMs } = ledger.slots;
  return {
    network: `unknown (${NETWORK_MAGIC})`,
    networkMagic: NETWORK_MAGIC,
    startTime: new Date(zeroTimeMs).toISOString(),
    eras: oneEra(slotLengthMs, zeroSlot),
    parameters: spokenBy(ogmiosMajor, ledger.parameters),
    synchronization: 1,
    isConnected: true,
  };
}
