/**
 * The price of ADA in US dollars, for clients that show fiat: a fixed price, or a price that a
 * server of the operator's choice reports once a minute. The market does not depend on it.
 *
 * Assumes: the source answers with a number, in JSON, at the place that the URL's fragment names
 *          (`#cardano.usd`); without a fragment the answer is the number, or has it as `rate`.
 * Never:   follows a redirect, reads more than 64 KiB, waits longer than ten seconds, or forgets
 *          the last rate because the source is away: it is `stale` then.
 */
import Type from 'typebox';
import { withDeadline } from '../../engine/runtime/abort.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { boundedBody, fetchFailure } from '../../engine/runtime/fetching.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';
import type { Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';

const EVERY_MS = 60_000;
const STALE_MS = 5 * EVERY_MS;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;
const RATE = /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,18})?$/;

interface KnownRate {
  /** US dollars for one ADA, a plain decimal above 0. */
  readonly rate: string;
  readonly timeMs: number;
  readonly isStale: boolean;
}

/** A rate, wherever it comes from. */
export interface AdaUsd {
  /** For a person. */
  readonly source: string;
  /** null: none is known yet. */
  latest(): KnownRate | null;
}

export function fixedAdaUsd(rate: string, clock: Pick<Clock, 'nowMs'>): AdaUsd {
  return { source: 'fixed', latest: () => ({ rate, timeMs: clock.nowMs(), isStale: false }) };
}

/** Whether it is a price above 0 as settings and sources may give it. */
export function isRate(text: string): boolean {
  return RATE.test(text) && /[1-9]/.test(text);
}

interface AdaUsdFeedDeps {
  readonly url: string;
  readonly clock: Clock;
  readonly observer: AdaUsdObserver;
}

interface AdaUsdObserver {
  /** The last rate stays; it is asked again in a minute. */
  adaUsdFailed(source: string, why: string): void;
}

export class AdaUsdFeed implements AdaUsd, Service {
  readonly name = 'ada-usd';
  readonly source: string;
  readonly #deps: AdaUsdFeedDeps;
  readonly #polling: Task;
  #known: { readonly rate: string; readonly timeMs: number } | null = null;

  constructor(deps: AdaUsdFeedDeps) {
    this.#deps = deps;
    this.source = new URL(deps.url).host;
    this.#polling = new Task({ clock: deps.clock });
  }

  latest(): KnownRate | null {
    if (this.#known === null) return null;
    return { ...this.#known, isStale: this.#deps.clock.nowMs() - this.#known.timeMs > STALE_MS };
  }

  start(): void {
    this.#polling.start(() => this.#run());
  }

  stop(): Promise<void> {
    return this.#polling.stop();
  }

  async #run(): Promise<void> {
    const { clock, observer } = this.#deps;
    do {
      const told = await this.#ask();
      if (this.#polling.isStopping) return;
      if ('rate' in told) this.#known = { rate: told.rate, timeMs: clock.nowMs() };
      else observer.adaUsdFailed(this.source, told.why);
    } while (await this.#polling.pause(EVERY_MS));
  }

  async #ask(): Promise<{ readonly rate: string } | { readonly why: string }> {
    const { url, clock } = this.#deps;
    const read = async (signal: AbortSignal) => {
      const response = await fetch(url, { signal, redirect: 'error' });
      const bytes = await boundedBody(response, MAX_BYTES + 1);
      if (response.status !== 200) return { why: `it answered ${response.status}` };
      if (bytes.length > MAX_BYTES) return { why: `it answered more than ${MAX_BYTES} bytes` };
      const rate = rateIn(bytes.toString('utf8'), url);
      return rate === null ? { why: 'its answer has no price there' } : { rate };
    };
    try {
      return await withDeadline(clock, TIMEOUT_MS, read, this.#polling.signal);
    } catch (error) {
      return { why: fetchFailure(error) };
    }
  }
}

/** null: there is no price in `text` at the place that the fragment of `url` names. */
export function rateIn(text: string, url: string): string | null {
  const path = decodeURIComponent(new URL(url).hash.slice(1));
  const found = path === '' ? rootOf(parsed(text)) : at(parsed(text), path.split('.'));
  const rate = typeof found === 'number' ? String(found) : found;
  return typeof rate === 'string' && isRate(rate) ? rate : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It is no JSON, so it has no price there; the log says so.
    return null;
  }
}

function rootOf(value: unknown): unknown {
  return typeof value === 'object' ? at(value, ['rate']) : value;
}

function at(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
  return at(Reflect.get(value, name), rest);
}

const Rate = Type.Object({
  rate: Type.String({ pattern: RATE.source, description: 'US dollars for one ADA.' }),
  time: Type.Integer({ description: 'Unix seconds at which the source told it.' }),
  source: Type.String({ description: 'The host that told it, or `fixed`.' }),
  stale: Type.Boolean({ description: 'The source has told none for five minutes.' }),
});

/** null: this server has no source. */
export function adaUsdRoute(known: AdaUsd | null): Route {
  return route({
    method: 'GET',
    tag: 'Operations',
    path: '/v1/utility/ada-usd/rate',
    operationId: 'adaUsdRate',
    summary: 'The price of ADA in US dollars',
    description:
      'From a source that the operator chose (`ADA_USD_URL`, or a fixed `ADA_USD`). ' +
      'All other prices are in ADA: a client that shows dollars multiplies.',
    answers: { 200: { description: 'The newest one', schema: Rate } },
    causes: ['NOT_CONFIGURED'],
    rate: 'read',
    needsSync: false,
    positioned: false,
    handle: () => {
      if (known === null) {
        const message =
          'This server has no price of ADA: set ADA_USD_URL or ADA_USD where it runs.';
        return new Failure('NOT_CONFIGURED', message);
      }
      const latest = known.latest();
      if (latest === null) {
        const message = `${known.source} has told no price of ADA yet. Try again in a minute.`;
        return new Failure('NOT_READY', message, { retryAfterSeconds: 60 });
      }
      const { rate, timeMs, isStale } = latest;
      const time = Math.floor(timeMs / 1000);
      return jsonAnswer({ rate, time, source: known.source, stale: isStale });
    },
  });
}
