/**
 * A whole node, as `startApp` wires it, in one thread: started, stopped, killed and paused like a
 * process. Between it and the rest of a run are only events: see `VirtualTime`.
 */
import { mkdirSync } from 'node:fs';
import type { GatewayOptions } from '../../../src/api/gateway/options.ts';
import type { NetworkDeployment } from '../../../src/cardano/datums/deployment.ts';
import type { ChainAccess } from '../../../src/chain/access.ts';
import type { DialNats } from '../../../src/cluster/nats/connection.ts';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import type { Clock } from '../../../src/engine/runtime/clock.ts';
import { createLogger } from '../../../src/engine/runtime/events.ts';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import { type App, type AppDeps, startApp } from '../../../src/server/app.ts';
import type { KeySecrets } from '../../../src/server/settings/keyFiles.ts';
import { BadSettings, readSettings } from '../../../src/server/settings/settings.ts';
import type { SimDisk } from '../machine/simDisk.ts';
import type {
  ClockOptions,
  SimProcess,
  VirtualClock,
  VirtualTime,
} from '../machine/virtualTime.ts';
import { InlineHost, type ThreadName } from './inlineHost.ts';
import { type HttpAnswer, MemoryServer } from './memoryServer.ts';
import { ClientEnd } from './memorySocket.ts';

/** The model of NATS. */
interface NodeNats {
  dialer(name: string, clock: Clock): DialNats;
  killNode(name: string): void;
}

/** The model of the chain. */
interface NodeChain {
  accessOf(name: string, process: SimProcess): ChainAccess;
  drop?(name: string): void;
}

type NodeEnv = Readonly<Record<string, string>>;

export interface SimNodeOptions {
  readonly time: VirtualTime;
  readonly disk: SimDisk;
  readonly name: string;
  readonly directory: string;
  readonly seed: number;
  /** Settings but DATA_DIR and PORT. */
  readonly env: NodeEnv;
  readonly nats?: NodeNats;
  readonly chain?: NodeChain;
  readonly devnet?: AppDeps['devnet'];
  readonly secrets?: KeySecrets;
  readonly deployment?: NetworkDeployment;
  readonly gateway?: Partial<GatewayOptions>;
  readonly clock?: ClockOptions;
  /** Bytes of unread frames that a connection holds before the server buffers them. */
  readonly connectionBytes?: number;
  /** Its log, a JSON object a line. */
  readonly onLine?: (line: string) => void;
}

/** One process of the node, from its start to its end. */
interface Run {
  readonly process: SimProcess;
  readonly clock: VirtualClock;
  readonly access: ChainAccess | null;
  readonly host: InlineHost;
  readonly servers: MemoryServer[];
  app: App | null;
}

const LATENCY_MS = 0.5;
const CONNECTION_BYTES = 131_072;

export class SimNode {
  readonly name: string;
  /**
   * Directory of the next start; the directory of the run in hand is the one it was started with.
   */
  directory: string;
  /** Why its process ended by itself, or did not start; null: it did not. */
  ended: string | null = null;
  readonly #options: SimNodeOptions;
  readonly #rng: Rng;
  #env: NodeEnv;
  #clockOptions: { offsetMs: number; driftPpm: number };
  #run: Run | null = null;
  #starts = 0;

  constructor(options: SimNodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.directory = options.directory;
    this.#env = options.env;
    this.#rng = seededRng(options.seed);
    this.#clockOptions = { offsetMs: 0, driftPpm: 0, ...options.clock };
  }

  /** null: it does not run, or starts. */
  get app(): App | null {
    return this.#run?.app ?? null;
  }

  get isRunning(): boolean {
    return this.#run !== null;
  }

  get isPaused(): boolean {
    return this.#run?.process.state === 'paused';
  }

  /**
   * Resolves when it serves; rejects with the reason when it does not start, or is killed
   * meanwhile. `env` is kept for later starts.
   */
  start(env: NodeEnv = {}): Promise<void> {
    if (this.#run !== null) return Promise.reject(new Error(`${this.name} runs already`));
    this.#env = { ...this.#env, ...env };
    this.ended = null;
    const { time } = this.#options;
    const run = this.#newRun();
    this.#run = run;
    const caller = time.current;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const tell = (settle: () => void) => void time.at(caller, 0, settle);
    run.process.onCrash = (error) => {
      tell(() => reject(error));
      this.#end(run, `crash: ${explain(error)}`);
    };
    time.at(run.process, 0, () => {
      this.#boot(run).then(
        () => tell(resolve),
        (error: unknown) => {
          if (run.process.isDead) return;
          tell(() => reject(error));
          this.#end(run, explain(error));
        },
      );
    });
    run.process.onKill = () => tell(() => reject(new Error(`${this.name} was killed`)));
    // A caller that does not wait for the start looks at `ended`.
    promise.catch(() => {});
    return promise;
  }

  /** As SIGTERM does. Resolves when its process has ended. */
  stop(): Promise<void> {
    const run = this.#run;
    if (run === null) return Promise.resolve();
    if (run.app === null) {
      this.kill();
      return Promise.resolve();
    }
    const { time } = this.#options;
    const caller = time.current;
    return new Promise((resolve) => {
      const done = () => {
        if (this.#run === run) this.#end(run, null);
        time.at(caller, 0, resolve);
      };
      run.process.onKill = done;
      time.at(run.process, 0, () => void run.app?.stop('SIGTERM').then(done, done));
    });
  }

  /** As kill -9 does: files stay as they are, connections break, nothing more runs. */
  kill(): void {
    if (this.#run !== null) this.#end(this.#run, null);
  }

  /** SIGSTOP. */
  pause(): void {
    this.#run?.process.pause();
  }

  /** SIGCONT. */
  resume(): void {
    this.#run?.process.resume();
  }

  /** Dies in an event of the node. */
  killThread(which: ThreadName): void {
    const run = this.#run;
    if (run !== null) this.#options.time.at(run.process, 0, () => run.host.killThread(which));
  }

  jumpClock(ms: number): void {
    this.#clockOptions.offsetMs += ms;
    this.#run?.clock.jump(ms);
  }

  driftClock(ppm: number): void {
    this.#clockOptions.driftPpm = ppm;
    this.#run?.clock.drift(ppm);
  }

  /** Runs `work` inside of the node, as an event of it. It never settles if the node ends first. */
  run<T>(work: (app: App) => Promise<T> | T): Promise<T> {
    const run = this.#run;
    if (run === null || run.app === null)
      return Promise.reject(new Error(`${this.name} does not run`));
    const { app } = run;
    const { time } = this.#options;
    const caller = time.current;
    return new Promise((resolve, reject) => {
      const tell = (settle: () => void) => void time.at(caller, 0, settle);
      const begin = async () => work(app);
      time.at(run.process, 0, () => {
        begin().then(
          (value) => tell(() => resolve(value)),
          (error: unknown) => tell(() => reject(error)),
        );
      });
    });
  }

  /** null: nothing answers, or the connection broke. A paused node does not answer. */
  async request(
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers: Readonly<Record<string, string>> = {},
    address?: string,
  ): Promise<HttpAnswer | null> {
    const [server] = this.#run?.servers ?? [];
    if (server === undefined) return null;
    const from = address === undefined ? {} : { address };
    const content = body === undefined ? {} : { body };
    return server.request({ method, path, headers, ...content, ...from });
  }

  /** null: nothing answers. */
  connect(
    path = '/ws',
    options: { headers?: Readonly<Record<string, string>>; address?: string } = {},
  ): ClientEnd | null {
    const [server] = this.#run?.servers ?? [];
    if (this.#run === null || server === undefined) return null;
    const client = new ClientEnd(this.#options.time, this.#run.process, LATENCY_MS);
    server.connect(path, options, client);
    return client;
  }

  #newRun(): Run {
    const { time, chain, name } = this.#options;
    this.#starts += 1;
    const process = time.process(`${name} ${this.#starts}`);
    const clock = time.clock(this.#clockOptions, process);
    const access = chain?.accessOf(name, process) ?? null;
    const host = new InlineHost({ time, process, clock, chain: access });
    return { process, clock, access, host, servers: [], app: null };
  }

  async #boot(run: Run): Promise<void> {
    mkdirSync(this.directory, { recursive: true });
    const app = await startApp(this.#world(run));
    run.app = app;
    void app.failed.then(async (why) => {
      await app.stop(why).catch(() => {});
      if (!run.process.isDead) this.#end(run, why);
    });
  }

  #world(run: Run): AppDeps {
    const { nats, devnet, secrets, deployment, gateway, onLine, name } = this.#options;
    const { process, clock, access, host, servers } = run;
    const settings = readSettings({ ...this.#env, DATA_DIR: this.directory, PORT: '0' });
    if (settings instanceof BadSettings) throw settings;
    const destination = { write: (line: string) => void (process.isDead || onLine?.(line)) };
    const { time, connectionBytes = CONNECTION_BYTES } = this.#options;
    return {
      settings,
      clock,
      rng: this.#rng,
      logger: createLogger({ level: settings.LOG_LEVEL, clock, destination }),
      version: 'simulated',
      host: {
        logFile: host.logFile,
        stateWriter: host.stateWriter,
        builderThreads: host.builderThreads,
        nodeReader: host.nodeReader,
        createServer: (observer) => {
          const handlerFailed = observer.handlerFailed.bind(observer);
          const place = { time, process, latencyMs: LATENCY_MS, connectionBytes, handlerFailed };
          const server = new MemoryServer(place);
          servers.push(server);
          return server;
        },
      },
      ...(nats === undefined ? {} : { dialNats: nats.dialer(name, clock) }),
      ...(access === null ? {} : { chainAccess: access }),
      ...(devnet === undefined ? {} : { devnet }),
      ...(secrets === undefined ? {} : { secrets }),
      ...(deployment === undefined ? {} : { deployment }),
      ...(gateway === undefined ? {} : { gateway }),
    };
  }

  /** The process is no more. */
  #end(run: Run, reason: string | null): void {
    const { nats, chain, disk, name } = this.#options;
    if (this.#run !== run) return;
    this.#run = null;
    this.ended = reason;
    run.process.kill();
    for (const server of run.servers) server.vanish();
    nats?.killNode(name);
    chain?.drop?.(name);
    disk.crash(this.directory);
  }
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const kind = isFault(error) ? `${error.kind}: ` : '';
  const why = error.cause === undefined ? '' : `: ${explain(error.cause)}`;
  return `${kind}${error.message}${why}`;
}
