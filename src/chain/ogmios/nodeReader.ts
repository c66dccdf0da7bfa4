/**
 * Runs in a thread and talks to the node: takes calls, sends answers, and sends batches of events
 * on request. An error that the node did not cause ends the thread; OgmiosChain reports it.
 */
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { assert, isFault } from '../../engine/runtime/assert.ts';
import { Backoff } from '../../engine/runtime/backoff.ts';
import { type Clock, pause } from '../../engine/runtime/clock.ts';
import { type Rng, seededRng } from '../../engine/runtime/rng.ts';
import type { OpenSocket } from '../access.ts';
import type { Point } from '../port.ts';
import { NodeConnection } from './connection.ts';
import { Eras } from './eras.ts';
import { NodeFault } from './fault.ts';
import type { CallName, Calls, FromWorker, Request, WorkerOptions } from './messages.ts';
import { NodeQueries } from './nodeQueries.ts';
import { NodeStream } from './nodeStream.ts';
import type { NodeReporter } from './observer.ts';
import { intersect } from './recentBlocks.ts';

interface NodeReaderDeps {
  readonly clock: Clock;
  /** Absent: over the network. */
  readonly openSocket?: OpenSocket;
  tell(message: FromWorker): void;
  /** All work has stopped: the thread may end. */
  stopped(): void;
}

type Handlers = {
  readonly [Name in Exclude<CallName, 'pull'>]: (
    argument: Calls[Name]['argument'],
  ) => Promise<Calls[Name]['answer']>;
};

const MOST_STREAMS = 64;
/** Kinds of unknown parts that are reported: strangers choose their names. */
const MOST_PARTS = 100;
const LONGEST_PART = 200;

export class NodeReader {
  readonly #options: WorkerOptions;
  readonly #deps: NodeReaderDeps;
  readonly #rng: Rng;
  readonly #streams = new Map<number, NodeStream>();
  /** Unanswered pulls: number of the call by stream. */
  readonly #pulls = new Map<number, number>();
  readonly #stopping = new AbortController();
  readonly #eras: Eras;
  readonly #questions: NodeQueries;
  #streamsOpened = 0;
  #reportedTip: string | undefined;
  readonly #passedOver = new Set<string>();
  readonly #report: NodeReporter = {
    connected: (connection) => this.#deps.tell({ kind: 'connected', connection }),
    lost: (connection, { fault, message }, retryInMs) => {
      if (this.#stopping.signal.aborted) return;
      this.#deps.tell({ kind: 'lost', connection, cause: fault, message, retryInMs });
    },
    tip: (tip) => {
      const hash = tip?.hash ?? '';
      if (hash === this.#reportedTip) return;
      this.#reportedTip = hash;
      this.#deps.tell({ kind: 'tip', tip });
    },
    passedOver: (part) => {
      const kind = part.slice(0, LONGEST_PART);
      if (this.#passedOver.has(kind) || this.#passedOver.size >= MOST_PARTS) return;
      this.#passedOver.add(kind);
      this.#deps.tell({ kind: 'passedOver', part: kind });
    },
  };
  readonly #handlers: Handlers = {
    open: (points) => this.#open(points),
    begin: async ({ stream, watchList }) => {
      this.#streams.get(stream)?.begin(watchList);
      return null;
    },
    close: async (id) => {
      this.#close(id);
      return null;
    },
    submit: (bytes) => this.#questions.submit(bytes),
    expect: async (id) => {
      this.#questions.expect(id);
      for (const stream of this.#streams.values()) stream.expect();
      return null;
    },
    parameters: () => this.#questions.parameters(),
    evaluate: (request) => this.#questions.evaluate(request),
    stop: async () => {
      this.#stopping.abort();
      for (const id of this.#streams.keys()) this.#close(id);
      this.#deps.clock.soon(() => this.#deps.stopped());
      await this.#questions.close();
      return null;
    },
  };

  constructor(options: WorkerOptions, deps: NodeReaderDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#rng = seededRng(options.seed);
    this.#eras = new Eras((known) => deps.tell({ kind: 'eras', eras: known }));
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

  obey({ number, name, argument }: Request): void {
    if (name === 'pull') {
      this.#pulls.set(Number(argument), number);
      this.#answerPull(Number(argument));
    } else void this.#answer(name, argument, number);
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
    assert(this.#streams.size < MOST_STREAMS, 'streams are closed by those who open them');
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
    const number = this.#pulls.get(id);
    if (number === undefined) return;
    const events = this.#streams.get(id)?.read() ?? null;
    if (events?.length === 0) return;
    this.#pulls.delete(id);
    this.#deps.tell({ kind: 'answer', number, answer: events });
  }

  async #answer<Name extends Exclude<CallName, 'pull'>>(
    name: Name,
    argument: Calls[Name]['argument'],
    number: number,
  ): Promise<void> {
    const handler: Handlers[Name] = this.#handlers[name];
    try {
      this.#deps.tell({ kind: 'answer', number, answer: await handler(argument) });
    } catch (error) {
      const isRetryable = error instanceof NodeFault || isFault(error, 'unreadableMessage');
      const message = error instanceof Error ? error.message : String(error);
      this.#deps.tell({ kind: 'fault', number, fault: { message, isRetryable } });
    }
  }
}
