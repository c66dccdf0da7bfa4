/**
 * The servers that `peers` compares, as programs: each connects to the feed, prints its port, and
 * says how a socket follows a pair. Fastify and Socket.IO are installed for the run into a folder
 * that is removed: they serve nothing else, and who installs the project should not load 69
 * packages for a bench. The Go server is built there from `bench/peers/centrifuge`.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Greeting } from '../processes/peerReceiver.ts';
import { cpuUsOf, isOnPath, onCore } from './processes.ts';
import { QUOTE } from './trades.ts';

const PEERS = join(import.meta.dirname, '../peers');
const PACKAGES = ['fastify@5.12.8', 'socket.io@4.8.4'];
const KIB = 1024;
/** End of the headers in the answer to an upgrade. */
const HEAD_END = '\r\n\r\n';

export interface Peer {
  readonly name: string;
  readonly path: string;
  readonly greeting: readonly Greeting[];
  /** A sign of life, where the server asks for one. */
  readonly nudge: string | null;
  command(feedPort: number): readonly string[];
}

interface Installed {
  readonly peers: readonly Peer[];
  /** Peers that could not be had, and why. */
  readonly skipped: readonly string[];
  remove(): void;
}

function node(file: string, ...args: string[]): readonly string[] {
  const quiet = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8'];
  return [process.execPath, ...quiet, join(PEERS, file), ...args];
}

export const OURS: Peer = {
  name: 'upcurve',
  path: '/ws',
  greeting: [
    {
      after: HEAD_END,
      text: JSON.stringify({
        messageType: 'subscribe',
        requestId: 'r0000',
        topic: 'LastBar',
        data: { pair: { base: '{base}', quote: QUOTE }, interval: 'min1' },
      }),
    },
  ],
  nudge: JSON.stringify({ messageType: 'pong', requestId: null }),
  command: (port) => node('upcurve.ts', String(port)),
};

const OURS_FROM_MEMORY: Peer = {
  ...OURS,
  name: 'upcurve, ACK=memory',
  command: (port) => node('upcurve.ts', String(port), 'memory'),
};

/** The library that ours stands on. */
const UWS_ALONE: Peer = {
  name: 'uWebSockets.js alone',
  path: '/ws',
  greeting: [{ after: HEAD_END, text: '{base}' }],
  nudge: null,
  command: (port) => node('uwsAlone.ts', String(port)),
};

/** As ours, which sends a bar at most every 5 ms. */
const WRITE_DELAY_MS = 5;

/** A peer that the network or the machine lacks is skipped, with the reason. */
export function install(progress: (what: string) => void): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'upcurve-peers-'));
  const peers = [OURS, OURS_FROM_MEMORY, UWS_ALONE];
  const skipped: string[] = [];
  progress(`installing ${PACKAGES.join(' and ')}`);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts'];
  const npm = spawnSync('npm', ['install', ...quiet, ...PACKAGES], { cwd: folder });
  if (npm.status === 0) peers.push(...ofNode(folder));
  else skipped.push('Fastify + ws and Socket.IO: npm could not install them.');
  if (!isOnPath('go')) skipped.push('centrifuge: there is no Go on the PATH.');
  else {
    progress('building the server on centrifuge');
    const source = join(folder, 'centrifuge');
    cpSync(join(PEERS, 'centrifuge'), source, { recursive: true });
    const program = join(folder, 'centrifuge-server');
    const go = spawnSync('go', ['build', '-o', program, '.'], { cwd: source });
    if (go.status === 0) peers.push(centrifuge(program, 0), centrifuge(program, WRITE_DELAY_MS));
    else skipped.push('centrifuge: `go build` failed, maybe for want of a module proxy.');
  }
  return { peers, skipped, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function ofNode(folder: string): Peer[] {
  return [
    {
      name: 'Fastify + ws',
      path: '/ws',
      greeting: [{ after: HEAD_END, text: '{base}' }],
      nudge: null,
      command: (port) => node('fastifyWs.ts', String(port), folder),
    },
    {
      name: 'Socket.IO',
      path: '/socket.io/?EIO=4&transport=websocket',
      greeting: [
        { after: '0{', text: '40' },
        { after: '40{', text: '42["subscribe","{base}"]' },
      ],
      nudge: null,
      command: (port) => node('socketIo.ts', String(port), folder),
    },
  ];
}

function centrifuge(program: string, delayMs: number): Peer {
  const written = delayMs === 0 ? '' : `, WriteDelay ${delayMs} ms`;
  return {
    name: `centrifuge (Go)${written}`,
    path: '/ws',
    greeting: [
      { after: HEAD_END, text: '{"id":1,"connect":{}}' },
      { after: '"connect"', text: '{"id":2,"subscribe":{"channel":"{base}"}}' },
    ],
    nudge: null,
    command: (port) => [program, String(port), String(delayMs)],
  };
}

/** One server, running. Its usage is read from outside, the same way for every server. */
export class PeerServer {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(peer: Peer, feedPort: number): Promise<PeerServer> {
    const [program, args] = onCore('server', peer.command(feedPort));
    const env = { ...process.env, GOMAXPROCS: '1', NODE_ENV: 'production' };
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
    const port = await new Promise<number>((resolve, reject) => {
      let said = '';
      child.stdout.on('data', (bytes: Buffer) => {
        said += String(bytes);
        const [, found] = /port (\d+)\n/.exec(said) ?? [];
        if (found !== undefined) resolve(Number(found));
      });
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`${peer.name} ended with code ${code}`)));
    });
    return new PeerServer(child, port);
  }

  /** Microseconds of all its threads so far. */
  cpuUs(): number {
    return cpuUsOf(this.#child.pid);
  }

  rssBytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'latin1');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * KIB;
  }

  async end(): Promise<void> {
    const over = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode !== null) return;
    this.#child.kill();
    await over;
  }
}
