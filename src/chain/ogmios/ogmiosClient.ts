/**
 * Runs in a thread and talks to the node: answers calls, and gives batches of events on request. An
 * error that the node did not cause ends the thread; OgmiosChain reports it.
 */
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { assert, Fault, isFault } from '../../engine/runtime/assert.ts';
import { Backoff } from '../../engine/runtime/backoff.ts';
import { type Clock, pause } from '../../engine/runtime/clock.ts';
import { type Rng, seededRng } from '../../engine/runtime/rng.ts';
import type { Handlers } from '../../engine/runtime/thread.ts';
import type { OpenSocket } from '../access.ts';
import type { Point } from '../port.ts';
import { NodeConnection } from './connection.ts';
import { Eras } from './eras.ts';
import { NodeFault } from './fault.ts';
import type { OgmiosCalls, OgmiosNews, SerializedEvent, WorkerOptions } from './messages.ts';
import { NodeQueries } from './nodeQueries.ts';
import { NodeStream } from './nodeStream.ts';
import type { NodeReporter } from './observer.ts';
import { intersect } from './recentBlocks.ts';

interface OgmiosClientDeps {
  readonly clock: Clock;
  /** Absent: over the network. */
  readonly openSocket?: OpenSocket;
  report(news: OgmiosNews): void;
}

type Events = readonly SerializedEvent[] | null;

const MAX_STREAMS = 64;
/** Kinds of unknown parts that are reported: strangers choose their names. */
const MAX_PARTS = 100;
const LONGEST_PART = 200;

export class OgmiosClient {
  readonly #options: WorkerOptions;
  readonly #deps: OgmiosClientDeps;
  readonly #rng: Rng;
  readonly #streams = new Map<number, NodeStream>();
  /** Unanswered pulls, by stream. */
  readonly #pulls = new Map<number, (events: Events) => void>();
  readonly #stopping = new AbortController();
  readonly #eras: Eras;
  readonly #questions: NodeQueries;
  #streamsOpened = 0;
  #reportedTip: string | undefined;
  readonly #passedOver = new Set<string>();
  readonly #report: NodeReporter = {
    connected: (connection) => this.#deps.report({ kind: 'connected', connection }),
    lost: (connection, { fault, message }, retryInMs) => {
      if (this.#stopping.signal.aborted) return;
      this.#deps.report({ kind: 'lost', connection, cause: fault, message, retryInMs });
    },
    tip: (tip) => {
      const hash = tip?.hash ?? '';
      if (hash === this.#reportedTip) return;
      this.#reportedTip = hash;
      this.#deps.report({ kind: 'tip', tip });
    },
    passedOver: (part) => {
      const kind = part.slice(0, LONGEST_PART);
      if (this.#passedOver.has(kind) || this.#passedOver.size >= MAX_PARTS) return;
      this.#passedOver.add(kind);
      this.#deps.report({ kind: 'passedOver', part: kind });
    },
  };
  readonly calls: Handlers<OgmiosCalls> = {
    open: (points) => this.#open(points),
    begin: (stream, watchList) => this.#streams.get(stream)?.startFrom(watchList),
    pull: (stream) => {
      return new Promise((resolve) => {
        this.#pulls.set(stream, resolve);
        this.#answerPull(stream);
      });
    },
    close: (stream) => this.#close(stream),
    submit: (bytes) => answered(this.#questions.submit(bytes)),
    expect: (txHash) => {
      this.#questions.expect(txHash);
      for (const stream of this.#streams.values()) stream.expect();
    },
    parameters: () => answered(this.#questions.parameters()),
    evaluate: (request) => answered(this.#questions.evaluate(request)),
    stop: async () => {
      this.#stopping.abort();
      for (const id of this.#streams.keys()) this.#close(id);
      await this.#questions.close();
    },
  };

  constructor(options: WorkerOptions, deps: OgmiosClientDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#rng = seededRng(options.seed);
    this.#eras = new Eras((known) => deps.report({ kind: 'eras', eras: known }));
    this.#questions = new NodeQueries({
      ...this.#connecting,
      report: this.#report,
      knows: (id) => [...this.#streams.values()].some((stream) => stream.knows(id)),
      accepted: (tx: Transaction) => {
        for (const stream of this.#streams.values()) stream.accepted(tx);
      },
    });
  }

  /** Resolves once the node's eras are read. */
  async start(): Promise<void> {
    await this.#retried(() => this.#questions.readEras(this.#eras));
  }

  get #connecting() {
    const { url, limits } = this.#options;
    const { clock, openSocket } = this.#deps;
    return { url, limits, clock, ...(openSocket === undefined ? {} : { openSocket }) };
  }

  /** Retries `attempt` with back-off until it succeeds; null: the thread is stopping. */
  async #retried<T>(attempt: () => Promise<T>): Promise<T | null> {
    const { signal } = this.#stopping;
    const backoff = new Backoff(this.#options.limits.retry, this.#rng);
    while (!signal.aborted) {
      try {
        return await attempt();
      } catch (error) {
        const retryInMs = backoff.nextMs();
        this.#report.lost('chain', NodeFault.of(error), retryInMs);
        await pause(this.#deps.clock, retryInMs, signal);
      }
    }
    return null;
  }

  async #open(points: readonly Point[]): Promise<number | null> {
    const isNew = points.length === 0;
    const found = isNew ? null : await this.#retried(() => this.#common(points));
    if (found === undefined || this.#stopping.signal.aborted) return null;
    assert(this.#streams.size < MAX_STREAMS, 'streams are closed by those who open them');
    this.#streamsOpened += 1;
    const id = this.#streamsOpened;
    const at = points.findIndex(({ hash }) => hash === found?.hash);
    const stream = new NodeStream(found, points.slice(at + 1), {
      ...this.#connecting,
      rng: this.#rng,
      eras: this.#eras,
      report: this.#report,
      targets: this.#options.targets,
      isOurs: (tx) => this.#questions.isOurs(tx),
      onReadable: () => this.#answerPull(id),
    });
    this.#streams.set(id, stream);
    stream.start();
    return id;
  }

  async #common(points: readonly Point[]): Promise<Point | null | undefined> {
    const connection = await NodeConnection.open(this.#connecting);
    try {
      return await intersect(connection, points);
    } finally {
      connection.end(new NodeFault('closed', 'it is no longer needed'));
    }
  }

  #close(id: number): void {
    this.#streams.get(id)?.close();
    this.#streams.delete(id);
    this.#answerPull(id);
  }

  #answerPull(id: number): void {
    const answer = this.#pulls.get(id);
    if (answer === undefined) return;
    const events = this.#streams.get(id)?.read() ?? null;
    if (events?.length === 0) return;
    this.#pulls.delete(id);
    answer(events);
  }
}

/** Errors of a node that is away become `nodeSilent`, so that the caller may repeat the request. */
async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof NodeFault) && !isFault(error, 'unreadableMessage')) throw error;
    throw new Fault('nodeSilent', error.message, { cause: error });
  }
}
