/**
 * The state from the log alone: a damaged state file, a rollback beyond the horizon and `verify`
 * all need it. Folds 512 entries a turn, so that a serving node still answers, if slower.
 */
import { existsSync } from 'node:fs';
import { Fold, type FoldOptions } from '../fold/fold.ts';
import { LOG_REMEDY, type Log } from '../log/port.ts';
import { Fault, isFault } from '../runtime/assert.ts';
import { type Clock, nextTurn } from '../runtime/clock.ts';
import { checkPages } from '../store/pageChecksums.ts';
import { type StateOptions, StateStore } from '../store/state.ts';
import { inlineWriter } from '../store/stateWriter.ts';
import { copyDatabase, type DataFiles, removeDatabase, useRebuilt } from './dataFiles.ts';

export interface RebuildOptions extends FoldOptions, Omit<StateOptions, 'writer'> {
  readonly clock: Clock;
  /** Stops a rebuild between two slices, with `interrupted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called as entries are folded: how many of all. */
  readonly folded?: (done: number, all: number) => void;
  /**
   * Needed where the log begins in the middle of an epoch. Writes a snapshot after entry `after`
   * and at or before entry `upTo` into `file`. Resolves with its seq; null: there is none.
   */
  takeSnapshot?(file: string, upTo: number, after?: number): Promise<number | null>;
}

interface RebuildSource {
  /** Epoch whose snapshot the log begins from; null: from nothing, or in the middle of one. */
  readonly baseEpoch: string | null;
  /** A snapshot of the first range is needed: the log no longer has the entries before it. */
  readonly isTrimmed?: boolean;
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
}

const READ = 512;
const COMMIT_ROWS = 5_000;

/**
 * Loads a snapshot into a new state file, where one is needed, and folds the log up to entry
 * `toSeq`, that one included. The caller closes the store.
 */
export async function rebuildState(
  file: string,
  toSeq: number,
  log: Log,
  files: DataFiles,
  options: RebuildOptions,
): Promise<StateStore> {
  return makeState(file, await rebuildSource(log, toSeq), log, files, options);
}

async function makeState(
  file: string,
  source: RebuildSource,
  log: Log,
  files: DataFiles,
  options: RebuildOptions,
): Promise<StateStore> {
  removeDatabase(file);
  if (source.baseEpoch !== null) await copyBase(files.base(source.baseEpoch), file, options);
  const ranges =
    source.isTrimmed === true ? await fromSnapshot(file, source, options) : source.ranges;
  const store = new StateStore(file, { ...options, writer: inlineWriter });
  try {
    await foldRanges(ranges, new Fold(store, options), log, options);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Checks a snapshot first: a damaged one would silently produce a wrong state. */
async function copyBase(base: string, file: string, { signal }: RebuildOptions): Promise<void> {
  if (!existsSync(base)) throw new Fault('damagedFile', `${base} is missing: ${BASE_REMEDY}`);
  const found = await checkPages(base, signal);
  if (isFault(found, 'damagedFile'))
    throw new Fault('damagedFile', `${found.message}: ${BASE_REMEDY}`);
  copyDatabase(base, file);
}

const BASE_REMEDY =
  'log.sqlite begins from it, so the state cannot be made again: restore DATA_DIR from a backup; ' +
  'a chain is followed again from its start once log.sqlite* and state.sqlite* are removed';

/** The ranges to fold onto the snapshot that is then in the file: the newest of any range. */
async function fromSnapshot(
  file: string,
  { ranges }: RebuildSource,
  options: RebuildOptions,
): Promise<RebuildSource['ranges']> {
  for (const [index, { from, to }] of [...ranges.entries()].reverse()) {
    // Snapshots of later ranges do not contain the entries before the first range.
    const after = index === 0 ? 0 : from - 1;
    const seq = (await options.takeSnapshot?.(file, to, after)) ?? null;
    if (seq !== null) return [{ from: seq + 1, to }, ...ranges.slice(index + 1)];
  }
  throw new Fault(
    'logGone',
    `the log begins with entry ${ranges[0]?.from ?? 0}, and no usable snapshot leads up to it: ` +
      'restore DATA_DIR from a backup. Without one, or after an upgrade that changed the state, ' +
      'a single node follows its chain, or replays its feeds, from the start once log.sqlite*, ' +
      'state.sqlite* and snapshots/ are removed; a node among several needs state.sqlite removed ' +
      'alone, once a leader of its version has taken a snapshot (where none can lead: ' +
      'docs/upgrade.md, Several nodes)',
  );
}

/** Folds the log's entries after the checkpoint of `store`, up to entry `toSeq`. */
export async function foldRemaining(
  store: StateStore,
  toSeq: number,
  log: Log,
  options: RebuildOptions,
): Promise<void> {
  const from = (store.checkpoint?.seq ?? 0) + 1;
  await foldRanges([{ from, to: toSeq }], new Fold(store, options), log, options);
}

async function foldRanges(
  ranges: RebuildSource['ranges'],
  fold: Fold,
  log: Log,
  { clock, signal, folded }: RebuildOptions,
): Promise<void> {
  const { store } = fold;
  const all = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  let done = 0;
  for (const { from, to } of ranges) {
    for (let next = from; next <= to; ) {
      const entries = await log.read(next, Math.min(READ, to - next + 1));
      if (entries.length === 0)
        throw new Fault('logGone', `entry ${next} is not in the log any more`);
      for (const sealed of entries) {
        const { payload, seq } = sealed.entry;
        // `planRebuild` lets each range begin with the epoch it is of.
        if (payload.kind === 'epoch' && seq !== from) {
          throw new Fault(
            'damagedFile',
            `the log does not list entry ${seq} among its epochs: ${LOG_REMEDY}`,
          );
        }
        // A rollback reads committed rows.
        if (payload.kind === 'rollback') await store.commit();
        fold.apply(sealed, new Set());
      }
      next += entries.length;
      done += entries.length;
      folded?.(done, all);
      if (store.pendingRows > COMMIT_ROWS) await store.commit();
      await nextTurn(clock);
      if (signal?.aborted === true)
        throw new Fault('interrupted', 'stopped while the state was rebuilt');
    }
  }
  await store.commit();
}

/**
 * Puts a state in the place of the state file, which `release` gives up just before: that of entry
 * `at`, or the one that epoch `at` begins from. Pools that could not be folded are marked as
 * damaged; resolves with their names.
 */
export async function replaceState(
  at: number | { readonly epoch: string },
  log: Log,
  files: DataFiles,
  options: RebuildOptions,
  release: () => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const broken = new Map<string, unknown>();
  const quarantined = (pair: string, error: unknown) => {
    broken.set(pair, error);
    options.quarantined(pair, error);
  };
  const source =
    typeof at === 'number' ? await rebuildSource(log, at) : { baseEpoch: at.epoch, ranges: [] };
  const making = { ...options, quarantined };
  const rebuilt = await makeState(files.rebuild, source, log, files, making);
  await rebuilt.close();
  await release();
  useRebuilt(files, broken);
  return [...broken.keys()];
}

/**
 * Epoch entries with a base leave out entries that were undone before them: follow them backwards.
 */
async function rebuildSource(log: Log, toSeq: number): Promise<RebuildSource> {
  const first = await log.first();
  const epochs = (await log.epochs()).toReversed();
  const ranges: { from: number; to: number }[] = [];
  for (let to = toSeq; ; ) {
    const from = epochs.find((seq) => seq <= to);
    if (from === undefined) {
      return { baseEpoch: null, isTrimmed: true, ranges: [{ from: first, to }, ...ranges] };
    }
    ranges.unshift({ from, to });
    const [sealed] = await log.read(from, 1);
    const payload = sealed?.entry.payload;
    if (sealed === undefined || payload?.kind !== 'epoch') {
      throw new Fault('logGone', `entry ${from} started an epoch and is not in the log any more`);
    }
    if (payload.base === undefined) return { baseEpoch: null, ranges };
    if (from === first && payload.reason === 'log lost') {
      return { baseEpoch: sealed.entry.epoch, ranges };
    }
    if (from === first) return { baseEpoch: null, isTrimmed: true, ranges };
    to = payload.base.seq;
  }
}
