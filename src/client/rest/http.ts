/**
 * Calls over HTTP. Nodes of one market are tried in turn while they cannot be reached or are not
 * ready, each once. If all nodes are busy (429, 503), the client repeats the call after the time
 * that the server names, as often as the options allow. If a connection is lost, the client cannot
 * know whether the node carried out the call, so it does not send calls again that are unsafe to
 * repeat. Throws `ApiError` and nothing else.
 */
import { unlessAborted, withDeadline } from '../../engine/runtime/abort.ts';
import { backoffMs } from '../../engine/runtime/backoff.ts';
import { ApiError } from '../apiError.ts';
import type { Nodes } from '../nodes.ts';
import type { Clock, Fetch } from '../platform.ts';
import {
  type Answer,
  type CallOptions,
  type HistoryAnswer,
  readPosition,
  type TradesPage,
} from './answer.ts';

interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With path parameters in it. */
  readonly path: string;
  /** Fields that are undefined or null are left out. */
  readonly query?: object | undefined;
  readonly body?: unknown;
  readonly form?: FormData;
  /** Doing it twice does no harm; true unless said otherwise. */
  readonly isRepeatable?: boolean;
  readonly options?: CallOptions | undefined;
  /** Other statuses whose body is the answer. */
  readonly alsoAnswers?: number;
}

interface HttpDeps {
  readonly nodes: Nodes;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** API key; undefined: none. */
  readonly key: string | undefined;
  /** Time limit of one attempt at one node. */
  readonly timeoutMs: number;
  /** Time limit of a call while all nodes are busy. */
  readonly maxAttempts: number;
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const TRY_ANOTHER_NODE = new Set(['UNREACHABLE', 'TIMEOUT', 'NOT_READY', 'OVERLOADED']);
/** A longer Retry-After is not waited for. */
const MAX_RETRY_MS = 10_000;
const RETRY = { firstMs: 250, maxMs: MAX_RETRY_MS };

export class Http {
  readonly #deps: HttpDeps;
  readonly #closed = new AbortController();

  constructor(deps: HttpDeps) {
    this.#deps = deps;
  }

  async call<T>(call: Call): Promise<Answer<T>> {
    const { headers, body } = await this.#callRepeatedly(call);
    return answerOf(headers, body);
  }

  async history<T>(call: Call): Promise<HistoryAnswer<T>> {
    const { headers, body } = await this.#callRepeatedly(call);
    const nextTo = numberOf(headers, 'x-next-to');
    return { ...answerOf<T>(headers, body), nextTo };
  }

  async trades<T>(call: Call): Promise<TradesPage<T>> {
    const { headers, body } = await this.#callRepeatedly(call);
    return { ...answerOf<T>(headers, body), nextBefore: headers.get('x-next-before') };
  }

  /** Aborts the calls under way; later calls fail. */
  close(): void {
    this.#closed.abort();
  }

  async #callRepeatedly(call: Call): Promise<Reply> {
    const { maxAttempts } = this.#deps;
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await this.#callSomeNode(call);
      } catch (error) {
        if (!(error instanceof ApiError) || !error.isBusy || attempts >= maxAttempts) throw error;
        const namedMs = (error.retryAfterSeconds ?? 0) * 1_000;
        if (namedMs > MAX_RETRY_MS) throw error;
        await this.#pause(Math.max(namedMs, backoffMs(attempts - 1, RETRY)), call);
      }
    }
  }

  async #callSomeNode(call: Call): Promise<Reply> {
    const { nodes } = this.#deps;
    for (let tries = 1; ; tries += 1) {
      const node = nodes.current;
      try {
        return await this.#once(node, call);
      } catch (error) {
        const mayHelp = error instanceof ApiError && TRY_ANOTHER_NODE.has(error.cause);
        const isRepeatable = call.isRepeatable ?? true;
        if (!mayHelp || !isRepeatable || tries >= nodes.count) throw error;
        nodes.leave(node);
      }
    }
  }

  /** Ends sooner when the call is stopped; the next attempt then says so. */
  async #pause(delayMs: number, call: Call): Promise<void> {
    const endless = new Promise<never>(() => {});
    const wait = (signal: AbortSignal) => unlessAborted(endless, signal);
    await withDeadline(this.#deps.clock, delayMs, wait, ...this.#signalsOf(call));
  }

  #signalsOf({ options }: Call): readonly AbortSignal[] {
    const own = this.#closed.signal;
    return options?.signal === undefined ? [own] : [own, options.signal];
  }

  #once(node: string, call: Call): Promise<Reply> {
    const { clock, timeoutMs } = this.#deps;
    const ask = (signal: AbortSignal) => this.#ask(node, call, signal);
    return withDeadline(clock, timeoutMs, ask, ...this.#signalsOf(call));
  }

  async #ask(node: string, call: Call, signal: AbortSignal): Promise<Reply> {
    const { timeoutMs, fetch, key } = this.#deps;
    const { method, path, query, body, form, options = {} } = call;
    const isStopped = () => this.#signalsOf(call).some(({ aborted }) => aborted);
    const headers: Record<string, string> = {};
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (key !== undefined) headers.authorization = `Bearer ${key}`;
    const { minPosition, idempotencyKey } = options;
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    if (minPosition !== undefined) {
      headers['x-min-position'] = `${minPosition.epoch}:${minPosition.seq}`;
    }
    const content = form ?? (body === undefined ? null : JSON.stringify(body));
    try {
      if (isStopped()) throw stopped();
      const init = { method, headers, body: content, signal };
      const response = await fetch(node + path + queryText(query), init);
      return readReply(call, response, await response.text());
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (isStopped()) throw stopped();
      if (!signal.aborted) throw unreachable(node, error);
      throw new ApiError('TIMEOUT', `no answer from ${node} within ${timeoutMs} ms`);
    }
  }
}

function queryText(query: object | undefined): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) fields.append(name, String(one));
  }
  return fields.size === 0 ? '' : `?${fields}`;
}

function readReply({ path, alsoAnswers }: Call, response: Response, text: string): Reply {
  const { status, headers } = response;
  const body = parsed(text);
  if (status !== 200 && status !== alsoAnswers) throw refusal(response, body, path);
  if (body === undefined) {
    throw new ApiError('BAD_ANSWER', `${path} answered something that is not JSON`, { status });
  }
  return { status, headers, body };
}

/** undefined: not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller refuses it with the path in its message.
    return undefined;
  }
}

function answerOf<T>(headers: Headers, body: unknown): Answer<T> {
  return {
    // trust: the type comes from the schema by which the server documents this answer
    data: body as T,
    position: readPosition(headers.get('x-position')),
    slot: numberOf(headers, 'x-slot'),
    blockHash: headers.get('x-block-hash'),
  };
}

function numberOf(headers: Headers, name: string): number | null {
  const text = headers.get(name);
  const value = Number(text);
  return text === null || !Number.isSafeInteger(value) ? null : value;
}

function refusal({ status, headers }: Response, body: unknown, path: string): ApiError {
  const field = (name: string): unknown =>
    typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  const text = (name: string) => {
    const value = field(name);
    return typeof value === 'string' ? value : null;
  };
  const details = field('details');
  return new ApiError(
    text('cause') ?? 'BAD_ANSWER',
    text('message') ?? `${path} answered ${status}`,
    {
      status,
      reason: text('reason'),
      retryAfterSeconds: numberOf(headers, 'retry-after'),
      // trust: the gateway writes them as `{path, message}`
      details: Array.isArray(details) ? (details as ApiError['details']) : [],
    },
  );
}

function stopped(): ApiError {
  return new ApiError('STOPPED', 'stopped before the answer came');
}

function unreachable(node: string, error: unknown): ApiError {
  const inner = error instanceof Error ? (error.cause ?? error) : error;
  const why = inner instanceof Error ? inner.message || inner.name : String(inner);
  return new ApiError('UNREACHABLE', `${node} cannot be reached (${why})`);
}
