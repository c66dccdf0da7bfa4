/**
 * The interfaces that a run acts on: the model of NATS, nodes and chain. The player, the clients
 * and the invariants see no more of them than this.
 *
 * Promise: a call takes effect in an event of its target; what is down answers null.
 */
import type { DialNats } from '../../../src/cluster/nats/connection.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import type { App } from '../../../src/server/app.ts';

export type NodeEnv = Readonly<Record<string, string>>;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ClientSocket {
  onMessage: (text: string) => void;
  onClose: (code: number) => void;
  send(text: string): void;
  close(): void;
  /** Arriving bytes wait, and fill the buffers on the way, until `read`. */
  stopReading(): void;
  read(): void;
}

export type NodeThread = 'ogmios' | 'writer' | 'builder';

export interface LifeNode {
  readonly name: string;
  readonly directory: string;
  /** null: it does not run, or starts. */
  readonly app: App | null;
  readonly isPaused: boolean;
  /** Why its process ended by itself, or did not start; null: it did not. */
  readonly ended: string | null;
  /** Rejects with the reason when it does not start. `env` is kept for later starts. */
  start(env?: NodeEnv): Promise<void>;
  stop(): Promise<void>;
  kill(): void;
  pause(): void;
  resume(): void;
  killThread(which: NodeThread): void;
  jumpClock(ms: number): void;
  driftClock(ppm: number): void;
  request(
    method: string,
    path: string,
    body?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer | null>;
  /** null: nothing answers. */
  connect(): ClientSocket | null;
}

/** The disks of all nodes. */
export interface LifeDisks {
  fill(directory: string): void;
  free(directory: string): void;
  /** After a kill: what was not synced is gone, to any byte of it where it is torn. */
  loseUnsynced(directory: string, rng: Rng, isTorn: boolean): void;
}

export interface StoredMessage {
  readonly stream: string;
  readonly seq: number;
  readonly subject: string;
  readonly text: string;
}

export interface LifeNats {
  partition(node: string, way: 'both' | 'in' | 'out'): void;
  endPartition(node: string, way: 'both' | 'in' | 'out'): void;
  /** 0 ends it, as a share of 0 ends the two below. */
  slow(node: string, ms: number): void;
  duplicate(node: string, share: number): void;
  drop(node: string, share: number): void;
  /** What streams deliver to it, answers excluded, comes this much later; 0 ends it. */
  late(node: string, ms: number): void;
  /** Ends partitions and slow, late, doubled or dropped deliveries of all. */
  heal(): void;
  killServer(server: number, loseLastMs: number): void;
  startServer(server: number): void;
  freezeServer(server: number): void;
  thawServer(server: number): void;
  lagServer(server: number, ms: number): void;
  loseConsumers(how: 'vanish' | 'mute'): void;
  publish(subject: string, text: string): void;
  deleteStream(name: string): void;
  purge(stream: string, upToSeq: number): void;
  /** Changes a byte of a stored message, on one server where it is named. */
  damage(stream: string, seq: number, server?: number): void;
  /** Turns a bit of a stored message on the disk of a server that is down. */
  flipBit(stream: string, seq: number, server: number, ended: 'killed' | 'stopped'): void;
  /** The text of a message, in the copy of this server, or in any. null: there is none. */
  textAt(stream: string, seq: number, server?: number): string | null;
  /** Puts other bytes in the place of a stored message, in the copy of one server. */
  rewrite(stream: string, seq: number, server: number, text: string): void;
  /** As an operator asks for it; nothing where there are fewer servers. */
  setCopies(stream: string, count: number): void;
  /** The copy on this server is given up; others of the stream stay. */
  removePeer(stream: string, server: number): void;
  /** The storage of all servers takes nothing more, until it does again. */
  fillStorage(isFull: boolean): void;
  /** A connection of another program, in the time of `node`. */
  dialer(node: string): DialNats;
  /** All that it stores, to be put back later. */
  copy(): unknown;
  restore(copy: unknown): void;
  lastSeq(stream: string): number;
  /** false: it is there, and its servers have not agreed on a leader. */
  isLed(stream: string): boolean;
  /** false: the file of its leader is broken, and what is stored next is not found. */
  findsNext(stream: string): boolean;
  /** How many the stream should have; null: there is no such stream. */
  copiesOf(stream: string): number | null;
  requestsOf(node: string): number;
  /** How many subjects a node listens to now. */
  subscriptionsOf(node: string): number;
  onStored: (message: StoredMessage) => void;
  /** Called when a node asks for something, before the message is on its way. */
  onRequest: (node: string, subject: string) => void;
}

/** An order of `trade` that a node accepted. */
export interface AcceptedOrder {
  readonly node: string;
  readonly txHash: string;
  readonly pkh: string;
  /** From the submission to its answer. */
  readonly tookMs: number;
}

export interface TradeChoice {
  readonly trader: number;
  readonly token: number;
  readonly amount: number;
  readonly kind: 'buy' | 'sell' | 'cancel' | 'lock' | 'launch';
}

export interface LifeChain {
  /** Directory of the devnet's files. */
  readonly directory: string;
  mine(blocks: number): void;
  /** `none`: transactions of the blocks that are taken back are not made again. */
  fork(depth: number, resubmit: 'all' | 'none'): void;
  cut(node: string): void;
  heal(node?: string): void;
  /** Asks `node` for it, as a trader does: built there, signed here, submitted there. */
  trade(choice: TradeChoice, node: LifeNode): Promise<'accepted' | 'refused' | 'unanswered'>;
  /** Called in the moment in which the owner has the answer. */
  onOrder: (order: AcceptedOrder) => void;
  /** Tokens that a launch of `trade` made, once a block has it. */
  readonly tokens: readonly string[];
  /** The traders. */
  readonly people: readonly { readonly pkh: string; readonly address: string }[];
  /** Ids of transactions of `trade` that place orders and wait for a block. */
  waiting(): readonly string[];
  /**
   * Accepted transactions that are neither in a block nor displaced, and what the ledger forbids.
   */
  audit(): readonly string[];
}
