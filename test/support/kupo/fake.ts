/**
 * A Kupo for tests: follows a chain of ours and answers over HTTP as Kupo does. It can be held at a
 * block, name blocks that it does not have yet, and answer wrongly or not at all.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Utxo } from '../../../src/cardano/codec/output.ts';
import type { ChainSource, ChainStream, Point } from '../../../src/chain/port.ts';
import { matchJson, pointJson, writeJson } from '../../../src/devnet/kupo/matchJson.ts';
import type { Scope } from '../server.ts';
import { until } from '../until.ts';
import { KupoIndex } from './index.ts';

/** Instead of the right answer, for one request. */
type Mischief = 'stall' | 'drop' | { readonly status: number; readonly body: string };

interface FakeKupoOptions {
  readonly source: ChainSource;
  readonly genesis: readonly Utxo[];
}

export class FakeKupo {
  readonly index = new KupoIndex();
  readonly asked: string[] = [];
  /** Decides for each request; null: the right answer. */
  mischief: (path: string) => Mischief | null = () => null;
  /** Runs between a question and its answer. */
  meanwhile: (path: string) => Promise<void> = async () => {};
  /** Its health, when it is not well. */
  isConnected = true;
  /** Headers name the newest block that it was told of, whether it has it or not. */
  announcesEarly = false;
  underway = 0;
  maxUnderway = 0;
  connections = 0;
  readonly #server: Server;
  #told: Point | null = null;
  #release = Promise.withResolvers<void>();
  #isHeld = false;
  #stream: ChainStream | null = null;
  #pumping: Promise<void> = Promise.resolve();

  constructor({ genesis }: Pick<FakeKupoOptions, 'genesis'>) {
    this.index.begin(genesis);
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.on('connection', () => {
      this.connections += 1;
    });
  }

  static async begin(scope: Scope, options: FakeKupoOptions): Promise<FakeKupo> {
    const kupo = new FakeKupo(options);
    await new Promise<void>((resolve) => kupo.#server.listen(0, '127.0.0.1', resolve));
    scope.after(() => kupo.stop());
    kupo.#stream = await options.source.open([]);
    if (kupo.#stream === null) throw new Error('the chain has a beginning');
    kupo.#pumping = kupo.#pump(kupo.#stream);
    return kupo;
  }

  async stop(): Promise<void> {
    this.go();
    await this.#stream?.close();
    await this.#pumping;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('it listens');
    return `http://127.0.0.1:${address.port}`;
  }

  /** Takes in no further block until `go`. */
  hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#release = Promise.withResolvers<void>();
  }

  go(): void {
    this.#isHeld = false;
    this.#release.resolve();
  }

  /** Every connection breaks, answered or not. */
  dropAll(): void {
    this.#server.closeAllConnections();
  }

  async reached(point: Point): Promise<void> {
    await until(`the index has ${point.slot}`, () => this.index.newest?.hash === point.hash);
  }

  async #pump(stream: ChainStream): Promise<void> {
    for (;;) {
      const event = await stream.next();
      if (event === null) return;
      if (event.kind === 'mempool') continue;
      this.#told = event.kind === 'back' ? event.point : event.block.point;
      if (this.#isHeld) await this.#release.promise;
      if (event.kind === 'back') this.index.back(event.point);
      else this.index.forward(event.block);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    this.asked.push(path);
    this.underway += 1;
    this.maxUnderway = Math.max(this.maxUnderway, this.underway);
    response.on('close', () => {
      this.underway -= 1;
    });
    await this.meanwhile(path);
    const mischief = this.mischief(path);
    if (mischief === 'stall') return;
    if (mischief === 'drop') request.socket.destroy();
    else if (mischief !== null) this.#send(response, mischief.status, mischief.body);
    else {
      const { status, body } = this.#right(path);
      this.#send(response, status, writeJson(body));
    }
  }

  #send(response: ServerResponse, status: number, body: string): void {
    const newest = this.announcesEarly ? this.#told : this.index.newest;
    response.writeHead(status, {
      'content-type': 'application/json;charset=utf-8',
      'x-most-recent-checkpoint': String(newest?.slot ?? 0),
      ...(newest === null ? {} : { etag: newest.hash }),
    });
    response.end(body);
  }

  #right(path: string): { status: number; body: unknown } {
    const [route = '', query = ''] = path.split('?');
    const [, kind = '', ...rest] = decodeURIComponent(route).split('/');
    const flags = new Set(query.split('&'));
    if (kind === 'health') return { status: 200, body: this.#health() };
    if (kind === 'checkpoints') return { status: 200, body: this.#checkpoint(rest, flags) };
    const found = kind === 'matches' ? this.index.matching(rest.join('/')) : null;
    if (found === null) return { status: 400, body: { hint: 'Invalid pattern!' } };
    const shown = found.filter(({ spent }) => !flags.has('unspent') || spent === null);
    const isResolved = flags.has('resolve_hashes');
    return { status: 200, body: shown.map((each) => matchJson(each, { isResolved })) };
  }

  #checkpoint([slot]: readonly string[], flags: ReadonlySet<string>): unknown {
    if (slot === undefined) return this.index.points().toReversed().map(pointJson);
    const point = this.index.pointAt(Number(slot));
    if (point === null || (flags.has('strict') && point.slot !== Number(slot))) return null;
    return pointJson(point);
  }

  #health() {
    return {
      connection_status: this.isConnected ? 'connected' : 'disconnected',
      most_recent_checkpoint: this.index.newest?.slot ?? null,
      most_recent_node_tip: this.#told?.slot ?? null,
      seconds_since_last_block: 1,
      network_synchronization: 1,
      configuration: { indexes: 'installed' },
      version: 'v2.11.0',
    };
  }
}
