/**
 * Asks Ogmios and Kupo for their versions once, at the start, and reports a version that was not
 * tried with this program. It never delays the start: a server that does not answer is asked again
 * each minute. The table "versions" of docs/mainnet.md lists the versions that were tried, and how.
 */
import { withDeadline } from '../engine/runtime/abort.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { basicAuthorization, boundedBody } from '../engine/runtime/fetching.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';
import type { Fetch } from './access.ts';

type Server = 'Ogmios' | 'Kupo';

interface ServerVersionsDeps {
  readonly urls: { readonly ogmios: string; readonly kupo: string | null };
  readonly clock: Clock;
  readonly fetch?: Fetch;
  /** `version` as the server says it. */
  untriedVersion(server: Server, version: string): void;
}

const TRIED: Readonly<Record<Server, readonly RegExp[]>> = {
  Ogmios: [/^v?6\.14\./, /^v?7\.0\./],
  Kupo: [/^v?2\.1[01]\./],
};
const DEADLINE_MS = 5_000;
const AGAIN_MS = 60_000;
const MAX_BYTES = 65_536;

export function isTried(server: Server, version: string): boolean {
  return TRIED[server].some((known) => known.test(version));
}

export class ServerVersions implements Service {
  readonly name = 'server versions';
  readonly #deps: ServerVersionsDeps;
  readonly #asking: Task;

  constructor(deps: ServerVersionsDeps) {
    this.#deps = deps;
    this.#asking = new Task({ clock: deps.clock });
  }

  start(): void {
    this.#asking.start(() => this.#run());
  }

  stop(): Promise<void> {
    return this.#asking.stop();
  }

  async #run(): Promise<void> {
    const { ogmios, kupo } = this.#deps.urls;
    const left = new Map<Server, string>([['Ogmios', ogmios.replace(/^ws/, 'http')]]);
    if (kupo !== null) left.set('Kupo', kupo);
    do {
      for (const [server, url] of left) if (await this.#asked(server, url)) left.delete(server);
    } while (left.size > 0 && (await this.#asking.pause(AGAIN_MS)));
  }

  async #asked(server: Server, url: string): Promise<boolean> {
    const version = await this.#versionAt(url);
    if (version === null) return false;
    if (!isTried(server, version)) this.#deps.untriedVersion(server, version.slice(0, 100));
    return true;
  }

  /** null: there is no answer that names one. */
  async #versionAt(url: string): Promise<string | null> {
    const { clock, fetch: ask = fetch } = this.#deps;
    const { origin, pathname, username, password } = new URL(url);
    const headers: Record<string, string> =
      username === '' ? {} : { authorization: basicAuthorization(username, password) };
    const at = `${origin}${pathname.replace(/\/+$/, '')}/health`;
    const read = async (signal: AbortSignal) =>
      boundedBody(await ask(at, { headers, signal }), MAX_BYTES);
    try {
      const body = await withDeadline(clock, DEADLINE_MS, read, this.#asking.signal);
      const health: unknown = JSON.parse(body.toString('utf8'));
      const version: unknown = Reflect.get(Object(health), 'version');
      return typeof version === 'string' ? version : null;
    } catch {
      // Its own connection reports why it cannot be reached; here only the version is asked.
      return null;
    }
  }
}
