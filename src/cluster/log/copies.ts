/**
 * Compares the copies of the log on the servers of NATS. A copy that refuses new messages still
 * calls itself current, and the stream's leader believes it; when the leader ends, the log is set
 * back to that copy. So each copy is asked directly: a consumer lives on one server, names that
 * server, and counts the messages of its copy.
 *
 * A copy is behind when it lacks a message that the leader had `SETTLE_MS` earlier. It differs when
 * it has other bytes at a sequence: servers whose writes were lost may keep two histories. Each
 * comparison reads the next entries of every copy, and after the last one the first ones again; a
 * copy that differs is read at that entry until it no longer does. Servers that are away are not
 * asked.
 */
import type { SealedEntry } from '../../engine/log/entry.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';
import { fetchBatch } from '../nats/batch.ts';
import { type NatsLink, nanos } from '../nats/connection.ts';
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamManager,
  manager,
  type StoredMessage,
} from '../nats/stream.ts';
import { hashOf } from './jetstreamAppends.ts';

export interface CopyBehind {
  /** Name of the server. */
  readonly server: string;
  /** Messages that it lacks. */
  readonly missing: number;
  /** The first entry that is another one there, of those compared. Absent: none. */
  readonly differsAt?: number;
}

interface CopyWatchDeps {
  readonly link: NatsLink;
  readonly stream: string;
  readonly clock: Clock;
  /** Entries as the leader of the stream has them. */
  read(fromSeq: number, limit: number): Promise<readonly SealedEntry[]>;
  failed(error: unknown): void;
  /** At every comparison. */
  copiesCompared(behind: readonly CopyBehind[]): void;
}

const EVERY_MS = 60_000;
const SETTLE_MS = 5_000;
/** NATS chooses a consumer's server: this many consumers are made for each copy. */
const TRIES = 8;
const IDLE_MS = 10_000;
/** Entries of each copy that a comparison reads. */
const PIECE = 500;

export class CopyWatch implements Service {
  readonly name = 'copies of the log';
  readonly #deps: CopyWatchDeps;
  readonly #everyMs: number;
  readonly #task: Task;
  /** Where the next comparison begins; 0: not known yet. */
  #from = 0;
  /** By server: where its copy has another entry. */
  #odd: ReadonlyMap<string, number> = new Map();

  constructor(deps: CopyWatchDeps, everyMs = EVERY_MS) {
    this.#deps = deps;
    this.#everyMs = everyMs;
    this.#task = new Task({ clock: deps.clock });
  }

  start(): void {
    this.#task.start(async () => {
      do await this.#compare();
      while (await this.#task.pause(this.#everyMs));
    });
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #compare(): Promise<void> {
    const { link, stream, copiesCompared } = this.#deps;
    try {
      const jsm = await manager(link);
      const pause = () => this.#task.pause(SETTLE_MS);
      const behind = await link.whileConnected(() => copiesBehind(jsm, stream, pause));
      if (behind === null) return;
      await link.whileConnected(() => this.#compareBytes(jsm));
      copiesCompared(withOdd(behind, this.#odd));
    } catch (error) {
      if (!isShownElsewhere(error)) this.#deps.failed(error);
    }
  }

  async #compareBytes(jsm: JetStreamManager): Promise<void> {
    const { stream, read } = this.#deps;
    const { config, cluster, state } = await jsm.streams.info(stream);
    if (config.num_replicas === 1) {
      this.#odd = new Map();
      return;
    }
    if (this.#from === 0 || this.#from > state.last_seq) {
      // The newest first, then all of them.
      this.#from = this.#from === 0 ? state.last_seq - PIECE + 1 : 1;
    }
    const replicas = cluster?.replicas ?? [];
    const online = replicas.filter(({ offline }) => offline !== true).map(({ name }) => name);
    // The leader's copy as well: what is read may come from memory, or from the other copies.
    const leader = cluster?.leader ?? '';
    const servers = new Set([leader, ...online]);
    // A server that left has no copy to compare; nor has an entry that was trimmed.
    const found = new Map(
      [...this.#odd].filter(
        ([server, seq]) =>
          (server === leader || replicas.some(({ name }) => name === server)) &&
          seq >= state.first_seq,
      ),
    );
    const again = [...found].filter(([server]) => servers.has(server)).map(([, seq]) => seq);
    const isAgain = again.length > 0;
    const from = Math.max(1, isAgain ? Math.min(...again) : this.#from, state.first_seq);
    const hashes = new Map((await read(from, PIECE)).map(({ entry, hash }) => [entry.seq, hash]));
    await this.#readCopies(jsm, from, servers, (server, messages) => {
      const compared = messages.filter(({ seq }) => hashes.has(seq));
      const odd = compared.find(({ seq, data }) => hashes.get(seq) !== hashOf(data));
      if (odd !== undefined) found.set(server, odd.seq);
      else if (compared.some(({ seq }) => seq === found.get(server))) found.delete(server);
    });
    this.#odd = found;
    if (!isAgain) this.#from = Math.max(from, ...hashes.keys()) + 1;
  }

  async #readCopies(
    jsm: JetStreamManager,
    from: number,
    servers: ReadonlySet<string>,
    take: (server: string, messages: readonly StoredMessage[]) => void,
  ): Promise<void> {
    const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from };
    await onEachCopy(jsm, this.#deps.stream, servers, start, async (server, { name }) => {
      const { messages, alive } = await fetchBatch(this.#deps, name, PIECE);
      if (alive) take(server, messages);
    });
  }
}

function withOdd(
  behind: readonly CopyBehind[],
  odd: ReadonlyMap<string, number>,
): readonly CopyBehind[] {
  const missing = new Map(behind.map((one) => [one.server, one.missing]));
  const servers = [...new Set([...missing.keys(), ...odd.keys()])];
  return servers.map((server) => {
    const differsAt = odd.get(server);
    const own = { server, missing: missing.get(server) ?? 0 };
    return differsAt === undefined ? own : { ...own, differsAt };
  });
}

/**
 * NATS gives no answer, as 503 while a stream has no leader; or the leader's own copy has a message
 * that is no entry, for which the node that leads opens an epoch.
 */
function isShownElsewhere(error: unknown): boolean {
  const isFaultOfNats = isFault(error, 'natsSilent', 'streamMissing', 'unreadableEntry');
  return isFaultOfNats || error instanceof JetStreamApiError;
}

/** `pause` gives copies the time to apply the leader's messages. null: not clear now. */
export async function copiesBehind(
  jsm: JetStreamManager,
  stream: string,
  pause: () => Promise<unknown>,
): Promise<readonly CopyBehind[] | null> {
  const { config, state } = await jsm.streams.info(stream);
  if (config.num_replicas === 1) return [];
  await pause();
  const { cluster, state: now } = await jsm.streams.info(stream);
  // A leader that was elected meanwhile may be the copy that is behind.
  if (now.last_seq < state.last_seq) return null;
  const others = (cluster?.replicas ?? []).filter(({ offline }) => offline !== true);
  const names = new Set(others.map(({ name }) => name));
  const counts = await countsOf(jsm, stream, names);
  // Messages that were trimmed meanwhile are not missing.
  if ((await jsm.streams.info(stream)).state.first_seq !== state.first_seq) return null;
  return [...counts]
    .map(([server, count]) => ({ server, missing: state.messages - count }))
    .filter(({ missing }) => missing > 0);
}

/** Messages in the copies on `servers`; a server that NATS never chose is left out. */
async function countsOf(
  jsm: JetStreamManager,
  stream: string,
  servers: ReadonlySet<string>,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const all = { deliver_policy: DeliverPolicy.All };
  await onEachCopy(jsm, stream, servers, all, async (server, { num_pending }) => {
    counts.set(server, num_pending);
  });
  return counts;
}

/** A consumer on each of these servers, one after the other, unless NATS never chooses one. */
async function onEachCopy(
  jsm: JetStreamManager,
  stream: string,
  servers: ReadonlySet<string>,
  start: Partial<ConsumerConfig>,
  visit: (server: string, consumer: ConsumerInfo) => Promise<void>,
): Promise<void> {
  const settings = {
    ...start,
    ack_policy: AckPolicy.None,
    inactive_threshold: nanos(IDLE_MS),
    mem_storage: true,
    num_replicas: 1,
  };
  const left = new Set(servers);
  const most = TRIES * (servers.size + 1);
  for (let tries = 0; tries < most && left.size > 0; tries += 1) {
    const consumer = await jsm.consumers.add(stream, settings);
    const server = consumer.cluster?.leader ?? '';
    if (left.delete(server)) await visit(server, consumer);
    await jsm.consumers.delete(stream, consumer.name);
  }
}
