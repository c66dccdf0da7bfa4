/**
 * A node without its gateway: real log, state, fold and ingest over a directory. `crashed` opens a
 * copy of the files as a kill -9 would leave them.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { MarketRecord } from '../../src/engine/fold/marketRecord.ts';
import { Replay, type ReplayCounts } from '../../src/engine/ingest/replay.ts';
import type { SealedEntry } from '../../src/engine/log/entry.ts';
import type { LocalLog } from '../../src/engine/log/local.ts';
import { openLocalLog } from '../../src/engine/log/localOpen.ts';
import { LogWriter } from '../../src/engine/log/writer.ts';
import { Node } from '../../src/engine/node/node.ts';
import type { NodeOptions } from '../../src/engine/node/nodeOptions.ts';
import { type DataFiles, dataFiles } from '../../src/engine/recovery/dataFiles.ts';
import { type RebuildOptions, rebuildState } from '../../src/engine/recovery/rebuild.ts';
import { recover } from '../../src/engine/recovery/recovery.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { createEvents, createLogger } from '../../src/engine/runtime/events.ts';
import type { MarketOrigin } from '../../src/engine/runtime/marketIdentity.ts';
import { createRegistry } from '../../src/engine/runtime/meters.ts';
import { type Rng, seededRng } from '../../src/engine/runtime/rng.ts';
import { DirectorySnapshots } from '../../src/engine/snapshots/directory.ts';
import { loadSnapshot } from '../../src/engine/snapshots/load.ts';
import type { SnapshotStore } from '../../src/engine/snapshots/port.ts';
import { SnapshotTaker, type TakerDeps } from '../../src/engine/snapshots/taker.ts';
import type { TableName } from '../../src/engine/store/rows.ts';
import type { Scope } from './server.ts';
import { until } from './until.ts';

export interface FoldWorldOptions extends NodeOptions {
  readonly logMaxMb: number;
  readonly latenessMs: number;
  /** null: a market without a chain. */
  readonly origin: MarketOrigin | null;
  /** Entries from one snapshot to the next; null: none is taken. */
  readonly snapshotEvery: number | null;
  /** Absent: files in the directory. */
  readonly snapshots?: SnapshotStore;
}

export const NEVER_MS = 1_000_000_000;

export const USUAL: FoldWorldOptions = {
  horizonBlocks: 2160,
  maxMb: 0,
  logMaxMb: 0,
  maxLoadedPairs: 100,
  commitEveryMs: NEVER_MS,
  latenessMs: 60_000,
  origin: null,
  snapshotEvery: null,
};

/** Events of the node, by kind. */
export interface Said {
  readonly quarantined: string[];
  readonly foldFailures: unknown[];
  readonly commitFailures: unknown[];
  readonly appendFailures: unknown[];
  readonly epochs: string[];
  readonly unreadable: unknown[];
  readonly rejected: string[];
  readonly sumsOutdated: string[];
  /** `rebuilding`, `rebuilt` or an error. */
  readonly repairs: string[];
  /**
   * Entries of the snapshots that were taken, and of the snapshots from which a state was loaded.
   */
  readonly snapshots: number[];
  readonly loaded: number[];
  readonly unusable: string[];
  readonly snapshotFailures: unknown[];
  /** Tags given to the hub since they were last cleared. */
  readonly tags: Set<string>;
  epochChanges: number;
}

interface Rebuilt {
  readonly stateHash: string;
  readonly digest: Record<TableName, string>;
}

interface Parts {
  readonly scope: Scope;
  readonly directory: string;
  readonly options: FoldWorldOptions;
  readonly files: DataFiles;
  readonly said: Said;
  readonly log: LocalLog;
  readonly node: Node;
  readonly writer: LogWriter;
  readonly rng: Rng;
  readonly startedAt: number;
  readonly taker: SnapshotTaker | null;
}

let images = 0;

export class FoldWorld {
  readonly directory: string;
  readonly options: FoldWorldOptions;
  readonly files: DataFiles;
  readonly said: Said;
  readonly log: LocalLog;
  readonly node: Node;
  readonly writer: LogWriter;
  /** Seq of the log's end when this world was opened. */
  readonly startedAt: number;
  readonly #scope: Scope;
  readonly #rng: Rng;
  readonly #taker: SnapshotTaker | null;
  #stopped = false;

  /**
   * `directory` is made if need be; images of it become its neighbours. Stops with `scope`, at the
   * latest.
   */
  static async open(
    scope: Scope,
    directory: string,
    some: Partial<FoldWorldOptions> = {},
    seed = 1,
  ): Promise<FoldWorld> {
    const options = { ...USUAL, ...some };
    const files = dataFiles(directory);
    const said = silence();
    const rng = seededRng(seed);
    const logger = createLogger({ level: 'silent', clock: systemClock });
    const events = createEvents(logger, createRegistry(), systemClock);
    const market = new MarketRecord(directory, options.origin);
    const log = await openLocalLog(files.log, systemClock, {
      maxMb: options.logMaxMb,
      sumsOutdated: (reason) => said.sumsOutdated.push(reason),
    });
    const snapshots = options.snapshots ?? snapshotsOf(directory, said);
    const takeSnapshot = taking(snapshots, log, said);
    const store = await recover(log, files, {
      ...foldOptions(options, said),
      takeSnapshot,
      market,
      rng,
      epochStarted: (epoch, reason) => said.epochs.push(`${epoch} ${reason}`),
      stateUnreadable: (error) => said.unreadable.push(error),
    }).catch(async (error: unknown) => {
      await log.close();
      throw error;
    });
    const tail = await log.last();
    const nodeOptions = { ...options, takeSnapshot };
    const node = new Node(store, tail.seq, log, files, systemClock, nodeOptions, {
      ...events,
      commitFailed: (error) => said.commitFailures.push(error),
      actorQuarantined: (pool) => said.quarantined.push(pool),
      foldFailed: (error) => said.foldFailures.push(error),
      stateRebuilding: () => said.repairs.push('rebuilding'),
      stateRebuilt: () => said.repairs.push('rebuilt'),
      stateNotRebuilt: (error) => said.repairs.push(String(error)),
    });
    const writer = new LogWriter(log, tail, 1, systemClock, {
      appendFailed: (error) => said.appendFailures.push(error),
    });
    node.start({
      applied: (tags) => {
        for (const tag of tags) said.tags.add(tag);
      },
      epochChanged: () => {
        said.epochChanges += 1;
      },
    });
    await node.reached(tail.seq);
    const startedAt = tail.seq;
    const taker = takerOf({ node, log, files, snapshots, clock: systemClock }, options, said);
    taker?.start();
    const own = { scope, directory, options, files, said, log, node, writer, rng };
    const parts = { ...own, startedAt, taker };
    const world = new FoldWorld(parts);
    scope.after(() => world.stop());
    return world;
  }

  private constructor(parts: Parts) {
    this.directory = parts.directory;
    this.options = parts.options;
    this.files = parts.files;
    this.said = parts.said;
    this.log = parts.log;
    this.node = parts.node;
    this.writer = parts.writer;
    this.startedAt = parts.startedAt;
    this.#scope = parts.scope;
    this.#rng = parts.rng;
    this.#taker = parts.taker;
  }

  get fold() {
    return this.node.fold;
  }

  get seq(): number {
    return this.node.applied().seq;
  }

  async feed(lines: readonly string[], latenessMs = this.options.latenessMs) {
    return this.replay(latenessMs).run(Readable.from([lines.map((line) => `${line}\n`).join('')]));
  }

  replay(
    latenessMs = this.options.latenessMs,
    feed: string | null = null,
    allowFuture = false,
    allowPast = false,
  ): Replay {
    const { node, log, writer } = this;
    const place = { node, log, writer, rng: this.#rng, clock: systemClock };
    const observer = {
      lineRejected: (line: number, reason: string) => this.said.rejected.push(`${line}: ${reason}`),
      replayProgress: (_counts: ReplayCounts) => {},
      replayFinished: (_counts: ReplayCounts) => {},
    };
    return new Replay(place, observer, { feed, speed: null, latenessMs, allowFuture, allowPast });
  }

  async entries(fromSeq = 1): Promise<SealedEntry[]> {
    const entries: SealedEntry[] = [];
    for (let next = fromSeq; ; ) {
      const some = await this.log.read(next, 1_000);
      const last = some.at(-1);
      if (last === undefined) return entries;
      entries.push(...some);
      next = last.entry.seq + 1;
    }
  }

  /** The state at the applied position, made again from the log beside the one in use. */
  async rebuilt(): Promise<Rebuilt> {
    const file = join(this.directory, 'compared.sqlite');
    const { seq, log, files } = this;
    const snapshots = this.options.snapshots ?? snapshotsOf(this.directory, this.said);
    const takeSnapshot = taking(snapshots, log, this.said);
    const making = { ...foldOptions(this.options, this.said), takeSnapshot };
    const store = await rebuildState(file, seq, log, files, making);
    const digest = await store.digest();
    const stateHash = store.checkpoint?.stateHash ?? '';
    await store.close();
    return { stateHash, digest };
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.writer.stop();
    await this.#taker?.stop();
    await this.node.stop();
  }

  /** Stops, then opens the same directory. */
  async restarted(options: Partial<FoldWorldOptions> = this.options): Promise<FoldWorld> {
    await this.stop();
    return FoldWorld.open(this.#scope, this.directory, options, this.seq + 2);
  }

  /** A world over the bytes that are on the disk now; this one ends without a say. */
  async crashed(options: Partial<FoldWorldOptions> = this.options): Promise<FoldWorld> {
    const directory = await this.image();
    await this.stop();
    return FoldWorld.open(this.#scope, directory, options, this.seq + 3);
  }

  /** A copy of the files as they are on the disk, between two commits. */
  async image(): Promise<string> {
    await until('no commit is under way', () => !this.fold.store.committing);
    images += 1;
    const directory = `${this.directory.replace(/-image\d+$/, '')}-image${images}`;
    cpSync(this.directory, directory, {
      recursive: true,
      filter: (path) => !path.endsWith('-shm') && !path.includes('compared.sqlite'),
    });
    return directory;
  }
}

function silence(): Said {
  return {
    quarantined: [],
    foldFailures: [],
    commitFailures: [],
    appendFailures: [],
    epochs: [],
    unreadable: [],
    rejected: [],
    sumsOutdated: [],
    repairs: [],
    snapshots: [],
    loaded: [],
    unusable: [],
    snapshotFailures: [],
    tags: new Set(),
    epochChanges: 0,
  };
}

function snapshotsOf(directory: string, { unusable }: Said): DirectorySnapshots {
  return new DirectorySnapshots(directory, {
    snapshotUnusable: (name, reason) => unusable.push(`${name}: ${reason}`),
  });
}

function taking(snapshots: SnapshotStore, log: LocalLog, { loaded, unusable }: Said) {
  const observer = {
    snapshotLoaded: (_what: string, seq: number) => loaded.push(seq),
    snapshotUnusable: (name: string, reason: string) => unusable.push(`${name}: ${reason}`),
  };
  return (path: string, upTo: number, after = 0) =>
    loadSnapshot(path, { upTo, after }, snapshots, log, observer);
}

function takerOf(
  deps: TakerDeps,
  { snapshotEvery }: FoldWorldOptions,
  { snapshots, snapshotFailures }: Said,
): SnapshotTaker | null {
  if (snapshotEvery === null) return null;
  return new SnapshotTaker(
    deps,
    { every: snapshotEvery, trims: true, retryMs: 20, rests: 0 },
    {
      snapshotTaken: (seq) => snapshots.push(seq),
      snapshotFailed(error, isRepeated) {
        if (!isRepeated) snapshotFailures.push(error);
      },
    },
  );
}

function foldOptions(options: FoldWorldOptions, said: Said): RebuildOptions {
  const quarantined = (pool: string) => said.quarantined.push(pool);
  return { ...options, clock: systemClock, quarantined };
}
