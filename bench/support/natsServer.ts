/** A nats-server for a bench, with a temporary directory, and the log writer of a market in it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { JetstreamLog } from '../../src/cluster/log/jetstream.ts';
import { Bucket } from '../../src/cluster/nats/bucket.ts';
import { connectNats, type NatsLink } from '../../src/cluster/nats/connection.ts';
import { type EntryDraft, LogWriter } from '../../src/engine/log/writer.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';

export interface BenchNats {
  readonly url: string;
  stop(): Promise<void>;
}

/** `monitorPort`: where it says over HTTP what each connection sent. */
export async function startNats(
  directory: string,
  port: number,
  monitorPort?: number,
): Promise<BenchNats> {
  const args = ['-js', '-sd', join(directory, 'nats'), '-a', '127.0.0.1', '-p', String(port)];
  const monitor = monitorPort === undefined ? [] : ['-m', String(monitorPort)];
  const server = spawn('nats-server', [...args, ...monitor], { stdio: 'ignore' });
  const url = `nats://127.0.0.1:${port}`;
  await (await connected(url)).close();
  return {
    url,
    async stop() {
      await ended(server);
      rmSync(join(directory, 'nats'), { recursive: true, force: true });
    },
  };
}

/** Writes instead of the leader: it holds the lease, so that no node leads. */
export class MarketWriter {
  readonly log: JetstreamLog;
  readonly #link: NatsLink;
  readonly #writer: LogWriter;
  readonly #giveBack: () => Promise<void>;

  /** Market time of the newest entry before ours. */
  readonly marketMs: number;

  private constructor(
    log: JetstreamLog,
    link: NatsLink,
    writer: LogWriter,
    marketMs: number,
    giveBack: () => Promise<void>,
  ) {
    this.log = log;
    this.marketMs = marketMs;
    this.#link = link;
    this.#writer = writer;
    this.#giveBack = giveBack;
  }

  /** The market must have a log. */
  static async take(url: string, market: string, leaseMs: number): Promise<MarketWriter> {
    const link = await connected(url);
    const shape = { name: `${market}-nodes`, replicas: 1, ttlMs: leaseMs };
    const bucket = new Bucket(link, shape, leaseMs);
    const hold = () => bucket.put('leader', JSON.stringify({ node: 'bench', subject: '-' }));
    await hold();
    const holding = setInterval(() => void hold(), leaseMs / 5);
    // The former leader has stepped down by then.
    await new Promise((resolve) => setTimeout(resolve, 2 * leaseMs));
    const log = await JetstreamLog.open(link, systemClock, { name: market });
    const tail = await log.last();
    const [newest] = await log.read(tail.seq, 1);
    const term = (newest?.entry.term ?? 0) + 1;
    const writer = new LogWriter(log, tail, term, systemClock, { appendFailed: () => {} });
    const giveBack = async () => {
      clearInterval(holding);
      await bucket.remove('leader');
    };
    const timeMs = newest?.entry.timeMs ?? 0;
    await writer.append([{ timeMs, payload: { kind: 'leader', node: 'bench' } }]);
    return new MarketWriter(log, link, writer, timeMs, giveBack);
  }

  /** Answers the seq of the last entry. */
  append(drafts: readonly EntryDraft[]): Promise<number> {
    return this.#writer.append(drafts);
  }

  get seq(): number {
    return this.#writer.tail.seq;
  }

  /** Now a node may lead. */
  async give(): Promise<void> {
    await this.#giveBack();
    await this.log.close();
    await this.#link.close();
  }
}

async function connected(url: string): Promise<NatsLink> {
  for (;;) {
    const link = await connectNats({ url, name: 'bench' }, systemRng);
    if (!(link instanceof Failure)) return link;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const over = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await over;
}
