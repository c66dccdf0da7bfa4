/**
 * The thread that talks to the node: calls in, answers out, batches of events on request. An error
 * that is no fault of the node ends the thread; OgmiosChain reports it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { assert, isFault } from '../../engine/runtime/assert.ts';
import { Backoff } from '../../engine/runtime/backoff.ts';
import { pause, systemClock } from '../../engine/runtime/clock.ts';
import { seededRng } from '../../engine/runtime/rng.ts';
import type { Point } from '../port.ts';
import { NodeConnection } from './connection.ts';
import { Eras } from './eras.ts';
import { NodeFault } from './fault.ts';
import type { CallName, Calls, FromWorker, Request, WorkerOptions } from './messages.ts';
import { NodeQueries } from './nodeQueries.ts';
import { NodeStream } from './nodeStream.ts';
import type { NodeReporter } from './observer.ts';
import { intersect } from './recentBlocks.ts';

assert(parentPort !== null, 'this file is run as a worker');
const port = parentPort;
// trust: handed over by OgmiosChain
const { url, targets, limits, seed } = workerData as WorkerOptions;
const clock = systemClock;
const rng = seededRng(seed);

const MOST_STREAMS = 64;

const streams = new Map<number, NodeStream>();
/** Unanswered pulls: number of the call by stream. */
const pulls = new Map<number, number>();
const stopping = new AbortController();
let streamsOpened = 0;
let reportedTip: string | undefined;

function tell(message: FromWorker): void {
  port.postMessage(message);
}

const report: NodeReporter = {
  connected: (connection) => tell({ kind: 'connected', connection }),
  lost(connection, { fault, message }, retryInMs) {
    if (stopping.signal.aborted) return;
    tell({ kind: 'lost', connection, cause: fault, message, retryInMs });
  },
  tip(tip) {
    const hash = tip?.hash ?? '';
    if (hash === reportedTip) return;
    reportedTip = hash;
    tell({ kind: 'tip', tip });
  },
};
const eras = new Eras((known) => tell({ kind: 'eras', eras: known }));
const connecting = { url, limits, clock };
const questions = new NodeQueries({ ...connecting, report, knows, accepted });

function knows(id: string): boolean {
  for (const stream of streams.values()) if (stream.knows(id)) return true;
  return false;
}

function accepted(tx: Transaction): void {
  for (const stream of streams.values()) stream.accepted(tx);
}

/** Retries `attempt` with back-off until it succeeds; null: the thread is stopping. */
async function retried<T>(attempt: () => Promise<T>): Promise<T | null> {
  const backoff = new Backoff(limits.retry, rng);
  while (!stopping.signal.aborted) {
    try {
      return await attempt();
    } catch (error) {
      const retryInMs = backoff.nextMs();
      report.lost('chain', NodeFault.of(error), retryInMs);
      await pause(clock, retryInMs, stopping.signal);
    }
  }
  return null;
}

async function open(points: readonly Point[]): Promise<number | null> {
  const found = points.length === 0 ? null : await retried(() => common(points));
  if (found === undefined || stopping.signal.aborted) return null;
  assert(streams.size < MOST_STREAMS, 'streams are closed by those who open them');
  streamsOpened += 1;
  const id = streamsOpened;
  const at = points.findIndex(({ hash }) => hash === found?.hash);
  const stream = new NodeStream(found, points.slice(at + 1), {
    ...connecting,
    rng,
    eras,
    report,
    targets,
    isOurs: (tx) => questions.isOurs(tx),
    onReadable: () => answerPull(id),
  });
  streams.set(id, stream);
  stream.start();
  return id;
}

async function common(points: readonly Point[]): Promise<Point | null | undefined> {
  const connection = await NodeConnection.open(connecting);
  try {
    return await intersect(connection, points);
  } finally {
    connection.end(new NodeFault('closed', 'it is no longer needed'));
  }
}

function answerPull(id: number): void {
  const number = pulls.get(id);
  if (number === undefined) return;
  const events = streams.get(id)?.read() ?? null;
  if (events?.length === 0) return;
  pulls.delete(id);
  tell({ kind: 'answer', number, answer: events });
}

type Handlers = {
  readonly [Name in Exclude<CallName, 'pull'>]: (
    argument: Calls[Name]['argument'],
  ) => Promise<Calls[Name]['answer']>;
};

const handlers: Handlers = {
  open,
  async begin({ stream, watchList }) {
    streams.get(stream)?.begin(watchList);
    return null;
  },
  async close(id) {
    streams.get(id)?.close();
    streams.delete(id);
    answerPull(id);
    return null;
  },
  submit: (bytes) => questions.submit(bytes),
  async expect(id) {
    questions.expect(id);
    for (const stream of streams.values()) stream.expect();
    return null;
  },
  parameters: () => questions.parameters(),
  async stop() {
    stopping.abort();
    for (const [id, stream] of streams) {
      stream.close();
      streams.delete(id);
      answerPull(id);
    }
    clock.soon(() => port.close());
    await questions.close();
    return null;
  },
};

async function answer<Name extends Exclude<CallName, 'pull'>>(
  name: Name,
  argument: Calls[Name]['argument'],
  number: number,
): Promise<void> {
  const handler: Handlers[Name] = handlers[name];
  try {
    tell({ kind: 'answer', number, answer: await handler(argument) });
  } catch (error) {
    const isRetryable = error instanceof NodeFault || isFault(error, 'unreadableMessage');
    const message = error instanceof Error ? error.message : String(error);
    tell({ kind: 'fault', number, fault: { message, isRetryable } });
  }
}

// trust: OgmiosChain sends nothing else
port.on('message', ({ number, name, argument }: Request) => {
  if (name === 'pull') {
    pulls.set(Number(argument), number);
    answerPull(Number(argument));
  } else void answer(name, argument, number);
});

await retried(() => questions.readEras(eras));
