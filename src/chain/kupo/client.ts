/**
 * Requests to Kupo over HTTP: few at a time, each response of bounded size. The runtime's `fetch`
 * keeps connections open. A failure is a `KupoError` with the reason; the caller decides about a
 * retry.
 */

import { withDeadline } from '../../engine/runtime/abort.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { parseExactJson } from '../../engine/runtime/exactJson.ts';
import { basicAuthorization, fetchFailure } from '../../engine/runtime/fetching.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';
import type { Fetch } from '../access.ts';
import { KupoError, type KupoHealth, readHealth } from './answers.ts';

export interface KupoObserver {
  /** One request; `refused` is a 4xx of Kupo. */
  kupoAsked(outcome: 'answered' | 'failed' | 'refused', seconds: number): void;
  /** null: Kupo did not answer. */
  kupoHealth(health: KupoHealth | null): void;
}

export interface KupoAnswer {
  /** Parsed JSON; integers as bigint. */
  readonly body: unknown;
  /** Slot of Kupo's newest block when it started to answer. */
  readonly checkpointSlot: number;
  /** That block's hash; null where Kupo is too old to name it. */
  readonly checkpointHash: string | null;
}

interface KupoClientLimits {
  readonly atOnce: number;
  readonly maxBytes: number;
}

export class KupoClient {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #clock: Clock;
  readonly #observer: Pick<KupoObserver, 'kupoAsked'>;
  readonly #limits: KupoClientLimits;
  readonly #fetch: Fetch;
  readonly #queue: (() => void)[] = [];
  #underway = 0;

  constructor(
    url: string,
    clock: Clock,
    observer: Pick<KupoObserver, 'kupoAsked'>,
    limits: KupoClientLimits,
    fetchUrl: Fetch = fetch,
  ) {
    const { origin, pathname, username, password } = new URL(url);
    this.#base = origin + pathname.replace(/\/+$/, '');
    this.#headers =
      username === '' ? {} : { authorization: basicAuthorization(username, password) };
    this.#clock = clock;
    this.#observer = observer;
    this.#limits = limits;
    this.#fetch = fetchUrl;
  }

  /** Throws `KupoError`, also when `signal` is aborted. */
  async ask(path: string, signal: AbortSignal): Promise<KupoAnswer> {
    await this.#enter(signal);
    const startMs = this.#clock.monotonicMs();
    let outcome: 'answered' | 'failed' | 'refused' = 'failed';
    try {
      const answered = await this.#request(path, signal);
      outcome = 'answered';
      return answered;
    } catch (error) {
      if (error instanceof KupoError && error.isFinal) outcome = 'refused';
      throw error;
    } finally {
      this.#leave();
      this.#observer.kupoAsked(outcome, (this.#clock.monotonicMs() - startMs) / 1000);
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new KupoError('its time is over');
    if (this.#underway < this.#limits.atOnce) {
      this.#underway += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      const at = this.#queue.indexOf(resolve);
      if (at < 0) return;
      this.#queue.splice(at, 1);
      reject(new KupoError('too many questions wait for it'));
    };
    this.#queue.push(resolve);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      // `#leave` hands its slot to this request: `#underway` does not change.
      await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  #leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#underway -= 1;
    else next();
  }

  async #request(path: string, signal: AbortSignal): Promise<KupoAnswer> {
    try {
      const headers = { ...this.#headers, accept: 'application/json' };
      const init = { headers, signal, redirect: 'error' } as const;
      const response = await this.#fetch(this.#base + path, init);
      const text = await bounded(response, this.#limits.maxBytes);
      if (response.status !== 200) throw refusal(response.status, text);
      return { body: readJson(text), ...checkpointOf(response.headers) };
    } catch (error) {
      if (error instanceof KupoError) throw error;
      throw new KupoError(signal.aborted ? 'no answer in time' : fetchFailure(error));
    }
  }
}

/** A proxy's error may be temporary; a refusal of Kupo itself is final. */
function refusal(status: number, text: string): KupoError {
  const passes = status >= 500 || status === 429 || status === 408;
  return new KupoError(`it answered ${status}: ${text.slice(0, 200)}`, !passes);
}

async function bounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) throw new KupoError(`its answer is longer than ${maxBytes} bytes`, true);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    throw new KupoError('its answer is no JSON');
  }
}

function checkpointOf(headers: Headers): Pick<KupoAnswer, 'checkpointSlot' | 'checkpointHash'> {
  const slot = headers.get('x-most-recent-checkpoint') ?? '';
  if (!/^\d{1,15}$/.test(slot)) throw new KupoError('its answer names no checkpoint');
  const hash = /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(headers.get('etag') ?? '');
  return { checkpointSlot: Number(slot), checkpointHash: hash?.[1] ?? null };
}

interface KupoHealthWatchDeps {
  readonly url: string;
  readonly clock: Clock;
  readonly observer: KupoObserver;
  readonly everyMs?: number;
  /** Absent: that of the network. */
  readonly fetch?: Fetch;
}

const HEALTH_EVERY_MS = 5_000;
const HEALTH_DEADLINE_MS = 4_000;
const HEALTH_LIMITS = { atOnce: 1, maxBytes: 65_536 };

/** Reads Kupo's health every few seconds, for readiness and metrics. */
export class KupoHealthWatch implements Service {
  readonly name = 'kupo watch';
  readonly #deps: KupoHealthWatchDeps;
  readonly #client: KupoClient;
  readonly #watching: Task;
  #latest: KupoHealth | null = null;

  constructor(deps: KupoHealthWatchDeps) {
    const { url, clock, observer } = deps;
    this.#deps = deps;
    this.#client = new KupoClient(url, clock, observer, HEALTH_LIMITS, deps.fetch);
    this.#watching = new Task({ clock });
  }

  /** null: Kupo did not answer the last time. */
  get latest(): KupoHealth | null {
    return this.#latest;
  }

  start(): void {
    this.#watching.start(() => this.#run());
  }

  stop(): Promise<void> {
    return this.#watching.stop();
  }

  async #run(): Promise<void> {
    const { observer, everyMs = HEALTH_EVERY_MS } = this.#deps;
    do {
      this.#latest = await this.#read();
      if (this.#watching.isStopping) return;
      observer.kupoHealth(this.#latest);
    } while (await this.#watching.pause(everyMs));
  }

  async #read(): Promise<KupoHealth | null> {
    const read = async (signal: AbortSignal) =>
      readHealth((await this.#client.ask('/health', signal)).body);
    try {
      const { signal } = this.#watching;
      return await withDeadline(this.#deps.clock, HEALTH_DEADLINE_MS, read, signal);
    } catch (error) {
      if (error instanceof KupoError) return null;
      throw error;
    }
  }
}
