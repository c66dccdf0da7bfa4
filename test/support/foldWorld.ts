/**
 * A node without its gateway: real log, state, fold and ingest over a directory. `crashed` opens
 * what a kill -9 would have left on the disk.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type DataFiles, dataFiles } from '../../src/actors/files.ts';
import { Node, type NodeOptions } from '../../src/actors/node.ts';
import { type RebuildOptions, rebuildState } from '../../src/actors/rebuild.ts';
import { recover } from '../../src/actors/recovery.ts';
import { Replay, type ReplayCounts } from '../../src/ingest/replay.ts';
import type { SealedEntry } from '../../src/log/entry.ts';
import { LocalLog } from '../../src/log/local.ts';
import { LogWriter } from '../../src/log/writer.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { type Rng, seededRng } from '../../src/runtime/rng.ts';
import type { TableName } from '../../src/store/rows.ts';
import { until } from './until.ts';

export interface FoldWorldOptions extends NodeOptions {
  readonly logMaxMb: number;
  readonly latenessMs: number;
}

export const NEVER_MS = 1_000_000_000;

export const USUAL: FoldWorldOptions = {
  horizonBlocks: 2160,
  maxMb: 0,
  logMaxMb: 0,
  maxLoadedPools: 100,
  commitEveryMs: NEVER_MS,
  latenessMs: 60_000,
};

/** What the node said, by event. */
export interface Said {
  readonly quarantined: string[];
  readonly foldFailures: unknown[];
  readonly commitFailures: unknown[];
  readonly appendFailures: unknown[];
  readonly epochs: string[];
  readonly unreadable: unknown[];
  readonly rejected: string[];
  /** Tags given to the hub since they were last cleared. */
  readonly tags: Set<string>;
  epochChanges: number;
}

export interface Rebuilt {
  readonly stateHash: string;
  readonly digest: Record<TableName, string>;
}

let worlds = 0;

export class FoldWorld {
  readonly directory: string;
  readonly options: FoldWorldOptions;
  readonly files: DataFiles;
  readonly said: Said = {
    quarantined: [],
    foldFailures: [],
    commitFailures: [],
    appendFailures: [],
    epochs: [],
    unreadable: [],
    rejected: [],
    tags: new Set(),
    epochChanges: 0,
  };
  readonly log: LocalLog;
  readonly node: Node;
  readonly writer: LogWriter;
  readonly #clock: Clock;
  readonly #rng: Rng;
  #stopped = false;

  static async open(directory: string, options: Partial<FoldWorldOptions> = {}, seed = 1) {
    const all = { ...USUAL, ...options };
    const files = dataFiles(directory);
    const log = new LocalLog(files.log, systemClock, all.logMaxMb);
    const world = new FoldWorld(directory, all, log, seed);
    await world.#start();
    return world;
  }

  private constructor(directory: string, options: FoldWorldOptions, log: LocalLog, seed: number) {
    this.directory = directory;
    this.options = options;
    this.files = dataFiles(directory);
    this.log = log;
    this.#clock = systemClock;
    this.#rng = seededRng(seed);
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

  replay(latenessMs = this.options.latenessMs, feed: string | null = null): Replay {
    const place = { node: this.node, log: this.log, writer: this.writer, rng: this.#rng };
    const observer = {
      lineRejected: (line: number, reason: string) => this.said.rejected.push(`${line}: ${reason}`),
      replayProgress: (_counts: ReplayCounts) => {},
      replayFinished: (_counts: ReplayCounts) => {},
    };
    return new Replay(place, this.#clock, observer, { feed, speed: null, latenessMs });
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
    const store = await rebuildState(file, this.seq, this.log, this.files, this.#rebuildOptions());
    const digest = await store.digest();
    const stateHash = store.checkpoint?.stateHash ?? '';
    await store.close();
    return { stateHash, digest };
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.writer.stop();
    await this.node.stop();
  }

  /** Stops, then opens the same directory. */
  async restarted(options: Partial<FoldWorldOptions> = this.options): Promise<FoldWorld> {
    await this.stop();
    return FoldWorld.open(this.directory, options, this.seq + 2);
  }

  /** A world over the bytes that are on the disk now; this one ends without a say. */
  async crashed(options: Partial<FoldWorldOptions> = this.options): Promise<FoldWorld> {
    const directory = await this.image();
    await this.stop();
    return FoldWorld.open(directory, options, this.seq + 3);
  }

  /** A copy of the files as they are on the disk, between two commits. */
  async image(): Promise<string> {
    await until('no commit is under way', () => !this.fold.store.committing);
    worlds += 1;
    const directory = `${this.directory.replace(/-image\d+$/, '')}-image${worlds}`;
    cpSync(this.directory, directory, {
      recursive: true,
      filter: (path) => !path.endsWith('-shm') && !path.includes('compared.sqlite'),
    });
    return directory;
  }

  async #start(): Promise<void> {
    const { said, files, log } = this;
    const store = await recover(log, files, this.#rebuildOptions());
    const tail = await log.last();
    const node = new Node(store, tail.seq, log, files, this.#clock, this.options, {
      batchApplied: () => {},
      committed: () => {},
      commitFailed: (error) => said.commitFailures.push(error),
      actorQuarantined: (pool) => said.quarantined.push(pool),
      foldFailed: (error) => said.foldFailures.push(error),
    });
    const observer = { appendFailed: (error: unknown) => said.appendFailures.push(error) };
    Object.assign(this, { node, writer: new LogWriter(log, tail, 1, this.#clock, observer) });
    node.start({
      applied: (tags) => {
        for (const tag of tags) said.tags.add(tag);
      },
      epochChanged: () => {
        said.epochChanges += 1;
      },
    });
    await node.reached(tail.seq);
  }

  #rebuildOptions() {
    const { said, options } = this;
    return {
      ...options,
      clock: this.#clock,
      rng: this.#rng,
      quarantined: (pool: string) => said.quarantined.push(pool),
      epochStarted: (epoch: string, reason: string) => said.epochs.push(`${epoch} ${reason}`),
      stateUnreadable: (error: unknown) => said.unreadable.push(error),
    } satisfies RebuildOptions & object;
  }
}
