/**
 * The embedded ledger behind the ports of the chain. It runs in a thread of its own; this is its
 * other end: questions are numbered and answered in any order, outputs and blocks decoded here.
 *
 * When the thread ends, for whatever reason, every open question and stream fails with
 * `LedgerStopped`, and so does every later one; nobody waits for ever.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { OutputRef, Utxo } from '../cardano/codec/output.ts';
import type { SlotConfig } from '../cardano/codec/slots.ts';
import type { Deployment } from '../cardano/datums/deployment.ts';
import type {
  SubmitOutcome,
  Submitter,
  UtxoLookup,
  UtxoState,
  UtxoView,
} from '../cardano/ledger/port.ts';
import type { ChainSource, ChainStream, Point } from '../chain/port.ts';
import { replaceDatabase } from '../engine/actors/files.ts';
import type { AssetId } from '../engine/market/asset.ts';
import { assert } from '../engine/runtime/assert.ts';
import { Failure } from '../engine/runtime/errors.ts';
import type { Service } from '../engine/runtime/service.ts';
import { EmulatedStream } from './emulatedStream.ts';
import type { Resubmit } from './ledger.ts';
import type { BlockHead } from './ledgerFile.ts';
import {
  type CallName,
  type Calls,
  type ForkResult,
  type GenesisCopy,
  type LedgerRole,
  type Ready,
  type Reply,
  unpacked,
  unpackedState,
  type WorkerOptions,
} from './messages.ts';
import type { BlockCopy, CopyOutcome, MempoolCopy, Reconciled } from './replica.ts';

export interface EmulatedChainOptions extends WorkerOptions {
  /** The thread ended without being asked to. */
  readonly died: (error: Error) => void;
  /** The disk refuses a block; it is tried again until it does not. Told once for each time. */
  readonly stalled?: (message: string) => void;
}

export class LedgerStopped extends Error {}

export interface Tip {
  /** null: no block yet. */
  readonly tip: BlockHead | null;
  readonly slot: number;
}

interface Asked {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

const MOST_ASKED = 20_000;

export class EmulatedChain implements ChainSource, Submitter, UtxoLookup, Service {
  readonly name = 'ledger';
  readonly #options: EmulatedChainOptions;
  readonly #asked = new Map<number, Asked>();
  #worker: Worker | null = null;
  #ready: Ready | null = null;
  #ended: Error | null = null;
  #isStopping = false;
  #lastNumber = 0;
  #role: LedgerRole;
  #replacing: Promise<void> | null = null;

  constructor(options: EmulatedChainOptions) {
    this.#options = options;
    this.#role = options.role ?? 'leader';
  }

  /** Resolves when the ledger can serve; rejects with the reason when it cannot begin. */
  async start(): Promise<void> {
    const { died, stalled, ...workerData } = this.#options;
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData });
    this.#worker = worker;
    const failed = new Promise<never>((_, reject) => {
      worker.on('error', (error) => this.#end(asError(error)));
      worker.on('exit', (code) => this.#end(new LedgerStopped(`the ledger ended, code ${code}`)));
      this.#asked.set(0, { resolve: () => {}, reject });
    });
    const first = once(worker, 'message');
    // trust: the worker's first message
    const [ready] = (await Promise.race([first, failed])) as [Ready];
    this.#asked.delete(0);
    this.#ready = ready;
    worker.on('message', ({ number, answer, fault }: Reply) => {
      if (number === 0) stalled?.(String(fault));
      const asked = this.#asked.get(number);
      this.#asked.delete(number);
      if (fault === undefined) asked?.resolve(answer);
      else asked?.reject(new Error(fault));
    });
  }

  /** Blocks and answers end; what waits in the mempool is lost. */
  async stop(): Promise<void> {
    await this.#replacing?.catch(() => {});
    this.#isStopping = true;
    if (this.#worker === null || this.#ended !== null) return;
    const exit = once(this.#worker, 'exit');
    await this.#ask('stop', null);
    await exit;
  }

  get deployment(): Deployment {
    assert(this.#ready !== null, 'the ledger is started before it is asked');
    return this.#ready.deployment;
  }

  get slotConfig(): SlotConfig {
    assert(this.#ready !== null, 'the ledger is started before it is asked');
    return this.#ready.slotConfig;
  }

  submit(bytes: Uint8Array): Promise<SubmitOutcome> {
    return this.#ask('submit', bytes);
  }

  async open(points: readonly Point[]): Promise<ChainStream | null> {
    const id = await this.#ask('open', points);
    if (id === null) return null;
    return new EmulatedStream(
      () => this.#ask('pull', id),
      () => this.#ask('close', id),
    );
  }

  async byPaymentKey(
    keyHash: string,
    view: UtxoView,
    page: { after?: OutputRef; offset?: number; limit?: number } = {},
  ): Promise<readonly Utxo[]> {
    const found = await this.#ask('byPaymentKey', { keyHash, view, page });
    return found.map(unpacked);
  }

  async byAsset(asset: AssetId, view: UtxoView): Promise<readonly Utxo[]> {
    const found = await this.#ask('byAsset', { asset, view });
    return found.map(unpacked);
  }

  async byRefs(refs: readonly OutputRef[]): Promise<readonly UtxoState[]> {
    const found = await this.#ask('byRefs', refs);
    return found.map(unpackedState);
  }

  tip(): Promise<Tip> {
    return this.#ask('tip', null);
  }

  /** Pays from the faucet's wallet; `accepted` is in the mempool, as with `submit`. */
  faucet(address: string, lovelace: bigint): Promise<SubmitOutcome> {
    return this.#ask('faucet', { address, lovelace });
  }

  /**
   * Makes blocks at once, each in the next slot; a paced chain then waits for the clock, and does
   * not run far ahead of it. Resolves with the newest.
   */
  async mine(count: number): Promise<BlockHead | null | Failure> {
    const result = await this.#ask('mine', count);
    return 'failure' in result ? new Failure(result.cause, result.failure) : result.tip;
  }

  /**
   * Takes back the newest `depth` blocks, at once. Their transactions, or those named, and what
   * waited are judged again in order; `mempool` events tell what became of them.
   */
  async fork(
    depth: number,
    { resubmit = 'all' }: { resubmit?: Resubmit } = {},
  ): Promise<ForkResult | Failure> {
    const result = await this.#ask('fork', { depth, resubmit });
    return 'failure' in result ? new Failure(result.cause, result.failure) : result;
  }

  /** As it was told last. */
  get role(): LedgerRole {
    return this.#role;
  }

  /** Begins to make blocks and to take transactions, once all that waits here was judged. */
  async lead(): Promise<BlockHead | null> {
    const { tip } = await this.#ask('lead', null);
    this.#role = 'leader';
    return tip;
  }

  /** Ends that, at once: what was not taken yet is refused. */
  async follow(): Promise<void> {
    this.#role = 'replica';
    await this.#ask('follow', null);
  }

  /** A replica's: blocks of the leader, all of them or none. Rejects when the ledger leads. */
  apply(blocks: readonly BlockCopy[]): Promise<CopyOutcome> {
    return this.#ask('apply', blocks);
  }

  /** A replica's: what waits at the leader. Rejects when the ledger leads. */
  applyMempool(change: MempoolCopy): Promise<CopyOutcome> {
    return this.#ask('applyMempool', change);
  }

  /**
   * A replica's: back to a block, null is the beginning; rejects when the ledger leads. Nothing
   * waits then, and what lost its block is told of again by `applyMempool` or judged by `lead`.
   */
  rollTo(point: BlockHead | null): Promise<CopyOutcome> {
    return this.#ask('rollTo', point);
  }

  /**
   * A replica's: takes back what is above the newest of `points` (newest first), as `rollTo` does;
   * rejects when the ledger leads. `reachesStart`: the oldest of them is the first block, so
   * that a ledger with none of them goes back to its beginning.
   */
  reconcile(points: readonly Point[], reachesStart: boolean): Promise<Reconciled> {
    return this.#ask('reconcile', { points, reachesStart });
  }

  /** For `WorkerOptions.begun` of other nodes. */
  async genesis(): Promise<GenesisCopy | Failure> {
    const result = await this.#ask('genesis', null);
    return 'failure' in result ? new Failure(result.cause, result.failure) : result;
  }

  /** Writes a copy of the whole ledger into a file that does not exist yet. */
  async snapshot(file: string): Promise<Failure | null> {
    const result = await this.#ask('snapshot', file);
    return result === null ? null : new Failure(result.cause, result.failure);
  }

  /** A replica's: goes on with the ledger at `path`, which is moved. Questions wait meanwhile. */
  replaceBy(path: string): Promise<void> {
    assert(this.#role === 'replica' && this.#replacing === null, 'a replica is replaced, once');
    const replacing = this.#replaceBy(path, this.stop()).finally(() => {
      this.#replacing = null;
    });
    this.#replacing = replacing;
    return replacing;
  }

  async #replaceBy(path: string, stopped: Promise<void>): Promise<void> {
    await stopped;
    replaceDatabase(path, this.#options.file);
    [this.#ready, this.#ended, this.#isStopping] = [null, null, false];
    await this.start();
  }

  /** The block that holds a transaction; null where none does. */
  blockOf(id: string): Promise<BlockHead | null> {
    return this.#ask('blockOf', id);
  }

  async #ask<Name extends CallName>(
    name: Name,
    argument: Calls[Name]['argument'],
  ): Promise<Calls[Name]['answer']> {
    if (name !== 'stop') await this.#replacing?.catch(() => {});
    if (this.#ended !== null) throw this.#ended;
    assert(this.#worker !== null, 'the ledger is started before it is asked');
    assert(this.#asked.size < MOST_ASKED, `at most ${MOST_ASKED} questions wait for the ledger`);
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#asked.set(number, { resolve, reject });
    });
    this.#worker.postMessage({ number, name, argument });
    // trust: the worker answers a question with what `Calls` says
    return answer as Promise<Calls[Name]['answer']>;
  }

  #end(error: Error): void {
    if (this.#ended !== null) return;
    const isReady = this.#ready !== null;
    this.#ended = isReady ? new LedgerStopped('the ledger stopped', { cause: error }) : error;
    for (const { reject } of this.#asked.values()) reject(this.#ended);
    this.#asked.clear();
    if (!this.#isStopping && isReady) this.#options.died(error);
  }
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
