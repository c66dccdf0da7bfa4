/** Requests of the load: an autocannon for each route sends them. */
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { type Scenario, type Tokens, variantsOf, withTokens } from './scenario.ts';
import type { ThreadCounts } from './threadCounts.ts';

export type Route = Scenario['requests'][number];

interface Cannon extends EventEmitter {
  stop(): void;
}

/** The options of autocannon that are used; it comes without types. */
interface CannonOptions {
  readonly url: string;
  readonly connections: number;
  readonly overallRate: number;
  readonly duration: number;
  readonly requests: readonly object[];
}

function routeName({ name, method, path }: Route): string {
  return name ?? `${method} ${path}`;
}

export class HttpLoad {
  readonly #running: { readonly cannon: Cannon; readonly ended: Promise<unknown> }[] = [];

  /** `url` without a slash at its end; `key`: undefined: none. */
  start(
    routes: readonly Route[],
    to: { url: string; key: string | undefined; seconds: number; tokens: Tokens },
    counts: ThreadCounts,
  ): void {
    // trust: documented so; its types are in no package that is kept up to date
    const autocannon = createRequire(import.meta.url)('autocannon') as (
      options: CannonOptions,
      done: (error: Error | null) => void,
    ) => Cannon;
    for (const route of routes) {
      const name = routeName(route);
      const { perSecond, connections } = route;
      const options = { connections, overallRate: perSecond, duration: to.seconds };
      const ended = Promise.withResolvers<unknown>();
      const requests = requestsOf(route, to);
      const cannon = autocannon({ ...options, url: to.url, requests }, ended.resolve);
      cannon.on('response', (_client: unknown, status: number, bytes: number, ms: number) => {
        counts.answer(name, String(status), bytes, ms);
      });
      cannon.on('reqError', (error: Error) => {
        const { message } = error;
        counts.answer(name, /timed out/.test(message) ? 'timeout' : 'error', 0, null);
      });
      this.#running.push({ cannon, ended: ended.promise });
    }
  }

  async stop(): Promise<void> {
    for (const { cannon } of this.#running) cannon.stop();
    await Promise.all(this.#running.map(({ ended }) => ended));
  }
}

/** One for each token that the route names. */
function requestsOf(
  { method, path, body }: Route,
  { url, key, tokens }: { url: string; key: string | undefined; tokens: Tokens },
): object[] {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const base = new URL(url).pathname.replace(/\/$/, '');
  return Array.from({ length: variantsOf(path + text, tokens) }, (_, number) => {
    const own = withTokens({ path, text }, tokens, number);
    return { method, path: base + own.path, headers, ...(text === '' ? {} : { body: own.text }) };
  });
}
