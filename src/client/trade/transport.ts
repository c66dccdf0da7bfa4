/**
 * Calls over HTTP: a deadline for each try, and another try where the server says that it was busy
 * (429, 503), after the time it names, or growing waits. What it did is unknown after a lost
 * connection, so that is never repeated here.
 * Never throws for what a network or a server does: outcomes are answers or `ApiFailure`s.
 */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Clock } from '../../engine/runtime/clock.ts';
import { ApiFailure } from './failure.ts';

/** `fetch`, or what stands in for it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  /** `http://127.0.0.1:8080`; a path is kept. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Of one try. */
  readonly timeoutMs?: number;
  readonly mostTries?: number;
  /** A longer Retry-After is not waited for. */
  readonly longestWaitMs?: number;
  /** Ends every call and every wait. */
  readonly signal?: AbortSignal;
}

/** Checks an answer and gives it its type. */
export type Reader<T> = (body: unknown) => T | null;

export interface Call<T> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly form?: FormData;
  readonly read: Reader<T>;
}

const FIRST_WAIT_MS = 250;

export function readerOf<Schema extends TSchema>(schema: Schema): Reader<Static<Schema>> {
  const validator = Compile(schema);
  // trust: checked by the schema that the type comes from
  return (body) => (validator.Check(body) ? (body as Static<Schema>) : null);
}

export class Transport {
  readonly baseUrl: string;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #mostTries: number;
  readonly #longestWaitMs: number;
  readonly #signal: AbortSignal | undefined;

  constructor(options: TransportOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#fetch = options.fetch;
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs ?? 15_000;
    this.#mostTries = options.mostTries ?? 4;
    this.#longestWaitMs = options.longestWaitMs ?? 10_000;
    this.#signal = options.signal;
  }

  async call<T>(call: Call<T>): Promise<T | ApiFailure> {
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#once(call);
      const again = answer instanceof ApiFailure && answer.status !== null && answer.isBusy;
      if (!again || tries >= this.#mostTries) return answer;
      const asked = (answer.retryAfterSeconds ?? 0) * 1000;
      if (asked > this.#longestWaitMs) return answer;
      await this.pause(Math.max(asked, FIRST_WAIT_MS * 2 ** (tries - 1)));
      if (this.#isStopped()) return stopped();
    }
  }

  #isStopped(): boolean {
    return this.#signal?.aborted ?? false;
  }

  /** Waits so long, or until the signal. */
  pause(waitMs: number): Promise<void> {
    const signal = this.#signal;
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        timer.cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.#clock.after(waitMs, done);
      signal?.addEventListener('abort', done);
    });
  }

  async #once<T>({ method, path, body, form, read }: Call<T>): Promise<T | ApiFailure> {
    const outer = this.#signal;
    if (this.#isStopped()) return stopped();
    const ending = new AbortController();
    const end = () => ending.abort();
    outer?.addEventListener('abort', end);
    const timer = this.#clock.after(this.#timeoutMs, end);
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const content = form ?? (body === undefined ? null : JSON.stringify(body));
    try {
      const init = { method, headers: json, body: content, signal: ending.signal };
      const response = await this.#fetch(this.baseUrl + path, init);
      return readAnswer(response, await response.text(), read, path);
    } catch (error) {
      if (this.#isStopped()) return stopped();
      if (!ending.signal.aborted) return unreachable(this.baseUrl, error);
      return new ApiFailure('TIMEOUT', `no answer to ${path} within ${this.#timeoutMs} ms`);
    } finally {
      timer.cancel();
      outer?.removeEventListener('abort', end);
    }
  }
}

function readAnswer<T>(
  response: Response,
  text: string,
  read: Reader<T>,
  path: string,
): T | ApiFailure {
  const { status } = response;
  const body = parse(text);
  if (status !== 200) return refusal(response, body, path);
  const answer = read(body);
  if (answer !== null) return answer;
  return new ApiFailure('BAD_ANSWER', `the answer to ${path} is not as agreed`, { status });
}

function refusal({ status, headers }: Response, body: unknown, path: string): ApiFailure {
  const field = (name: string) => {
    const value: unknown =
      typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : null;
  };
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return new ApiFailure(
    field('cause') ?? 'BAD_ANSWER',
    field('message') ?? `${path} answered ${status}`,
    {
      status,
      reason: field('reason'),
      retryAfterSeconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
    },
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the reader refuses it with the path in its message.
    return undefined;
  }
}

function stopped(): ApiFailure {
  return new ApiFailure('STOPPED', 'stopped before the answer came');
}

function unreachable(baseUrl: string, error: unknown): ApiFailure {
  const inner = error instanceof Error ? (error.cause ?? error) : error;
  const why = inner instanceof Error ? inner.message || inner.name : String(inner);
  return new ApiFailure('UNREACHABLE', `${baseUrl} cannot be reached (${why})`);
}
