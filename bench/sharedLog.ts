/**
 * The log of several nodes beside the log of one: appends a second, how soon an entry is safe and
 * another node has it, and how fast a node that was away reads on.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureLog, JetstreamLog } from '../src/cluster/log/jetstream.ts';
import { connectNats } from '../src/cluster/nats/connection.ts';
import { NO_HASH, type SealedEntry, sealEntry } from '../src/engine/log/entry.ts';
import { LocalLog } from '../src/engine/log/local.ts';
import type { Log } from '../src/engine/log/port.ts';
import { systemClock } from '../src/engine/runtime/clock.ts';
import { Failure } from '../src/engine/runtime/errors.ts';
import { systemRng } from '../src/engine/runtime/rng.ts';
import { type Bench, fixed, whole } from './support/bench.ts';
import { quantile } from './support/quantile.ts';

const PORT = 18_422;
const NAME = 'bench';
/** As a block with a dozen orders: about so many characters. */
const PADDING = 'x'.repeat(4_000);
const SINGLE = 500;
const READ = 512;

export const sharedLog: Bench = {
  name: 'sharedLog',
  async measure({ trades }, progress) {
    const count = Math.max(2_000, Math.floor(trades / 10));
    const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
    const server = spawn(
      'nats-server',
      ['-js', '-sd', join(directory, 'nats'), '-a', '127.0.0.1', '-p', String(PORT)],
      { stdio: 'ignore' },
    );
    try {
      progress('the log of one node');
      const openLocal = () => LocalLog.open({ file: join(directory, 'log.sqlite'), maxMb: 0 });
      const local = await openLocal();
      const alone = await measured(local, local, count);
      await local.close();
      const again = await openLocal();
      const aloneRead = await readAll(again);
      await again.close();
      progress('the log of several nodes');
      const [writer, reader] = [await joined(), await joined()];
      const shared = await measured(writer.log, reader.log, count);
      const late = await joined();
      const sharedRead = await readAll(late.log);
      for (const node of [writer, reader, late]) await node.leave();
      const rows = [
        ['log.sqlite', ...cells(alone, aloneRead)],
        ['JetStream, one server', ...cells(shared, sharedRead)],
      ];
      return { columns: COLUMNS, rows, notes: [NOTE] };
    } finally {
      await ended(server);
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

const COLUMNS = [
  'log',
  'appends/s, pipelined',
  'one append p50 ms',
  'p99 ms',
  'other reader has it p50 ms',
  'p99 ms later',
  'catch-up entries/s',
];
const NOTE =
  'Entries of 4 kB; writer and reader in this process, nats-server beside it, not pinned. Its ' +
  'disk is flushed every 2 minutes (2.9 knows no other), that of log.sqlite each time.';

interface Numbers {
  readonly appendsPerSecond: number;
  readonly appendMs: readonly number[];
  readonly heardMs: readonly number[];
}

async function measured(writer: Log, reader: Log, count: number): Promise<Numbers> {
  const all = entries(count + SINGLE);
  const first = all.slice(0, count);
  const startMs = performance.now();
  for (let at = 0; at < first.length; at += READ) {
    const some = first.slice(at, at + READ);
    await Promise.all(some.map((sealed) => writer.append(sealed, sealed.entry.seq - 1)));
  }
  const appendsPerSecond = count / ((performance.now() - startMs) / 1000);
  const appendMs: number[] = [];
  const heardMs: number[] = [];
  for (const sealed of all.slice(count)) {
    const { seq } = sealed.entry;
    const askedMs = performance.now();
    const heard = reader.reached(seq).then(() => heardMs.push(performance.now() - askedMs));
    await writer.append(sealed, seq - 1);
    appendMs.push(performance.now() - askedMs);
    await heard;
  }
  return { appendsPerSecond, appendMs, heardMs };
}

async function readAll(log: Log): Promise<number> {
  const startMs = performance.now();
  let read = 0;
  for (;;) {
    const some = await log.read(read + 1, READ);
    if (some.length === 0) return read / ((performance.now() - startMs) / 1000);
    read += some.length;
  }
}

function cells({ appendsPerSecond, appendMs, heardMs }: Numbers, readPerSecond: number) {
  return [
    whole(appendsPerSecond),
    fixed(quantile(appendMs, 0.5)),
    fixed(quantile(appendMs, 0.99)),
    fixed(quantile(heardMs, 0.5)),
    fixed(quantile(heardMs, 0.99)),
    whole(readPerSecond),
  ];
}

function entries(count: number): SealedEntry[] {
  const sealed: SealedEntry[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    const prevEntryHash = sealed.at(-1)?.hash ?? NO_HASH;
    const common = { version: 3, epoch: '1-bench', seq, term: 1, prevEntryHash, timeMs: seq };
    const payload =
      seq === 1
        ? ({ kind: 'epoch', reason: 'new' } as const)
        : ({ kind: 'leader', node: PADDING } as const);
    sealed.push(sealEntry({ ...common, payload }));
  }
  return sealed;
}

/** Each has a separate connection, as two nodes have. */
async function joined(): Promise<{ readonly log: JetstreamLog; leave(): Promise<void> }> {
  for (;;) {
    const link = await connectNats({ url: `nats://127.0.0.1:${PORT}`, name: NAME }, systemRng);
    if (link instanceof Failure) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    await ensureLog(link, { name: NAME, replicas: 1 });
    const log = await JetstreamLog.open(link, systemClock, { name: NAME });
    const leave = async () => {
      await log.close();
      await link.close();
    };
    return { log, leave };
  }
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const over = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await over;
}
