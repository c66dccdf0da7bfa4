/**
 * Real nodes of one market over a real nats-server, each behind a proxy of its own. They follow one
 * devnet, which lives in this process.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataFiles } from '../../../src/engine/actors/dataFiles.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { NatsServer } from '../../support/nats.ts';
import { NatsProxy } from '../../support/natsProxy.ts';
import {
  type Environment,
  Program,
  type Scope,
  type Server,
  startServer,
  temporaryDirectory,
} from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import { type SharedDevnet, startSharedDevnet } from '../sharedDevnet.ts';

export const MARKET = 'faults';
export const LEASE_MS = 1_500;
/** For what comes after a fault, on a machine that has too much to do. */
export const LIMIT_MS = 60_000;
const ANSWER_MS = 5_000;
const PACE_MS = 250;

export interface Health {
  readonly status: number;
  readonly role: string;
  readonly term: number;
  readonly epoch: string;
  readonly seq: number;
  readonly stateHash: string;
  readonly synced: boolean;
  readonly stale: boolean;
  readonly mayNotLead: string | null;
  readonly tip: { readonly lagMs: number | null };
}

const SET_CLOCK = join(import.meta.dirname, '../../support/setClock.ts');
/** Of each database file of a node: more than a run needs. */
const DATA_MAX_MB = 24;

export class FaultyNode {
  readonly name: string;
  readonly directory = temporaryDirectory();
  readonly proxy: NatsProxy;
  readonly #scope: Scope;
  readonly env: Environment;
  readonly #clockFile = join(temporaryDirectory(), 'ahead');
  #server: Server | null = null;
  #asking = new AbortController();
  /** SIGSTOP was sent. */
  frozen = false;
  /** Entries that it tried to write, as its proxy heard. */
  publishes = 0;
  /** What it asked of NATS' JetStream. */
  requests = 0;

  constructor(scope: Scope, name: string, proxy: NatsProxy, env: Environment) {
    this.#scope = scope;
    this.name = name;
    this.proxy = proxy;
    const clock = { NODE_OPTIONS: `--import ${SET_CLOCK}`, CLOCK_FILE: this.#clockFile };
    const own = { NODE_NAME: name, DATA_DIR: this.directory, NATS_URL: proxy.url };
    this.env = { ...env, ...own, ...clock, DATA_MAX_MB: `${DATA_MAX_MB}` };
    proxy.heard = (text) => {
      this.publishes += text.split(`PUB ${MARKET}.entry.`).length - 1;
      this.requests += text.split('PUB $JS.API.').length - 1;
    };
  }

  get server(): Server {
    assert(this.#server !== null, `${this.name} was started`);
    return this.#server;
  }

  get lives(): boolean {
    return this.#server !== null && this.#server.program.exit === null;
  }

  /** It was not told to be silent. */
  get answers(): boolean {
    return this.lives && !this.frozen;
  }

  /** `change` is for this time only. */
  async start(change: Environment = {}): Promise<void> {
    this.#server = await startServer(this.#scope, [], { ...this.env, ...change });
    await untilAsked(
      `${this.name} is ready`,
      () => this.health(),
      (health) => health?.status === 200,
      LIMIT_MS,
    );
  }

  /** null: no answer. */
  async health(): Promise<Health | null> {
    if (!this.answers) return null;
    try {
      const signal = AbortSignal.any([this.#asking.signal, AbortSignal.timeout(ANSWER_MS)]);
      const response = await fetch(`${this.server.url}/health/ready`, { signal });
      // trust: the fields that a schema of ours names
      const body = (await response.json()) as Health;
      return { ...body, status: response.status };
    } catch {
      return null;
    }
  }

  async kill(): Promise<void> {
    this.frozen = false;
    await this.server.program.kill();
  }

  freeze(): void {
    this.frozen = true;
    this.#asking.abort();
    this.#asking = new AbortController();
    this.server.program.signal('SIGSTOP');
  }

  thaw(): void {
    this.server.program.signal('SIGCONT');
    this.frozen = false;
  }

  /** Its clock is so far ahead from now on. */
  setClock(aheadMs: number): void {
    writeFileSync(this.#clockFile, `${aheadMs}`);
  }

  /** Its state is as large as it may be; answers how to make room again. */
  fillDisk(): () => void {
    const { state } = dataFiles(this.directory);
    const database = openDatabase(state, { synchronous: 'NORMAL', maxMb: 0 });
    database.exec('CREATE TABLE ballast (bytes BLOB)');
    const bytes = DATA_MAX_MB * 1024 * 1024;
    database.prepare('INSERT INTO ballast (bytes) VALUES (zeroblob(?))').run(bytes);
    return () => {
      database.exec('DROP TABLE ballast');
      database.close();
    };
  }

  /** Another process with its name, over another directory. */
  startTwin(): Program {
    const twin = new Program([], { ...this.env, DATA_DIR: temporaryDirectory() });
    this.#scope.after(() => twin.kill());
    return twin;
  }

  /** NATS is out of its reach. */
  cutOff(): void {
    this.proxy.closed = true;
    this.proxy.cut();
  }

  joinAgain(): void {
    this.proxy.closed = false;
  }
}

export class Nodes {
  readonly nats: NatsServer;
  /** Of all, without what is each one's own. */
  readonly env: Environment;
  readonly all: readonly FaultyNode[];
  /** The chain that they follow. */
  readonly network: SharedDevnet;

  private constructor(
    nats: NatsServer,
    env: Environment,
    all: readonly FaultyNode[],
    network: SharedDevnet,
  ) {
    this.network = network;
    this.nats = nats;
    this.env = env;
    this.all = all;
  }

  static async start(scope: Scope, count: number, extra: Environment = {}): Promise<Nodes> {
    const nats = await NatsServer.start(scope);
    const network = await startSharedDevnet(scope, PACE_MS);
    const env = {
      ...network.env,
      MARKET_NAME: MARKET,
      LEASE_MS: `${LEASE_MS}`,
      TRADERS_PACE: '5',
      ...extra,
    };
    const all: FaultyNode[] = [];
    for (let index = 1; index <= count; index += 1) {
      const proxy = await NatsProxy.start(scope, nats.port);
      all.push(new FaultyNode(scope, `n${index}`, proxy, env));
    }
    await Promise.all(all.map((node) => node.start()));
    return new Nodes(nats, env, all, network);
  }

  get living(): readonly FaultyNode[] {
    return this.all.filter(({ answers }) => answers);
  }

  /** The node that says it leads, once exactly one does, other than `old`. */
  async leader(old: FaultyNode | null = null): Promise<FaultyNode> {
    const asked = async () => {
      const nodes = this.living.filter((node) => node !== old);
      const found = await Promise.all(nodes.map((node) => node.health()));
      return nodes.filter((_, index) => found[index]?.role === 'leader');
    };
    const isOne = (leaders: readonly FaultyNode[]) => leaders.length === 1;
    const [leader] = await untilAsked('one node leads', asked, isOne, LIMIT_MS);
    return leader ?? assert.fail('one was found');
  }

  async follower(): Promise<FaultyNode> {
    const leader = await this.leader();
    return this.living.find((node) => node !== leader) ?? assert.fail('one follows');
  }
}
