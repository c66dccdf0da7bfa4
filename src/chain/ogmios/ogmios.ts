/**
 * A real chain behind the ports, through an Ogmios server. A thread (ogmiosClient.ts) reads all
 * messages of the node; this is the main thread's end.
 *
 * The node may come and go: streams continue where they were, and calls that need the node fail
 * with `Unavailable` and may be retried. When the thread ends, every stream and call fails with
 * `threadEnded`.
 */
import type { Utxo } from '../../cardano/codec/output.ts';
import type { EraSlots, SlotConfig } from '../../cardano/codec/slots.ts';
import type { PartialDeployment } from '../../cardano/datums/deployment.ts';
import type { ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { SubmitOutcome, Submitter } from '../../cardano/ledger/port.ts';
import type { Evaluation } from '../../cardano/ledger/scalus.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { RefText } from '../../engine/market/events.ts';
import { unlessAborted, withDeadline } from '../../engine/runtime/abort.ts';
import { assert, Fault, isFault } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, Unavailable } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { Service } from '../../engine/runtime/service.ts';
import type { ChainEvent, ChainSource, ChainStream, ChainTip, Point } from '../port.ts';
import {
  DEFAULT_LIMITS,
  deserializeTransaction,
  type Limits,
  type OgmiosNews,
  type SerializedEvent,
  type WatchList,
  type WorkerOptions,
} from './messages.ts';
import type { OgmiosObserver } from './observer.ts';
import { type OgmiosThread, type StartOgmiosThread, startOgmiosThread } from './ogmiosThread.ts';
import { filterTargetsOf } from './transactionFilter.ts';

/** Tokens of the fold, and its unspent outputs at the applied block. */
export interface WatchSource {
  readonly tokens: Iterable<AssetId>;
  readonly watched: Iterable<RefText>;
}

export interface OgmiosOptions {
  /** ws:// or wss://, without a path. */
  readonly url: string;
  /** Deployment whose transactions pass; null: every transaction passes. */
  readonly deployment: Pick<
    PartialDeployment,
    'launchPolicyId' | 'metadataAddress' | 'scripts'
  > | null;
  /** Called before a stream sends blocks, when its earlier events are applied. */
  readonly watched: () => WatchSource;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly observer: OgmiosObserver;
  readonly limits?: Partial<Limits>;
  /** Absent: a thread. */
  readonly startThread?: StartOgmiosThread | undefined;
}

/** On top of the thread's own time limits. */
const ANSWER_MARGIN_MS = 5_000;
/** The thread ends in this time, unless it waits for a server; then it is terminated. */
const STOP_MS = 1_000;

export class OgmiosChain implements ChainSource, Submitter, Service {
  readonly name = 'ogmios';
  readonly #options: OgmiosOptions;
  readonly #limits: Limits;
  readonly #listeners = new Set<(tip: ChainTip | null) => void>();
  #running: OgmiosThread | null = null;
  #eras: readonly EraSlots[] = [];
  /** undefined: not reported yet. */
  #tip: ChainTip | null | undefined;
  #isStopping = false;
  #started = Promise.withResolvers<void>();

  constructor(options: OgmiosOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /**
   * Resolves once a node was reached and has sent its eras. Retries without end and reports each
   * attempt to the observer. Rejects when it is stopped meanwhile.
   */
  async start(): Promise<void> {
    const { url, deployment, rng } = this.#options;
    const workerData: WorkerOptions = {
      url,
      targets: deployment === null ? null : filterTargetsOf(deployment),
      limits: this.#limits,
      seed: Math.floor(rng.unit() * 2 ** 32),
    };
    const start = this.#options.startThread ?? startOgmiosThread;
    this.#running = start(workerData, {
      onNews: (news) => this.#hear(news),
      onEnd: (error) => {
        const cause = error ?? undefined;
        this.#started.reject(new Fault('threadEnded', 'the node is no longer followed', { cause }));
        if (error !== null) this.#options.observer.ogmiosFailed(error);
      },
    });
    await this.#started.promise;
  }

  /** Also while it starts. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    // Whatever ended it instead was reported; transactions that it acknowledged are in the node.
    await this.#running?.stop({ clock: this.#options.clock, ms: STOP_MS }).catch(() => {});
  }

  /** Waits while the node is away. */
  async open(points: readonly Point[]): Promise<ChainStream | null> {
    const thread = this.#thread;
    const stream = await thread.call('open', [points]);
    if (stream === null) return null;
    const calls = {
      begin: (watchList: WatchList) => thread.call('begin', [stream, watchList]),
      pull: () => thread.call('pull', [stream]).catch((error) => this.#ifStopped(error)),
      close: () => thread.call('close', [stream]).catch(unlessStopped),
    };
    return new OgmiosStream(calls, () => this.#watchList(), points.length === 0);
  }

  /** Throws `Unavailable` when the node does not answer: the same may be submitted again. */
  submit(bytes: Uint8Array): Promise<SubmitOutcome> {
    return this.#inTime(this.#thread.call('submit', [bytes]));
  }

  /** Makes streams report this transaction, which was submitted elsewhere. */
  async expect(txHash: string): Promise<void> {
    await this.#thread.call('expect', [txHash]);
  }

  /** At the node's tip. Throws `Unavailable`. */
  parameters(): Promise<ProtocolParameters> {
    return this.#inTime(this.#thread.call('parameters', []));
  }

  /** By the node. Throws `Unavailable`, and another error where it does not evaluate. */
  evaluate(bytes: Uint8Array, utxos: readonly Utxo[]): Promise<Evaluation> {
    return this.#inTime(this.#thread.call('evaluate', [{ bytes, utxos }]));
  }

  /** Slots of the newest era; right for slots and times of that era only. */
  slots(): SlotConfig {
    const newest = this.#eras.at(-1);
    assert(newest !== undefined, 'the chain is started before it is asked');
    return newest;
  }

  /** The eras that the node knows, oldest first. */
  eras(): readonly EraSlots[] {
    return this.#eras;
  }

  /** The node's newest block, as last reported; null: none, or not reported yet. */
  tip(): ChainTip | null {
    return this.#tip ?? null;
  }

  /** The node reported a chain without a block. */
  get isEmpty(): boolean {
    return this.#tip === null;
  }

  /** Calls `listener` with every new tip, until the returned function is called. */
  onTip(listener: (tip: ChainTip | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Streams end with the chain, and fail with its thread. */
  #ifStopped(error: unknown): null {
    if (this.#isStopping && isFault(error, 'threadEnded')) return null;
    throw error;
  }

  #watchList(): WatchList {
    const { tokens, watched } = this.#options.watched();
    const policies = new Set<string>();
    for (const token of tokens) policies.add(token.slice(0, token.indexOf('.')));
    return { policies: [...policies], refs: [...watched] };
  }

  async #inTime<T extends object>(answer: Promise<T>): Promise<T> {
    const limitMs = 2 * this.#limits.answerMs + ANSWER_MARGIN_MS;
    const inTime = (signal: AbortSignal) => unlessAborted(answer, signal);
    const found = await withDeadline(this.#options.clock, limitMs, inTime).catch((error) => {
      throw isFault(error, 'nodeSilent') ? unavailable(error.message) : error;
    });
    if (found === null) throw unavailable(`no answer within ${limitMs} ms`);
    return found;
  }

  get #thread(): OgmiosThread {
    assert(this.#running !== null, 'the chain is started before it is asked');
    return this.#running;
  }

  #hear(news: OgmiosNews): void {
    const { observer } = this.#options;
    if (news.kind === 'tip') {
      this.#tip = news.tip;
      for (const listener of this.#listeners) listener(news.tip);
    } else if (news.kind === 'eras') {
      this.#eras = news.eras;
      this.#started.resolve();
    } else if (news.kind === 'connected') observer.nodeConnected(news.connection);
    else if (news.kind === 'passedOver') observer.partPassedOver(news.part);
    else observer.nodeLost(news.connection, news.cause, news.message, news.retryInMs);
  }
}

/** The thread's end closes its streams as well. */
function unlessStopped(error: unknown): void {
  if (!isFault(error, 'threadEnded')) throw error;
}

function unavailable(message: string): Unavailable {
  const what = `the Cardano node cannot be asked now (${message}): try again`;
  return new Unavailable(new Failure('NOT_READY', what, { retryAfterSeconds: 5 }));
}

interface StreamCalls {
  begin(watchList: WatchList): Promise<unknown>;
  pull(): Promise<readonly SerializedEvent[] | null>;
  close(): Promise<unknown>;
}

/**
 * The main thread's end of a stream. It pulls a batch when the one before is used up, so the thread
 * never gets further ahead than its bound. A watch list that the thread needs goes out with the
 * call after the event that asked for it: by then the follower has applied that event.
 */
class OgmiosStream implements ChainStream {
  readonly #calls: StreamCalls;
  readonly #watchList: () => WatchList;
  #batch: SerializedEvent[] = [];
  #needsWatchList: boolean;
  #isClosed = false;

  /** `needsWatchList`: the stream starts with the chain's first block, not with `back`. */
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
    const here = this.nextReceived();
    if (here !== null || this.#isClosed) return here;
    const batch = await this.#calls.pull();
    if (batch === null || this.#isClosed) return null;
    assert(batch.length > 0, 'a batch holds an event');
    this.#batch = [...batch].reverse();
    return this.nextReceived();
  }

  /** The next event of the received batch; null where there is none now. */
  nextReceived(): ChainEvent | null {
    const event = this.#isClosed || this.#needsWatchList ? undefined : this.#batch.pop();
    if (event === undefined) return null;
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
  if (event.kind === 'mempool') {
    return { ...event, added: event.added.map(deserializeTransaction) };
  }
  const { transactions, ids: _, ...block } = event.block;
  return {
    kind: 'forward',
    block: { ...block, transactions: transactions.map(deserializeTransaction) },
  };
}
