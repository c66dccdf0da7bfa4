/**
 * Worker threads: `Thread` is the caller's side, `serveThread` the thread's.
 *
 * Guarantees: each call is answered, or rejects. An error keeps its message, stack, cause, and
 * `code` or `kind`. When a thread ends for any reason, all waiting and later calls reject with the
 * Fault `threadEnded`, whose cause is the error that ended the thread.
 */

import { parentPort, Worker, workerData } from 'node:worker_threads';
import { assert, Fault, type FaultKind, isFault } from './assert.ts';
import type { Clock } from './clock.ts';
import { systemCode } from './errors.ts';

/** Functions that a thread answers, by name; `stop` ends its work. */
type AnyCalls<Calls> = { readonly [Name in keyof Calls]: (...values: never[]) => unknown } & {
  stop(): unknown;
};
type Values<Calls, Name extends keyof Calls> = Calls[Name] extends (...values: infer V) => unknown
  ? V
  : never;
type Answer<Calls, Name extends keyof Calls> = Calls[Name] extends (...values: never[]) => infer A
  ? Awaited<A>
  : never;

/** The calling side of a thread: `Thread`, or its replacement in a simulation. */
export interface Caller<Calls> {
  call<Name extends keyof Calls & string>(
    name: Name,
    values: Values<Calls, Name>,
    /** Memory that the thread takes over. */
    transfer?: readonly ArrayBuffer[],
  ): Promise<Answer<Calls, Name>>;
}

interface ThreadOptions<News> {
  /** A file that calls `serveThread`. */
  readonly script: URL;
  /** Copied into the thread. */
  readonly data: unknown;
  /** For messages: `the log's thread`. */
  readonly name: string;
  /**
   * An idle thread keeps the process alive; false: it does so only while a call waits for its
   * answer.
   */
  readonly keepsAlive?: boolean;
  readonly onNews?: (news: News) => void;
  /** Called once. The error is null where `stop` ended it. */
  readonly onEnd?: (error: Error | null) => void;
}

export interface StopLimit {
  readonly clock: Clock;
  readonly ms: number;
}

interface Call {
  readonly number: number;
  readonly name: string;
  readonly values: readonly unknown[];
}

interface SentError {
  /** A copied error keeps name, message, stack and cause, but no other field. */
  readonly error: unknown;
  readonly code: string | null;
  readonly kind: FaultKind | null;
}

type FromThread<News> =
  | { readonly news: News }
  | { readonly number: number; readonly answer: unknown }
  | { readonly number: number; readonly failed: SentError };

const MAX_WAITING = 20_000;
/**
 * Threads keep little: more room for young objects costs memory and saves nothing. Measured for the
 * devnet under payments: 32 MiB save a twentieth of its work, 8 MiB cost an eighth more.
 */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16 };
/** A thread that waits for a disk does not even terminate: it is left alone after this time. */
const TERMINATE_MS = 1_000;

export class Thread<Calls extends AnyCalls<Calls>, News = never> implements Caller<Calls> {
  readonly #options: ThreadOptions<News>;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #exited = Promise.withResolvers<void>();
  #lastNumber = 0;
  #error: Error | null = null;
  #ended: Fault | null = null;
  #stopping: Promise<void> | null = null;

  constructor(options: ThreadOptions<News>) {
    this.#options = options;
    const { script, data } = options;
    this.#worker = new Worker(script, { workerData: data, resourceLimits: RESOURCE_LIMITS });
    this.#keepAlive();
    this.#worker.on('message', (message: FromThread<News>) => this.#hear(message));
    this.#worker.on('error', (error: unknown) => {
      this.#error = error instanceof Error ? error : new Error(String(error));
    });
    this.#worker.once('exit', (code) => this.#end(code));
  }

  get isEnded(): boolean {
    return this.#ended !== null;
  }

  /** Resolves when the thread has ended, for whatever reason. */
  get exited(): Promise<void> {
    return this.#exited.promise;
  }

  async call<Name extends keyof Calls & string>(
    name: Name,
    values: Values<Calls, Name>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Answer<Calls, Name>> {
    // trust: Parameters of a function are a list, and the thread answers with its result
    return (await this.#send(name, values as readonly unknown[], transfer)) as Answer<Calls, Name>;
  }

  /**
   * Calls `stop` and resolves when the thread has ended. A thread that does not end within the
   * limit is terminated, and this rejects; also where `stop` failed or an error ended the thread.
   */
  stop(limit?: StopLimit): Promise<void> {
    this.#stopping ??= this.#stop(limit);
    return this.#stopping;
  }

  async #stop(limit: StopLimit | undefined): Promise<void> {
    if (this.#ended !== null) return;
    let failure: unknown = null;
    // Its work has stopped then: resources that it still holds do not delay its end.
    const stopped = this.#send('stop', [], []).catch((error: unknown) => {
      failure = error;
    });
    void stopped.then(() => this.#worker.terminate());
    if (limit === undefined) await this.#exited.promise;
    else if (!(await this.#exitsWithin(limit.ms, limit.clock))) {
      void this.#worker.terminate();
      await this.#exitsWithin(TERMINATE_MS, limit.clock);
      const { name } = this.#options;
      throw new Error(`${name} did not stop within ${limit.ms} ms and was terminated`);
    }
    if (this.#error !== null) throw this.#error;
    if (failure !== null && !isFault(failure, 'threadEnded')) throw failure;
  }

  #send(
    name: string,
    values: readonly unknown[],
    transfer: readonly ArrayBuffer[],
  ): Promise<unknown> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    assert(this.#waiting.size < MAX_WAITING, `at most ${MAX_WAITING} calls wait for a thread`);
    this.#lastNumber += 1;
    const call: Call = { number: this.#lastNumber, name, values };
    this.#worker.postMessage(call, transfer);
    const answered = Promise.withResolvers<unknown>();
    this.#waiting.set(call.number, answered);
    this.#keepAlive();
    return answered.promise;
  }

  async #exitsWithin(limitMs: number, clock: Clock): Promise<boolean> {
    const late = Promise.withResolvers<'late'>();
    const timer = clock.after(limitMs, () => late.resolve('late'));
    const first = await Promise.race([this.#exited.promise, late.promise]);
    timer.cancel();
    return first !== 'late';
  }

  #hear(message: FromThread<News>): void {
    if ('news' in message) {
      this.#options.onNews?.(message.news);
      return;
    }
    const answered = this.#waiting.get(message.number);
    this.#waiting.delete(message.number);
    this.#keepAlive();
    if ('failed' in message) answered?.reject(receivedError(message.failed));
    else answered?.resolve(message.answer);
  }

  #keepAlive(): void {
    const isBusy = this.#waiting.size > 0 || this.#stopping !== null;
    if (isBusy || this.#options.keepsAlive === true) this.#worker.ref();
    else this.#worker.unref();
  }

  #end(code: number): void {
    const { name, onEnd } = this.#options;
    const cause = this.#error ?? new Error(`${name} ended with code ${code}`);
    this.#ended = new Fault('threadEnded', `${name} ended: ${cause.message}`, { cause });
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
    this.#exited.resolve();
    onEnd?.(this.#stopping !== null && this.#error === null ? null : cause);
  }
}

/** A thread that is started by the first call, and again by the first one after it has ended. */
export class RestartedThread<Calls extends AnyCalls<Calls>> implements Caller<Calls> {
  readonly #options: ThreadOptions<never>;
  #thread: Thread<Calls> | null = null;
  #isStopped = false;

  constructor(options: ThreadOptions<never>) {
    this.#options = options;
  }

  async call<Name extends keyof Calls & string>(
    name: Name,
    values: Values<Calls, Name>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Answer<Calls, Name>> {
    if (this.#isStopped) throw new Fault('threadEnded', `${this.#options.name} was stopped`);
    if (this.#thread === null || this.#thread.isEnded) this.#thread = new Thread(this.#options);
    return await this.#thread.call(name, values, transfer);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#thread?.stop();
  }
}

/** The functions that answer a thread's calls: each function may answer at once or later. */
export type Handlers<Calls> = {
  readonly [Name in keyof Calls]: (
    ...values: Values<Calls, Name>
  ) => Answer<Calls, Name> | Promise<Answer<Calls, Name>>;
};

/**
 * Answers the calls of this thread, each as soon as its function has. The caller ends the thread
 * once `stop` is answered. `serve` gets the data of the thread's options; calls wait until it
 * returns.
 */
export async function serveThread<Data, Calls extends AnyCalls<Calls>, News = never>(
  serve: (data: Data, report: (news: News) => void) => Handlers<Calls> | Promise<Handlers<Calls>>,
): Promise<void> {
  assert(parentPort !== null, 'this file is run as a thread');
  const port = parentPort;
  const post = (message: FromThread<News>) => port.postMessage(message);
  // trust: the data of ThreadOptions
  const handlers = await serve(workerData as Data, (news) => post({ news }));
  port.on('message', async ({ number, name, values }: Call) => {
    // trust: `call` takes names and values of `Calls`
    const handler = handlers[name as keyof Calls] as
      | ((...some: readonly unknown[]) => unknown)
      | undefined;
    // Outside of `try`: this fault of the program ends the thread.
    assert(handler !== undefined, `a thread answers ${Object.keys(handlers)}`);
    try {
      post({ number, answer: await handler(...values) });
    } catch (error) {
      post({ number, failed: sentError(error) });
    }
  });
}

function sentError(error: unknown): SentError {
  if (!(error instanceof Error)) return { error: new Error(String(error)), code: null, kind: null };
  const code = systemCode(error);
  return { error, code, kind: error instanceof Fault ? error.kind : null };
}

function receivedError({ error, code, kind }: SentError): Error {
  assert(error instanceof Error, 'an error is copied as one');
  if (kind !== null) {
    const fault = new Fault(kind, error.message, { cause: error.cause });
    return Object.assign(fault, { stack: error.stack ?? '' });
  }
  return code === null ? error : Object.assign(error, { code });
}
