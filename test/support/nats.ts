/** A real nats-server for one test: on a free port, with its own directory, killed by its id. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { ensureLog, JetstreamLog } from '../../src/cluster/log/jetstream.ts';
import { connectNats, type NatsLink } from '../../src/cluster/nats/connection.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { freePorts } from '../../src/server/cli/localServers.ts';
import { type Scope, temporaryDirectory } from './server.ts';
import { untilAsked } from './until.ts';

export const NATS_CONF = join(import.meta.dirname, '../../config/nats.conf');

const MAX_LOOKS = 100_000;
/** Longest wait on an overloaded machine, for tests that are not about timeouts. */
export const PATIENT_MS = 20_000;

export class NatsServer {
  readonly port: number;
  readonly directory: string;
  readonly #extra: readonly string[];
  readonly #conf: string;
  readonly #program: string;
  #child: ChildProcess | null = null;

  private constructor(
    port: number,
    directory: string,
    extra: readonly string[],
    conf: string,
    program: string,
  ) {
    this.port = port;
    this.directory = directory;
    this.#extra = extra;
    this.#conf = conf;
    this.#program = program;
  }

  static async start(
    scope: Scope,
    extra: readonly string[] = [],
    conf = NATS_CONF,
    program = 'nats-server',
    port?: number,
  ): Promise<NatsServer> {
    const directory = temporaryDirectory(scope);
    const own = port ?? (await freePort());
    const server = new NatsServer(own, directory, extra, conf, program);
    scope.after(() => server.kill());
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Again, after a kill. */
  async start(): Promise<void> {
    const args = ['-c', this.#conf, '-p', `${this.port}`, '-sd', this.directory, ...this.#extra];
    this.#child = spawn(this.#program, args, { stdio: 'ignore' });
    await untilAsked(
      'nats-server listens',
      () => listens(this.port),
      (yes) => yes,
    );
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.kill(signal);
    await ended;
  }

  /** It has stopped when this returns, where that can be seen: a signal takes its time. */
  pause(): void {
    const child = this.#child;
    child?.kill('SIGSTOP');
    const status = `/proc/${child?.pid}/stat`;
    const isRunning = () => !/^\d+ \(.*\) [Tt] /.test(readFileSync(status, 'utf8'));
    for (let looks = 0; existsSync(status) && isRunning() && looks < MAX_LOOKS; looks += 1);
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async restart(state: 'kept' | 'deleted' = 'kept'): Promise<void> {
    await this.kill();
    if (state === 'deleted') rmSync(join(this.directory, 'jetstream'), { recursive: true });
    await this.start();
  }

  async connect(scope: Scope, url = this.url, name = 'test'): Promise<NatsLink> {
    const settings = { url, name, connectTimeoutMs: PATIENT_MS };
    const link = await connectNats(settings, systemRng);
    assert.ok(!(link instanceof Failure), link instanceof Failure ? link.message : '');
    scope.after(() => link.close());
    return link;
  }
}

/**
 * Programs to test with: the program on the PATH, and a newer version if NATS_SERVER_NEXT names it.
 */
export function natsPrograms(): readonly { readonly program: string; readonly version: string }[] {
  const { NATS_SERVER_NEXT: next } = process.env;
  return ['nats-server', ...(next === undefined ? [] : [next])].map((program) => {
    const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    return { program, version: /v(2\.\d+)\./.exec(stdout)?.[1] ?? 'unknown' };
  });
}

/** Several servers that are one cluster, named s0, s1, …. */
export async function startNatsCluster(
  scope: Scope,
  program = 'nats-server',
  count = 3,
  conf = NATS_CONF,
): Promise<readonly NatsServer[]> {
  // All at once: none of them listens yet, so each choice alone might take the same port again.
  const ports = await freePorts(2 * count, systemRng);
  const urls = ports.slice(count).map((port) => `nats://127.0.0.1:${port}`);
  const join = (index: number) => [
    ...['-n', `s${index}`, '--cluster_name', 'three', '--cluster', urls[index] ?? ''],
    ...['--routes', urls.join(',')],
  ];
  const start = (_: string, index: number) =>
    NatsServer.start(scope, join(index), conf, program, ports[index]);
  const servers = await Promise.all(urls.map(start));
  const link = await servers[0]?.connect(scope);
  const answers = async () => {
    const asked = link?.connection.request('$JS.API.STREAM.NAMES', '', { timeout: 1_000 });
    const said = await asked?.catch(() => null);
    return said?.string().includes('"streams"') ?? false;
  };
  await untilAsked('the servers elected a leader', answers, (yes) => yes);
  return servers;
}

let markets = 0;

/** A market's name that no other test uses on the same server. */
export function marketName(): string {
  markets += 1;
  return `market${markets}`;
}

/**
 * A log over `link`; its stream is made where it is missing. Asks again, as a node does, when the
 * server took longer than `answerMs`. Closed after the test.
 */
export async function openLog(
  scope: Scope,
  link: NatsLink,
  name: string,
  giveUpMs = 2 * PATIENT_MS,
  answerMs = PATIENT_MS,
): Promise<JetstreamLog> {
  let why: unknown;
  const open = async () => {
    try {
      await ensureLog(link, { name, replicas: 1 }, answerMs);
      return await JetstreamLog.open(link, systemClock, { name, giveUpMs, answerMs });
    } catch (error) {
      why = error;
      return null;
    }
  };
  const log = await untilAsked(
    () => `the log opens: ${why}`,
    open,
    (opened) => opened !== null,
  );
  assert.ok(log !== null);
  scope.after(() => log.close());
  return log;
}

export async function freePort(): Promise<number> {
  const [port = assert.fail()] = await freePorts(1, systemRng);
  return port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    // It greets once it is ready to serve.
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
