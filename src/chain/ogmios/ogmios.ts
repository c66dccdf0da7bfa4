/**
 * A real chain behind the ports, through an Ogmios server. Everything that reads messages of the
 * node runs in a thread of its own (worker.ts); this is its other end.
 *
 * The node may come and go: streams go on where they were, and questions that need it fail with
 * `Unavailable`, which may be asked again. When the thread ends, every stream and question fails
 * with `OgmiosStopped`, and so does every later one.
 */
import { Worker } from 'node:worker_threads';
import type { EraSlots, SlotConfig } from '../../cardano/codec/slots.ts';
import type { PartialDeployment } from '../../cardano/datums/deployment.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { SubmitOutcome, Submitter } from '../../cardano/ledger/port.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { RefText } from '../../engine/market/events.ts';
import { unlessAborted, withDeadline } from '../../engine/runtime/abort.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, Unavailable } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { Service } from '../../engine/runtime/service.ts';
import type { ChainEvent, ChainSource, ChainStream, ChainTip, Point } from '../port.ts';
import {
  type CallName,
  type Calls,
  DEFAULT_LIMITS,
  deserializeTransaction,
  type FromWorker,
  type Limits,
  type SerializedEvent,
  type SerializedFault,
  type WatchList,
  type WorkerOptions,
} from './messages.ts';
import type { OgmiosObserver } from './observer.ts';
import { filterTargetsOf } from './transactionFilter.ts';

/** What the fold knows: its tokens, and the outputs that are unspent as far as it has come. */
export interface WatchedMarket {
  readonly tokens: Iterable<AssetId>;
  readonly watched: Iterable<RefText>;
}

export interface OgmiosOptions {
  /** ws:// or wss://, without a path. */
  readonly url: string;
  /** What to look for; null: every transaction is told. */
  readonly deployment: Pick<
    PartialDeployment,
    'launchPolicyId' | 'metadataAddress' | 'scripts'
  > | null;
  /** Asked when a stream is about to tell blocks, after all that it told before was taken in. */
  readonly watched: () => WatchedMarket;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly observer: OgmiosObserver;
  readonly limits?: Partial<Limits>;
}

export class OgmiosStopped extends Error {}

interface Asked {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

const MOST_ASKED = 20_000;
/** Beyond what the thread itself allows for an answer. */
const PATIENCE_MS = 5_000;
/** The thread ends by itself in this time, unless it waits for a server that does not answer. */
const STOP_MS = 1_000;

export class OgmiosChain implements ChainSource, Submitter, Service {
  readonly name = 'ogmios';
  readonly #options: OgmiosOptions;
  readonly #limits: Limits;
  readonly #asked = new Map<number, Asked>();
  readonly #listeners = new Set<(tip: ChainTip | null) => void>();
  #worker: Worker | null = null;
  #eras: readonly EraSlots[] = [];
  /** undefined: nothing was told yet. */
  #tip: ChainTip | null | undefined;
  #ended: Error | null = null;
  #isStopping = false;
  #lastNumber = 0;
  #started = Promise.withResolvers<void>();

  constructor(options: OgmiosOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /**
   * Resolves once a node was reached and said how slots and time belong together; it is tried for
   * as long as it takes, which the observer is told. Rejects when it is stopped meanwhile.
   */
  async start(): Promise<void> {
    const { url, deployment, rng } = this.#options;
    const workerData: WorkerOptions = {
      url,
      targets: deployment === null ? null : filterTargetsOf(deployment),
      limits: this.#limits,
      seed: Math.floor(rng.unit() * 2 ** 32),
    };
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData });
    this.#worker = worker;
    worker.on('error', (error) => this.#end(asError(error)));
    worker.on('exit', (code) => this.#end(new Error(`its thread ended, code ${code}`)));
    worker.on('message', (message: FromWorker) => this.#take(message));
    await this.#started.promise;
  }

  /** Also while it starts. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const worker = this.#worker;
    if (worker === null || this.#ended !== null) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    const timer = this.#options.clock.after(STOP_MS, () => void worker.terminate());
    await this.#ask('stop', null).catch(() => {});
    await exited;
    timer.cancel();
  }

  /** Waits for the node, if need be. */
  async open(points: readonly Point[]): Promise<ChainStream | null> {
    const stream = await this.#ask('open', points);
    if (stream === null) return null;
    const calls = {
      begin: (watchList: WatchList) => this.#ask('begin', { stream, watchList }),
      pull: () => this.#ask('pull', stream).catch((error) => this.#ifStopped(error)),
      close: () => this.#ask('close', stream).catch(unlessStopped),
    };
    return new OgmiosStream(calls, () => this.#watchList(), points.length === 0);
  }

  /** Throws `Unavailable` when the node does not answer: the same may be submitted again. */
  submit(bytes: Uint8Array): Promise<SubmitOutcome> {
    return this.#inTime(this.#ask('submit', bytes));
  }

  /** Streams report this transaction, whatever it does; it was submitted elsewhere. */
  async expect(txHash: string): Promise<void> {
    await this.#ask('expect', txHash);
  }

  /** As they are at the node's tip. Throws `Unavailable`. */
  parameters(): Promise<ProtocolParameters> {
    return this.#inTime(this.#ask('parameters', null));
  }

  /** Of the newest era, which holds for the present: right for slots and times of that era. */
  slots(): SlotConfig {
    const newest = this.#eras.at(-1);
    assert(newest !== undefined, 'the chain is started before it is asked');
    return newest;
  }

  /** All eras, oldest first, as far as the node knows them. */
  eras(): readonly EraSlots[] {
    return this.#eras;
  }

  /** The node's newest block as it told it last; null: none, or nothing was told yet. */
  tip(): ChainTip | null {
    return this.#tip ?? null;
  }

  /** The node said that its chain has no block. */
  get isEmpty(): boolean {
    return this.#tip === null;
  }

  /** `listener` is called with every new tip, and returns how to end that. */
  onTip(listener: (tip: ChainTip | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Streams end with the chain, and fail with its thread. */
  #ifStopped(error: unknown): null {
    if (this.#isStopping && error instanceof OgmiosStopped) return null;
    throw error;
  }

  #watchList(): WatchList {
    const { tokens, watched } = this.#options.watched();
    const policies = new Set<string>();
    for (const token of tokens) policies.add(token.slice(0, token.indexOf('.')));
    return { policies: [...policies], refs: [...watched] };
  }

  async #inTime<T extends object>(answer: Promise<T>): Promise<T> {
    const limitMs = 2 * this.#limits.answerMs + PATIENCE_MS;
    const inTime = (signal: AbortSignal) => unlessAborted(answer, signal);
    const found = await withDeadline(this.#options.clock, limitMs, inTime);
    if (found === null) throw unavailable(`no answer within ${limitMs} ms`);
    return found;
  }

  async #ask<Name extends CallName>(
    name: Name,
    argument: Calls[Name]['argument'],
  ): Promise<Calls[Name]['answer']> {
    if (this.#ended !== null) throw this.#ended;
    assert(this.#worker !== null, 'the chain is started before it is asked');
    assert(this.#asked.size < MOST_ASKED, `at most ${MOST_ASKED} questions wait for the node`);
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#asked.set(number, { resolve, reject });
    });
    this.#worker.postMessage({ number, name, argument });
    // trust: the thread answers a question with what `Calls` says
    return answer as Promise<Calls[Name]['answer']>;
  }

  #take(message: FromWorker): void {
    const { observer } = this.#options;
    if (message.kind === 'answer') this.#asked.get(message.number)?.resolve(message.answer);
    else if (message.kind === 'fault') {
      this.#asked.get(message.number)?.reject(errorOf(message.fault));
    } else if (message.kind === 'tip') {
      this.#tip = message.tip;
      for (const listener of this.#listeners) listener(message.tip);
    } else if (message.kind === 'eras') {
      this.#eras = message.eras;
      this.#started.resolve();
    } else if (message.kind === 'connected') observer.nodeConnected(message.connection);
    else observer.nodeLost(message.connection, message.cause, message.message, message.retryInMs);
    if ('number' in message) this.#asked.delete(message.number);
  }

  #end(error: Error): void {
    if (this.#ended !== null) return;
    this.#ended = new OgmiosStopped('the node is no longer followed', { cause: error });
    this.#started.reject(this.#ended);
    for (const { reject } of this.#asked.values()) reject(this.#ended);
    this.#asked.clear();
    if (!this.#isStopping) this.#options.observer.ogmiosFailed(error);
  }
}

function errorOf({ message, isRetryable }: SerializedFault): Error {
  return isRetryable ? unavailable(message) : new Error(message);
}

/** The thread's end closes its streams as well. */
function unlessStopped(error: unknown): void {
  if (!(error instanceof OgmiosStopped)) throw error;
}

function unavailable(message: string): Unavailable {
  const what = `the Cardano node cannot be asked now (${message}): try again`;
  return new Unavailable(new Failure('NOT_READY', what, { retryAfterSeconds: 5 }));
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}

export interface StreamCalls {
  begin(watchList: WatchList): Promise<unknown>;
  pull(): Promise<readonly SerializedEvent[] | null>;
  close(): Promise<unknown>;
}

export class OgmiosStream implements ChainStream {
  readonly #calls: StreamCalls;
  readonly #watchList: () => WatchList;
  #batch: SerializedEvent[] = [];
  #needsWatchList: boolean;
  #isClosed = false;

  /** `needsWatchList`: it begins with the chain's first block, and not with `back`. */
  constructor(calls: StreamCalls, watchList: () => WatchList, needsWatchList: boolean) {
    this.#calls = calls;
    this.#watchList = watchList;
    this.#needsWatchList = needsWatchList;
  }

  async next(): Promise<ChainEvent | null> {
    if (this.#isClosed) return null;
    if (this.#needsWatchList) {
      this.#needsWatchList = false;
      await this.#calls.begin(this.#watchList());
    }
    if (this.#batch.length === 0) {
      const batch = this.#isClosed ? null : await this.#calls.pull();
      if (batch === null || this.#isClosed) return null;
      this.#batch = [...batch].reverse();
    }
    const event = this.#batch.pop();
    assert(event !== undefined, 'a batch holds an event');
    if (event.kind === 'back') this.#needsWatchList = event.needsWatchList;
    return deserializeEvent(event);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#calls.close();
  }
}

function deserializeEvent(event: SerializedEvent): ChainEvent {
  if (event.kind === 'back') return { kind: 'back', point: event.point };
  if (event.kind === 'mempool') return { ...event, added: event.added.map(deserializeTransaction) };
  const { block } = event;
  return {
    kind: 'forward',
    block: { ...block, transactions: block.transactions.map(deserializeTransaction) },
  };
}
