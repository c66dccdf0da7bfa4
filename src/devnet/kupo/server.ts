/**
 * Kupo 2 over a devnet: read-only HTTP over the ledger's file. It knows every output (the pattern
 * is `*`), spent ones for K blocks. A block's outputs are in the file before Ogmios sends the
 * block.
 *
 * A long answer is sent in pages as of the block that was newest when it began; a rollback below
 * that block ends it in the middle, so that nobody takes half of it for all.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { slotStartMs } from '../../cardano/codec/slots.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { type Guard, isForeign } from '../guard.ts';
import type { Ledger } from '../ledger.ts';
import type { LedgerFile } from '../ledgerFile.ts';
import { listen } from '../listen.ts';
import type { OutputPlace } from '../outputSearch.ts';
import { KupoReader } from './kupoReader.ts';
import { matchJson, pointJson, writeJson } from './matchJson.ts';
import { readQuestion } from './question.ts';

export interface KupoOptions {
  readonly host: string;
  /** 0: any. */
  readonly port: number;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly version: string;
}

interface Plain {
  readonly status: number;
  readonly body: unknown;
}

/** Entries of an index that are read before other requests have their turn. */
const PAGE = 200;
const MOST_REQUESTS = 256;
const REQUEST_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
const TYPE = 'application/json;charset=utf-8';

export class KupoServer {
  readonly #reader: KupoReader;
  readonly #ledger: Ledger;
  readonly #options: KupoOptions;
  readonly #http: Server;
  #underway = 0;

  constructor(ledger: Ledger, file: LedgerFile, options: KupoOptions) {
    this.#ledger = ledger;
    this.#reader = new KupoReader(file);
    this.#options = options;
    this.#http = createServer((request, response) => void this.#answer(request, response));
    this.#http.requestTimeout = REQUEST_MS;
    this.#http.keepAliveTimeout = KEEP_ALIVE_MS;
  }

  async start(): Promise<void> {
    await listen(this.#http, 'Kupo', this.#options);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#http.close(resolve));
    this.#http.closeAllConnections();
    await closed;
  }

  get port(): number {
    // trust: a server that listens on TCP has such an address
    return (this.#http.address() as AddressInfo).port;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '/', headers } = request;
    const refusal = isForeign(headers, this.#options.guard);
    if (refusal !== null) this.#send(response, { status: 403, body: { hint: refusal } });
    else if (this.#underway >= MOST_REQUESTS) {
      const hint = `${MOST_REQUESTS} requests are under way: try again`;
      this.#send(response, { status: 503, body: { hint } });
    } else if (method !== 'GET') {
      const hint = 'The patterns of a devnet are fixed: it indexes everything. Use GET.';
      this.#send(response, { status: 405, body: { hint } });
    } else {
      this.#underway += 1;
      try {
        await this.#get(new URL(url, 'http://kupo'), response);
      } catch (error) {
        if (response.headersSent) response.destroy();
        else this.#send(response, { status: 500, body: { hint: String(error) } });
      } finally {
        this.#underway -= 1;
      }
    }
  }

  async #get({ pathname, searchParams }: URL, response: ServerResponse): Promise<void> {
    const [, kind = '', ...rest] = pathname.split('/').map(safelyDecoded);
    if (kind === 'matches') await this.#matches(rest.join('/'), searchParams, response);
    else this.#send(response, this.#plain(kind, rest, searchParams));
  }

  async #matches(text: string, params: URLSearchParams, response: ServerResponse): Promise<void> {
    const question = readQuestion(text === '' ? '*' : text, params, this.#reader);
    if (typeof question === 'string') {
      this.#send(response, { status: 400, body: { hint: question } });
      return;
    }
    const asOf = this.#ledger.tip;
    const isResolved = params.has('resolve_hashes');
    this.#head(response, 200);
    const height = asOf?.height ?? 0;
    let separator = '[';
    let after: OutputPlace | null = null;
    for (;;) {
      if (!this.#reader.isOnChain(asOf)) throw new Error('the chain was rolled back meanwhile');
      const wanted = { height, limit: PAGE, after, isResolved };
      const { matches, last } = this.#reader.page(question, wanted);
      for (const match of matches) {
        response.write(separator + writeJson(matchJson(match, isResolved)));
        separator = ',';
      }
      if (last === null) break;
      after = last;
      if (!(await isDrained(response, this.#options.clock))) return;
    }
    response.end(separator === '[' ? '[]' : ']');
  }

  #plain(kind: string, rest: readonly string[], params: URLSearchParams): Plain {
    const [argument = ''] = rest;
    if (kind === 'health') return { status: 200, body: this.#health() };
    if (kind === 'checkpoints') return this.#checkpoints(argument, params);
    if (kind === 'patterns') return { status: 200, body: ['*'] };
    if (kind === 'datums') {
      return /^[0-9a-f]{64}$/.test(argument)
        ? { status: 200, body: this.#reader.datum(argument) }
        : { status: 400, body: { hint: 'The hash of a datum is 64 hex digits.' } };
    }
    if (kind === 'scripts') {
      return /^[0-9a-f]{56}$/.test(argument)
        ? { status: 200, body: this.#reader.script(argument) }
        : { status: 400, body: { hint: 'The hash of a script is 56 hex digits.' } };
    }
    if (kind === 'metadata') return this.#metadata(argument, params);
    const hint = 'matches, patterns, checkpoints, datums, scripts, metadata and health are here.';
    return { status: 404, body: { hint } };
  }

  #checkpoints(argument: string, params: URLSearchParams): Plain {
    if (argument === '') return { status: 200, body: this.#reader.checkpoints().map(pointJson) };
    if (!/^\d{1,15}$/.test(argument)) {
      return { status: 400, body: { hint: 'A checkpoint is asked for by its slot.' } };
    }
    const slot = Number(argument);
    const point = this.#reader.pointUpTo(slot);
    const isWanted = point !== null && (!params.has('strict') || point.slot === slot);
    return { status: 200, body: isWanted ? pointJson(point) : null };
  }

  #metadata(argument: string, params: URLSearchParams): Plain {
    if (!/^\d{1,15}$/.test(argument)) {
      return { status: 400, body: { hint: 'Metadata is asked for by the slot of its block.' } };
    }
    const txHash = params.get('transaction_id');
    return { status: 200, body: this.#reader.metadata(Number(argument), txHash) };
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

  #head(response: ServerResponse, status: number): void {
    const { tip } = this.#ledger;
    response.writeHead(status, {
      'content-type': TYPE,
      'x-most-recent-checkpoint': String(tip?.slot ?? 0),
      ...(tip === null ? {} : { etag: tip.hash }),
    });
  }

  #send(response: ServerResponse, { status, body }: Plain): void {
    this.#head(response, status);
    response.end(writeJson(body));
  }
}

function safelyDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Waits until the client has read what was written; false: it is gone. */
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
