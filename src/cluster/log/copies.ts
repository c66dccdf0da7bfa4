/**
 * Compares the copies of the log on the servers of NATS. A copy that refuses new messages still
 * calls itself current, and the stream's leader believes it; when the leader ends, the log is set
 * back to that copy. So each copy is asked directly: a consumer lives on one server, names that
 * server, and counts the messages of its copy.
 *
 * A copy is behind when it lacks a message that the leader had `SETTLE_MS` earlier. Servers that
 * are away are not asked.
 */
import { isFault } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';
import { type NatsLink, nanos } from '../nats/connection.ts';
import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamManager,
  manager,
} from '../nats/stream.ts';

export interface CopyBehind {
  /** Name of the server. */
  readonly server: string;
  /** Messages that it lacks. */
  readonly missing: number;
}

interface CopyWatchDeps {
  readonly link: NatsLink;
  readonly stream: string;
  readonly clock: Clock;
  failed(error: unknown): void;
  /** At every comparison. */
  copiesCompared(behind: readonly CopyBehind[]): void;
}

const EVERY_MS = 60_000;
const SETTLE_MS = 5_000;
/** NATS chooses a consumer's server: this many consumers are made for each copy. */
const TRIES = 8;
const IDLE_MS = 10_000;

export class CopyWatch implements Service {
  readonly name = 'copies of the log';
  readonly #deps: CopyWatchDeps;
  readonly #everyMs: number;
  readonly #task: Task;

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
      if (behind !== null) copiesCompared(behind);
    } catch (error) {
      // That NATS gives no answer is shown elsewhere.
      if (!isUnanswered(error)) this.#deps.failed(error);
    }
  }
}

/** As 503 while a stream has no leader. */
function isUnanswered(error: unknown): boolean {
  return isFault(error, 'natsSilent', 'streamMissing') || error instanceof JetStreamApiError;
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
  const settings = {
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.None,
    inactive_threshold: nanos(IDLE_MS),
    mem_storage: true,
    num_replicas: 1,
  };
  const most = TRIES * (servers.size + 1);
  for (let tries = 0; tries < most && counts.size < servers.size; tries += 1) {
    const { name, num_pending, cluster } = await jsm.consumers.add(stream, settings);
    const server = cluster?.leader ?? '';
    if (servers.has(server)) counts.set(server, num_pending);
    await jsm.consumers.delete(stream, name);
  }
  return counts;
}
