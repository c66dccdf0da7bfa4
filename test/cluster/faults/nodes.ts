/**
 * Real nodes of one market over a real nats-server, each behind its own proxy. They follow one
 * devnet, which lives in this process.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../../src/engine/runtime/clock.ts';
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
import { startSharedDevnet } from '../sharedDevnet.ts';

export const MARKET = 'faults';
export const LEASE_MS = 2_000;
/** Time limit after a fault, long enough for an overloaded machine. */
export const LIMIT_MS = 60_000;
const ANSWER_MS = 5_000;
/** Shortest time between two requests to a node, shared by all waiting tests. */
const ASK_EVERY_MS = 40;
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

export class FaultyNode {
  readonly name: string;
  readonly directory = temporaryDirectory();
  readonly proxy: NatsProxy;
  readonly #scope: Scope;
  readonly env: Environment;
  readonly #clockFile = join(temporaryDirectory(), 'ahead');
  #server: Server | null = null;
  #asking = new AbortController();
  #nextAskMs = 0;
  /** SIGSTOP was sent. */
  frozen = false;

  constructor(scope: Scope, name: string, proxy: NatsProxy, env: Environment) {
    this.#scope = scope;
    this.name = name;
    this.proxy = proxy;
    const clock = { NODE_OPTIONS: `--import ${SET_CLOCK}`, CLOCK_FILE: this.#clockFile };
    const own = { NODE_NAME: name, DATA_DIR: this.directory, NATS_URL: proxy.url };
    this.env = { ...env, ...own, ...clock };
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

  async start(): Promise<void> {
    this.#server = await startServer(this.#scope, [], this.env);
    await untilAsked(
      `${this.name} is ready`,
      () => this.health(),
      (health) => health?.status === 200,
      LIMIT_MS,
    );
  }

  /** null: no answer. */
  async health(): Promise<Health | null> {
    const nowMs = performance.now();
    this.#nextAskMs = Math.max(nowMs, this.#nextAskMs + ASK_EVERY_MS);
    await sleep(systemClock, this.#nextAskMs - nowMs);
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

  /** Another process with its name, over another directory. */
  startTwin(): Program {
    const twin = new Program([], { ...this.env, DATA_DIR: temporaryDirectory() });
    this.#scope.after(() => twin.kill());
    return twin;
  }

  /** NATS is out of its reach. */
  cutOff(): void {
    this.proxy.isClosed = true;
    this.proxy.cut();
  }

  joinAgain(): void {
    this.proxy.isClosed = false;
  }
}

export class Nodes {
  readonly nats: NatsServer;
  readonly all: readonly FaultyNode[];

  private constructor(nats: NatsServer, all: readonly FaultyNode[]) {
    this.nats = nats;
    this.all = all;
  }

  static async start(scope: Scope, count: number): Promise<Nodes> {
    const nats = await NatsServer.start(scope);
    const network = await startSharedDevnet(scope, PACE_MS);
    const env = {
      ...network.env,
      MARKET_NAME: MARKET,
      LEASE_MS: `${LEASE_MS}`,
      TRADERS_PACE: '0',
    };
    const all: FaultyNode[] = [];
    for (let index = 1; index <= count; index += 1) {
      const proxy = await NatsProxy.start(scope, nats.port);
      all.push(new FaultyNode(scope, `n${index}`, proxy, env));
    }
    await Promise.all(all.map((node) => node.start()));
    return new Nodes(nats, all);
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
