/** Requests of one node to the devnet's Kupo and to its own routes, in memory. */
import type { Fetch } from '../../../src/chain/access.ts';
import type { KupoResponse } from '../../../src/devnet/kupo/server.ts';
import type { SimProcess, VirtualTime } from '../machine/virtualTime.ts';
import type { ChainLink, Server } from './link.ts';
import type { RunningServer } from './ogmiosConnection.ts';

type Init = Parameters<Fetch>[1];

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface FetchDeps {
  readonly time: VirtualTime;
  readonly link: ChainLink;
  readonly node: SimProcess;
  /** Where a server listens; null: it does not. */
  readonly serverOf: (server: Server) => RunningServer | null;
  /** The host, which refuses where no server listens. */
  readonly host: SimProcess;
  /** Registers a function to call if the devnet ends first; returns a function that removes it. */
  readonly onReset: (reset: () => void) => () => void;
}

const NULL_BODY = 304;

export function simFetch(deps: FetchDeps): Fetch {
  return (url, init) => new Request(deps, new URL(url), init).answered;
}

class Request {
  readonly #deps: FetchDeps;
  readonly #server: Server;
  readonly #answered = Promise.withResolvers<Response>();
  #forget = () => {};

  constructor(deps: FetchDeps, url: URL, init: Init) {
    this.#deps = deps;
    this.#server = url.port === KUPO_PORT ? 'kupo' : 'ogmios';
    const { time, link, host } = deps;
    const { signal } = init;
    const abort = () => this.#answered.reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    const forget = deps.onReset(() => this.#fail('ECONNRESET'));
    this.#forget = () => {
      signal.removeEventListener('abort', abort);
      forget();
    };
    const lane = link.lane(this.#server, 'toServer');
    lane.whenWhole(() => time.at(host, lane.delayMs, () => this.#arrive(url, init)));
  }

  get answered(): Promise<Response> {
    return this.#answered.promise;
  }

  #arrive(url: URL, init: Init): void {
    const { time, serverOf } = this.#deps;
    const server = serverOf(this.#server);
    if (server === null) this.#fail('ECONNREFUSED');
    else time.at(server.process, 0, () => this.#serve(server, url, init));
  }

  #serve({ core, kupo, process }: RunningServer, { pathname, search }: URL, init: Init): void {
    const { method = 'GET', headers, body = '' } = init;
    if (this.#server === 'kupo') {
      const soon = () => new Promise<true>((resolve) => this.#soon(process, () => resolve(true)));
      const response = new Collected((reply) => this.#reply(reply), soon);
      void kupo().answer({ method, url: pathname + search, headers }, response);
      return;
    }
    void core.route(pathname, body)?.then(({ status, body: answer }) => {
      this.#reply({ status, headers: JSON_TYPE, text: JSON.stringify(answer) });
    });
  }

  #soon(process: SimProcess, run: () => void): void {
    this.#deps.time.at(process, 0, run);
  }

  /** null: cut off. */
  #reply(reply: Reply | null): void {
    if (reply === null) this.#fail('ECONNRESET');
    else {
      const { status, headers, text } = reply;
      const body = status === NULL_BODY ? null : text;
      this.#toNode(() => this.#answered.resolve(new Response(body, { status, headers })));
    }
  }

  #fail(code: string): void {
    const cause = Object.assign(new Error(code), { code });
    this.#toNode(() => this.#answered.reject(new TypeError('fetch failed', { cause })));
  }

  #toNode(run: () => void): void {
    const { time, link, node } = this.#deps;
    const lane = link.lane(this.#server, 'toNode');
    this.#forget();
    lane.whenWhole(() => time.at(node, lane.delayMs, run));
  }
}

export const KUPO_PORT = '1442';
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** An answer as a whole. */
class Collected implements KupoResponse {
  readonly #done: (reply: Reply | null) => void;
  readonly #soon: () => Promise<true>;
  readonly #parts: string[] = [];
  #head: Pick<Reply, 'status' | 'headers'> | null = null;

  constructor(done: (reply: Reply | null) => void, soon: () => Promise<true>) {
    this.#done = done;
    this.#soon = soon;
  }

  get isStarted(): boolean {
    return this.#head !== null;
  }

  begin(status: number, headers: Reply['headers']): void {
    this.#head = { status, headers };
  }

  write(text: string): void {
    this.#parts.push(text);
  }

  end(text = ''): void {
    this.#parts.push(text);
    const { status, headers } = this.#head ?? { status: 200, headers: {} };
    this.#done({ status, headers, text: this.#parts.join('') });
  }

  abort(): void {
    this.#done(null);
  }

  drained(): Promise<boolean> {
    return this.#soon();
  }
}
