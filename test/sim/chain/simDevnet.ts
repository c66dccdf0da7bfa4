/**
 * A devnet for simulated nodes: the real one (src/devnet) on the virtual clock, reached in memory.
 * Each node has its own link, which can be cut, slowed and reset.
 *
 * Every change of the chain is an event of the devnet's process. A frozen devnet is a paused
 * process; after a kill, its files stay on disk.
 */
import { join } from 'node:path';
import type { NewOutput } from '../../../src/cardano/codec/encode.ts';
import type { ChainAccess } from '../../../src/chain/access.ts';
import { DevnetCore, type DevnetCoreOptions } from '../../../src/devnet/devnet.ts';
import type { DevnetNode } from '../../../src/devnet/node.ts';
import type { ServedTip } from '../../../src/devnet/ogmios/served.ts';
import type { SimProcess, VirtualTime } from '../machine/virtualTime.ts';
import { LaggingIndex } from './laggingIndex.ts';
import { ChainLink, type Direction, type Server } from './link.ts';
import { OgmiosConnection, type RunningServer } from './ogmiosConnection.ts';
import { KUPO_PORT, simFetch } from './simFetch.ts';

interface SimDevnetOptions {
  readonly time: VirtualTime;
  /** Directory of its file. */
  readonly directory: string;
  readonly genesis: readonly NewOutput[];
  readonly aside?: readonly NewOutput[];
  /** Ed25519 seed, hex. */
  readonly faucetSecret: string;
  /** Between blocks; 0: on demand. */
  readonly paceMs: number;
}

const HOST = 'devnet.sim';
/** All of a run. */
const BLOCKS_KEPT = 1_000_000;
const LOOK_MS = 1_000;

export class SimDevnet {
  readonly #time: VirtualTime;
  readonly #options: Omit<DevnetCoreOptions, 'clock'>;
  /** The machine, which outlives the devnet's process. */
  readonly #host: SimProcess;
  readonly #links = new Map<string, ChainLink>();
  #connections: { readonly name: string; readonly connection: OgmiosConnection }[] = [];
  readonly #requests = new Map<string, Set<() => void>>();
  #running: RunningServer | null = null;
  /** null: Kupo answers from the ledger itself. */
  #index: LaggingIndex | null = null;

  constructor({ time, directory, ...options }: SimDevnetOptions) {
    this.#time = time;
    const file = join(directory, 'chain.sqlite');
    this.#options = { ...options, file, blocksKept: BLOCKS_KEPT };
    this.#host = time.process('host of the devnet');
  }

  /** Settings of a node that follows it. */
  get env(): Readonly<Record<string, string>> {
    return {
      NETWORK: 'devnet',
      OGMIOS_URL: `ws://${HOST}:1337`,
      KUPO_URL: `http://${HOST}:${KUPO_PORT}`,
      BLOCK_EVERY_MS: String(this.#options.paceMs),
    };
  }

  /** Opens the chain, a new one or the chain of the last run. */
  start(): void {
    const process = this.#time.process('devnet');
    const clock = this.#time.clock({}, process);
    const core = DevnetCore.open({ ...this.#options, clock });
    this.#running = { core, process, clock, kupo: () => this.#index?.answers ?? core.kupo };
    this.#time.at(process, 0, () => core.node.start());
  }

  /** As by kill -9, or a stop: acknowledged data is on disk either way. */
  stop(): void {
    const running = this.#running;
    if (running === null) return;
    this.#running = null;
    running.process.kill();
    this.#reset();
    this.#index?.close();
    this.#index = null;
    running.core.stop();
  }

  freeze(): void {
    this.#running?.process.pause();
  }

  thaw(): void {
    this.#running?.process.resume();
  }

  /** null: it does not run. */
  get core(): DevnetCore | null {
    return this.#running?.core ?? null;
  }

  get tip(): ServedTip | null {
    return this.core?.node.chain.tip ?? null;
  }

  /** An event of the devnet, where it runs. */
  run(work: (node: DevnetNode) => unknown): void {
    const running = this.#running;
    if (running === null) return;
    this.#time.at(running.process, 0, () => void work(running.core.node));
  }

  mine(blocks: number): void {
    this.run((node) => node.mine(blocks));
  }

  fork(depth: number, resubmit: 'all' | 'none' = 'all'): void {
    this.run((node) => node.fork(depth, resubmit));
  }

  faucet(address: string, lovelace: bigint): void {
    this.run((node) => node.faucet(address, lovelace));
  }

  /** Kupo learns of each block this much later than Ogmios, until it is 0. */
  lagKupo(ms: number): void {
    this.run(() => {
      if (this.#running === null) return;
      const { core, clock } = this.#running;
      const { file, blocksKept = BLOCKS_KEPT } = this.#options;
      if (ms > 0) this.#index ??= new LaggingIndex({ core, file, blocksKept, clock });
      if (this.#index !== null) this.#index.lagMs = ms;
      if (ms === 0) this.#dropIndex();
    });
  }

  /** Once it has caught up. */
  #dropIndex(): void {
    const index = this.#index;
    if (index === null || index.lagMs > 0) return;
    if (!index.isCurrent) this.#running?.clock.after(LOOK_MS, () => this.#dropIndex());
    else {
      index.close();
      this.#index = null;
    }
  }

  /** How the node of this name, while it runs as `process`, reaches the devnet. */
  accessOf(name: string, process: SimProcess): ChainAccess {
    const link = this.#linkOf(name);
    const time = this.#time;
    const fetch = simFetch({
      ...{ time, link, node: process, host: this.#host },
      serverOf: () => this.#running,
      onReset: (reset) => this.#onReset(name, reset),
    });
    return {
      fetch,
      openSocket: (_url, listener) => {
        const connection = new OgmiosConnection(time, link, process, listener);
        const lane = link.lane('ogmios', 'toServer');
        lane.whenWhole(() => {
          time.at(this.#host, lane.delayMs, () => this.#accept(name, connection, link));
        });
        return connection;
      },
    };
  }

  /**
   * Nothing passes; in one direction where it is named. Without a name, the links of all nodes are
   * cut.
   */
  cut(name?: string, direction?: Direction): void {
    for (const link of this.#linksOf(name)) for (const lane of link.lanes(direction)) lane.cut();
  }

  /** Ends cuts and delays. */
  heal(name?: string): void {
    for (const link of this.#linksOf(name)) for (const lane of link.lanes()) lane.heal();
  }

  /** Each message takes this much longer, for one server if it is named. */
  slow(name: string | undefined, ms: number, server?: Server): void {
    for (const link of this.#linksOf(name)) {
      const servers = server === undefined ? (['ogmios', 'kupo'] as const) : [server];
      for (const each of servers) link.lane(each, 'toNode').slowMs = ms;
    }
  }

  /** Ends connections and requests. */
  drop(name?: string): void {
    this.#reset(name);
  }

  #linkOf(name: string): ChainLink {
    const link = this.#links.get(name) ?? new ChainLink();
    this.#links.set(name, link);
    return link;
  }

  #linksOf(name: string | undefined): ChainLink[] {
    return name === undefined ? [...this.#links.values()] : [this.#linkOf(name)];
  }

  #accept(name: string, connection: OgmiosConnection, link: ChainLink): void {
    if (this.#running === null) connection.refuse();
    else {
      this.#connections = this.#connections.filter((each) => !each.connection.isEnded);
      this.#connections.push({ name, connection });
      connection.accept(this.#running, link);
    }
  }

  #onReset(name: string, reset: () => void): () => void {
    const requests = this.#requests.get(name) ?? new Set();
    this.#requests.set(name, requests.add(reset));
    return () => requests.delete(reset);
  }

  #reset(name?: string): void {
    for (const each of this.#connections) {
      if (name === undefined || each.name === name) each.connection.reset();
    }
    for (const [node, requests] of this.#requests) {
      if (name === undefined || node === name) for (const reset of [...requests]) reset();
    }
  }
}
