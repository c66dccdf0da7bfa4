/**
 * Kupo 2 over a devnet: read-only answers over the ledger's file, by HTTP or in memory. It knows
 * every output (the pattern is `*`), spent ones for K blocks. A block's outputs are in the file
 * before Ogmios sends the block.
 *
 * A long answer is sent in pages as of the block that was newest when it began; a rollback below
 * that block aborts it, so that no client takes half of it for all.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { slotStartMs } from '../../cardano/codec/slots.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Ledger } from '../ledger.ts';
import type { LedgerFile } from '../ledgerFile.ts';
import { type Guard, isForeign, LocalHttpServer } from '../localHttp.ts';
import type { OutputPosition } from '../outputSearch.ts';
import { KupoIndex } from './kupoIndex.ts';
import { matchJson, pointJson, writeJson } from './matchJson.ts';
import { readMatchQuery, readPattern } from './matchQuery.ts';

interface KupoOptions {
  readonly host: string;
  /** 0: any. */
  readonly port: number;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly version: string;
}

interface KupoAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Headers;
}

type Headers = Readonly<Record<string, string>>;

interface KupoRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Where an answer is written: a response over HTTP, or one in memory. */
export interface KupoResponse {
  readonly isStarted: boolean;
  begin(status: number, headers: Headers): void;
  write(text: string): void;
  end(text?: string): void;
  /** Cuts off an answer that was started. */
  abort(): void;
  /** Waits until the client has read the written bytes; false: it is gone. */
  drained(): Promise<boolean>;
}

/** Entries of an index that are read before other requests have their turn. */
const PAGE = 200;
const MAX_REQUESTS = 256;
const REQUEST_MS = 60_000;
const CORS = { 'access-control-allow-origin': '*' };
const TYPE = 'application/json;charset=utf-8';
const AMOUNTS_AS_TEXTS = 'asset-quantity=string';
/** Paths whose answers change with the newest block alone; others are not cached. */
const CACHED = ['checkpoints', 'matches', 'datums', 'scripts', 'metadata'];
const PATHS = [...CACHED, 'patterns', 'health'];

/** The answers, over HTTP or in memory. */
export class KupoAnswers {
  readonly #index: KupoIndex;
  readonly #ledger: Ledger;
  readonly #options: Pick<KupoOptions, 'clock' | 'version'>;
  #underway = 0;

  constructor(ledger: Ledger, file: LedgerFile, options: Pick<KupoOptions, 'clock' | 'version'>) {
    this.#ledger = ledger;
    this.#index = new KupoIndex(file);
    this.#options = options;
  }

  async answer(request: KupoRequest, response: KupoResponse): Promise<void> {
    if (request.method === 'OPTIONS') {
      response.begin(200, CORS);
      response.end();
    } else if (this.#underway >= MAX_REQUESTS) {
      const hint = `${MAX_REQUESTS} requests are under way: try again`;
      this.#send(response, { status: 503, body: { hint } });
    } else {
      this.#underway += 1;
      try {
        await this.#route(request, response);
      } catch (error) {
        if (response.isStarted) response.abort();
        else this.#send(response, { status: 500, body: { hint: String(error) } });
      } finally {
        this.#underway -= 1;
      }
    }
  }

  async #route(request: KupoRequest, response: KupoResponse): Promise<void> {
    const { method, url, headers } = request;
    const { pathname, searchParams } = URL.parse(`http://kupo${url}`) ?? new URL('http://kupo');
    const [, ...parts] = pathname.split('/').map(safelyDecoded);
    const [kind = '', ...rest] = parts[0] === 'v1' ? parts.slice(1) : parts;
    if (!PATHS.includes(kind)) {
      this.#send(response, missing(`${PATHS.slice(0, -1).join(', ')} and health are here.`));
    } else if (method !== 'GET') {
      const hint = 'Use GET: a devnet indexes everything, its patterns are fixed.';
      this.#send(response, { status: 406, body: { hint } });
    } else if (CACHED.includes(kind) && this.#isNewest(headers['if-none-match'])) {
      response.begin(304, this.#headers());
      response.end();
    } else if (kind === 'matches') {
      const areAmountsTexts = headers.accept?.includes(AMOUNTS_AS_TEXTS) === true;
      await this.#matches(rest.join('/'), searchParams, areAmountsTexts, response);
    } else this.#send(response, this.#plain(kind, rest, searchParams));
  }

  #isNewest(etag: KupoRequest['headers'][string]): boolean {
    const { tip } = this.#ledger;
    return tip !== null && etag === tip.hash;
  }

  async #matches(
    text: string,
    params: URLSearchParams,
    areAmountsTexts: boolean,
    response: KupoResponse,
  ): Promise<void> {
    const query = readMatchQuery(text === '' ? '*' : text, params, this.#index);
    if ('hint' in query) {
      this.#send(response, { status: 400, body: query });
      return;
    }
    const { pattern, isResolved } = query;
    const asOf = this.#ledger.tip;
    const type = areAmountsTexts ? `${TYPE};${AMOUNTS_AS_TEXTS}` : TYPE;
    response.begin(200, { ...this.#headers(), 'content-type': type });
    const height = asOf?.height ?? 0;
    let separator = '[';
    let after: OutputPosition | null = null;
    for (;;) {
      if (!this.#index.isOnChain(asOf)) throw new Error('the chain was rolled back meanwhile');
      const wanted = { height, limit: PAGE, after, isResolved };
      const { matches, last } = this.#index.page(pattern, wanted);
      for (const match of matches) {
        response.write(separator + writeJson(matchJson(match, { isResolved, areAmountsTexts })));
        separator = ',';
      }
      if (last === null) break;
      after = last;
      if (!(await response.drained())) return;
    }
    response.end(separator === '[' ? '[]' : ']');
  }

  #plain(kind: string, rest: readonly string[], params: URLSearchParams): KupoAnswer {
    const [argument = '', ...more] = rest;
    if (kind === 'patterns') return patterns(rest.join('/'));
    const mustBeNamed = kind !== 'health' && kind !== 'checkpoints';
    if (more.length > 0 || (mustBeNamed && argument === '') || (kind === 'health' && argument)) {
      return missing('There is no such path below it.');
    }
    if (kind === 'health') return { status: 200, body: this.#health() };
    if (kind === 'checkpoints') return this.#checkpoints(argument, params);
    if (kind === 'metadata') return this.#metadata(argument, params);
    if (kind === 'datums') {
      return /^[0-9a-f]{64}$/.test(argument)
        ? { status: 200, body: this.#index.datum(argument) }
        : invalid('The hash of a datum is 64 hex digits.');
    }
    return /^[0-9a-f]{56}$/.test(argument)
      ? { status: 200, body: this.#index.script(argument) }
      : invalid('The hash of a script is 56 hex digits.');
  }

  #checkpoints(argument: string, params: URLSearchParams): KupoAnswer {
    if (argument === '') return { status: 200, body: this.#index.checkpoints().map(pointJson) };
    if (!SLOT.test(argument)) return invalid('A checkpoint is asked for by its slot.');
    const isStrict = params.has('strict');
    if (String(params) !== (isStrict ? 'strict=' : '')) {
      return invalid('strict is the only flag of a checkpoint, and has no value.');
    }
    const slot = Number(argument);
    const point = this.#index.pointUpTo(slot);
    const isWanted = point !== null && (!isStrict || point.slot === slot);
    return { status: 200, body: isWanted ? pointJson(point) : null };
  }

  #metadata(argument: string, params: URLSearchParams): KupoAnswer {
    if (!SLOT.test(argument)) return invalid('Metadata is asked for by the slot of its block.');
    const txHash = params.get('transaction_id');
    if (txHash !== null && !/^[0-9a-f]{64}$/.test(txHash)) {
      return invalid('transaction_id is 64 hex digits.');
    }
    const slot = Number(argument);
    if (slot === 0) return { status: 200, body: [] };
    const metadata = this.#index.metadata(slot, txHash);
    if (metadata === null) return invalid('No block is known there, or it is not kept any more.');
    const headers = { 'x-block-header-hash': metadata.hash };
    return { status: 200, body: metadata.found, headers };
  }

  #health() {
    const slot = this.#ledger.tip?.slot ?? null;
    const tipMs = slotStartMs(this.#ledger.slots, slot ?? 0);
    const sinceMs = Math.max(0, this.#options.clock.nowMs() - tipMs);
    return {
      connection_status: 'connected',
      most_recent_checkpoint: slot,
      most_recent_node_tip: slot,
      seconds_since_last_block: Math.floor(sinceMs / 1000),
      network_synchronization: 1,
      configuration: { indexes: 'installed' },
      version: this.#options.version,
    };
  }

  #headers(): Headers {
    const { tip } = this.#ledger;
    return {
      ...CORS,
      'content-type': TYPE,
      'x-most-recent-checkpoint': String(tip?.slot ?? 0),
      ...(tip === null ? {} : { etag: tip.hash }),
    };
  }

  #send(response: KupoResponse, { status, body, headers = {} }: KupoAnswer): void {
    const all = status === 200 ? this.#headers() : { ...CORS, 'content-type': TYPE };
    response.begin(status, { ...all, ...headers });
    response.end(writeJson(body));
  }
}

export class KupoServer {
  readonly #answers: KupoAnswers;
  readonly #options: KupoOptions;
  readonly #http: LocalHttpServer;

  constructor(answers: KupoAnswers, options: KupoOptions) {
    this.#answers = answers;
    this.#options = options;
    this.#http = new LocalHttpServer(
      (request, response) => void this.#answer(request, response),
      REQUEST_MS,
    );
  }

  async start(): Promise<void> {
    await this.#http.listen('Kupo', this.#options);
  }

  async stop(): Promise<void> {
    await this.#http.close();
  }

  get port(): number {
    return this.#http.port;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request;
    const refusal = isForeign(headers, this.#options.guard);
    if (refusal !== null) {
      response.writeHead(403, { ...CORS, 'content-type': TYPE });
      response.end(writeJson({ hint: refusal }));
      return;
    }
    const writer = new HttpResponse(response, this.#options.clock);
    await this.#answers.answer({ method, url, headers }, writer);
  }
}

class HttpResponse implements KupoResponse {
  readonly #response: ServerResponse;
  readonly #clock: Clock;

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response;
    this.#clock = clock;
  }

  get isStarted(): boolean {
    return this.#response.headersSent;
  }

  begin(status: number, headers: Headers): void {
    this.#response.writeHead(status, headers);
  }

  write(text: string): void {
    this.#response.write(text);
  }

  end(text?: string): void {
    this.#response.end(text);
  }

  abort(): void {
    this.#response.destroy();
  }

  drained(): Promise<boolean> {
    return isDrained(this.#response, this.#clock);
  }
}

const SLOT = /^\d{1,15}$/;

function invalid(hint: string): KupoAnswer {
  return { status: 400, body: { hint } };
}

function missing(hint: string): KupoAnswer {
  return { status: 404, body: { hint } };
}

/** Kupo's only pattern here is `*`, which includes every pattern. */
function patterns(text: string): KupoAnswer {
  const isPattern = text === '' || readPattern(text) !== null;
  return isPattern ? { status: 200, body: ['*'] } : invalid('Invalid pattern!');
}

function safelyDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // It is not percent-encoded: taken as it is.
    return part;
  }
}

async function isDrained(response: ServerResponse, clock: Clock): Promise<boolean> {
  const isGone = () => response.destroyed || response.closed;
  if (!isGone() && response.writableNeedDrain) {
    const ready = Promise.withResolvers<void>();
    const resolve = () => ready.resolve();
    response.once('drain', resolve).once('close', resolve);
    await ready.promise;
    response.off('drain', resolve).off('close', resolve);
  } else await new Promise<void>((resolve) => clock.soon(resolve));
  return !isGone();
}
