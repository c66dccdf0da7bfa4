/**
 * A connection of one node to the devnet's Ogmios, in memory: a socket at the node's end, a session
 * at the devnet's. Each end is called only in events of its own process.
 */
import type { SocketListener, TextSocket } from '../../../src/chain/access.ts';
import type { DevnetCore } from '../../../src/devnet/devnet.ts';
import type { KupoAnswers } from '../../../src/devnet/kupo/server.ts';
import type { Session } from '../../../src/devnet/ogmios/session.ts';
import type { Clock } from '../../../src/engine/runtime/clock.ts';
import type { SimProcess, VirtualTime } from '../machine/virtualTime.ts';
import { type ChainLink, Pipe } from './link.ts';

/** The devnet while it runs. */
export interface RunningServer {
  readonly core: DevnetCore;
  readonly process: SimProcess;
  readonly clock: Clock;
  readonly kupo: () => KupoAnswers;
}

/**
 * As in src/devnet/ogmios/server.ts, a client with this many unread bytes gets no further answer.
 */
const FULL_BYTES = 1 << 20;
const ABNORMAL = 1006;
const NORMAL = 1000;

export class OgmiosConnection implements TextSocket {
  readonly node: SimProcess;
  readonly #time: VirtualTime;
  readonly #listener: SocketListener;
  readonly #toNode: Pipe;
  #toServer: Pipe | null = null;
  #server: RunningServer | null = null;
  #session: Session | null = null;
  /** At the devnet's end; at the node's. */
  #isEnded = false;
  #isClosed = false;
  #unreadBytes = 0;

  constructor(time: VirtualTime, link: ChainLink, node: SimProcess, listener: SocketListener) {
    this.node = node;
    this.#time = time;
    this.#listener = listener;
    this.#toNode = new Pipe(time, link.lane('ogmios', 'toNode'), node);
  }

  /** At the devnet's end. A frozen devnet answers later. */
  accept(server: RunningServer, link: ChainLink): void {
    if (this.#isClosed) return;
    this.#server = server;
    this.#toServer = new Pipe(this.#time, link.lane('ogmios', 'toServer'), server.process);
    this.#time.at(server.process, 0, () => this.#open(server));
  }

  /** At the devnet's end: none listens. */
  refuse(): void {
    this.#isEnded = true;
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    this.#toNode.send(() => this.#closed(ABNORMAL, refused));
  }

  /** The devnet's end is gone, or something between the two ended the connection. */
  reset(): void {
    if (this.#isEnded) return;
    this.#end();
    this.#toNode.send(() => this.#closed(ABNORMAL));
  }

  send(text: string): void {
    this.#toServer?.send(() => this.#session?.receive(text));
  }

  close(): void {
    this.#toServer?.send(() => {
      if (this.#isEnded) return;
      this.#end();
      this.#toNode.send(() => this.#closed(NORMAL));
    });
  }

  terminate(): void {
    this.#toServer?.send(() => this.#end());
    this.#time.at(this.node, 0, () => this.#closed(ABNORMAL));
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  #open({ core }: RunningServer): void {
    if (this.#isEnded) return;
    this.#session = core.session({
      send: (text) => this.#answer(text),
      isFull: () => this.#unreadBytes > FULL_BYTES,
      close: () => this.reset(),
    });
    this.#toNode.send(() => {
      if (!this.#isClosed) this.#listener.opened();
    });
  }

  #answer(text: string): void {
    // The system of a process that died answers with a reset.
    if (this.node.isDead) {
      this.#end();
      return;
    }
    this.#unreadBytes += text.length;
    this.#toNode.send(() => {
      const wasFull = this.#unreadBytes > FULL_BYTES;
      this.#unreadBytes -= text.length;
      if (wasFull) this.#pumpLater();
      if (!this.#isClosed) this.#listener.received(text);
    });
  }

  #pumpLater(): void {
    if (this.#server === null) return;
    this.#time.at(this.#server.process, 0, () => this.#session?.pump());
  }

  #end(): void {
    this.#isEnded = true;
    this.#session?.end();
    this.#session = null;
  }

  #closed(code: number, error?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (error !== undefined) this.#listener.failed(error);
    this.#listener.closed(code, '');
  }
}
