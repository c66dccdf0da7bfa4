/**
 * Brings log and state together before the node serves.
 *
 * The log is the truth. A state behind it folds on; a state that is missing or damaged is made
 * again from the newest usable snapshot, or else from the log's beginning; a state that is ahead of
 * the log (the log was lost or shortened) opens a new epoch from its position, so that clients
 * receive a Resync.
 *
 * Never: replaces a state or a log by another market's; it throws `otherMarket` instead.
 */
import { existsSync } from 'node:fs';
import type { MarketRecord } from '../fold/marketRecord.ts';
import {
  ENTRY_VERSION,
  type EpochBase,
  NO_HASH,
  type SealedEntry,
  sealEntry,
} from '../log/entry.ts';
import type { Log, Tail } from '../log/port.ts';
import type { Pair } from '../market/pair.ts';
import { assert, Fault, isFault } from '../runtime/assert.ts';
import { epochNumber } from '../runtime/position.ts';
import type { Rng } from '../runtime/rng.ts';
import { checkPages } from '../store/pageChecksums.ts';
import { peekCheckpoint } from '../store/peek.ts';
import { readRecord } from '../store/records.ts';
import { type Checkpoint, StateStore } from '../store/state.ts';
import { type OpenWriter, threadWriter } from '../store/stateWriter.ts';
import {
  type DataFiles,
  isDamaged,
  removeBasesExcept,
  removeDatabase,
  useRebuilt,
} from './dataFiles.ts';
import { type RebuildOptions, replaceState } from './rebuild.ts';
import { checkSameMarket } from './sameMarket.ts';

export interface RecoveryOptions extends RebuildOptions, RestartOptions {
  /** Absent: a thread. */
  readonly stateWriter?: OpenWriter | undefined;
  /** How messages name the log; absent: the file of a single node. */
  readonly logName?: string;
  /** Set for a node among several. */
  readonly shared?: {
    /** Whether the log may restart from this node's state, which the log does not hold. */
    mayRestart?(checkpoint: Checkpoint): Promise<boolean>;
    /** Puts the snapshot that an epoch begins from into its file; false: not `isWanted` before. */
    fetchBase(epoch: string, isWanted: () => Promise<boolean>): Promise<boolean>;
  };
  stateUnreadable(error: unknown): void;
}

export const FIRST_TERM = 1;

/** An epoch's name, later than `previous`. */
export function nextEpoch(previous: string | null, rng: Rng): string {
  return `${Math.max(0, previous === null ? 0 : epochNumber(previous)) + 1}-${rng.token(8)}`;
}

/** Returns the state store, its checkpoint in the log (or null before a first entry). */
export async function recover(
  log: Log,
  files: DataFiles,
  options: RecoveryOptions,
): Promise<StateStore> {
  const check = (checkpoint: Checkpoint | null) =>
    checkSameMarket(checkpoint, log, options.market, options.logName ?? 'log.sqlite');
  await check(peekCheckpoint(files.state));
  const tail = await log.last();
  const isUsable = existsSync(files.state) && (await isWhole(files, options));
  if ((isDamaged(files) || !isUsable) && tail.seq > 0) {
    return rebuildInPlace(tail, log, files, options);
  }
  const isNew = !existsSync(files.state);
  if (isNew) removeDatabase(files.state);
  const state = isNew || isUsable ? await openState(files, options) : null;
  if (state === null && tail.seq > 0) return rebuildInPlace(tail, log, files, options);
  if (state === null) throw noSource(files);
  const checkpoint = state.checkpoint;
  if (checkpoint === null) {
    if (tail.seq === 0) await closeOnError(state, startLog(log, options));
    if (tail.seq === 0 || (await log.first()) === 1) return state;
    await state.close();
    return rebuildInPlace(tail, log, files, options);
  }
  if (await isInLog(checkpoint, log)) return state;
  const logIsNewer = tail.epoch !== null && epochNumber(tail.epoch) > epochNumber(checkpoint.epoch);
  const hasMovedOn = () => hasLogMovedOn(checkpoint, tail, log, options);
  const isAhead = logIsNewer || (await closeOnError(state, hasMovedOn()));
  // Another node may have started the log meanwhile.
  await closeOnError(state, check(checkpoint));
  if (isAhead) {
    await state.close();
    return rebuildInPlace(tail, log, files, options);
  }
  await closeOnError(state, restartLog(checkpoint, state, log, files, options));
  return state;
}

/** False: the file differs from the written content; the reason was reported. */
async function isWhole(files: DataFiles, options: RecoveryOptions): Promise<boolean> {
  const found = await checkPages(files.state, options.signal);
  if (isFault(found, 'damagedFile')) options.stateUnreadable(found);
  return !isFault(found, 'damagedFile');
}

function noSource({ state, log }: DataFiles): Fault {
  return new Fault(
    'damagedFile',
    `${state} is damaged, and ${log}, from which it would be made again, is empty: restore ` +
      'DATA_DIR from a backup; a chain is followed again from its start once both are removed',
  );
}

async function closeOnError<T>(state: StateStore, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await state.close();
    throw error;
  }
}

/** The log continued without this state and is trimmed past it, or is the log of other nodes. */
async function hasLogMovedOn(
  checkpoint: Checkpoint,
  tail: Tail,
  log: Log,
  { shared }: RecoveryOptions,
): Promise<boolean> {
  const isPast = checkpoint.seq < (await log.first());
  if (isPast && tail.epoch === checkpoint.epoch) return true;
  if ((await shared?.mayRestart?.(checkpoint)) !== false) return false;
  if ((await log.last()).seq > 0) return true;
  throw new Fault('logRestartRefused', 'another node is to begin the log, and has not yet');
}

/** null: the file is corrupt or of another version; the log can make it again. */
async function openState(files: DataFiles, options: RecoveryOptions): Promise<StateStore | null> {
  let state: StateStore | null = null;
  try {
    state = new StateStore(files.state, {
      ...options,
      writer: options.stateWriter ?? threadWriter,
    });
    // Every start reads these rows whole; other damage shows where it is and costs one pool.
    for (const { value } of state.all('pairs')) readRecord<Pair>(value);
    return state;
  } catch (error) {
    await state?.close();
    options.stateUnreadable(error);
    return null;
  }
}

async function rebuildInPlace(
  tail: Tail,
  log: Log,
  files: DataFiles,
  options: RecoveryOptions,
): Promise<StateStore> {
  const taken = (await options.takeSnapshot?.(files.rebuild, tail.seq)) ?? null;
  if (taken === null) {
    if (options.shared !== undefined) await fetchFirstBase(log, options.shared);
    await replaceState(tail.seq, log, files, options);
  } else {
    // The node folds the rest of the log later, while it already reports its progress.
    useRebuilt(files, new Map());
  }
  return new StateStore(files.state, { ...options, writer: options.stateWriter ?? threadWriter });
}

async function fetchFirstBase(
  log: Log,
  { fetchBase }: NonNullable<RecoveryOptions['shared']>,
): Promise<void> {
  for (;;) {
    const epoch = await baseEpoch(log);
    // Another epoch may have started before the snapshot of this one was there.
    if (epoch === null) return;
    if (await fetchBase(epoch, async () => (await baseEpoch(log)) === epoch)) return;
  }
}

/** The epoch whose snapshot the log begins from. */
async function baseEpoch(log: Log): Promise<string | null> {
  const [first] = await log.read(await log.first(), 1);
  const payload = first?.entry.payload;
  return payload?.kind === 'epoch' && payload.base !== undefined
    ? (first?.entry.epoch ?? null)
    : null;
}

/** The log holds the entry of this checkpoint, or begins right behind it. */
export async function isInLog(checkpoint: Checkpoint, log: Log): Promise<boolean> {
  if (checkpoint.seq > (await log.last()).seq) return false;
  const [sealed] = await log.read(checkpoint.seq, 1);
  if (sealed !== undefined && sealed.entry.seq === checkpoint.seq) {
    return sealed.hash === checkpoint.entryHash;
  }
  // A log that was restarted from exactly this state begins after it.
  const [first] = await log.read(await log.first(), 1);
  const payload = first?.entry.payload;
  return (
    payload?.kind === 'epoch' &&
    first !== undefined &&
    first.entry.seq > checkpoint.seq &&
    payload.base?.stateHash !== undefined &&
    isAtBase(checkpoint, payload.base)
  );
}

/** Whether the state is the base of the epoch. */
export function isAtBase(checkpoint: Checkpoint, base: EpochBase): boolean {
  const { seq, stateHash, entryHash } = checkpoint;
  const { stateHash: baseState = stateHash, entryHash: baseEntry = entryHash } = base;
  return seq === base.seq && stateHash === baseState && entryHash === baseEntry;
}

async function startLog(log: Log, options: RecoveryOptions): Promise<void> {
  const epoch = nextEpoch(null, options.rng);
  const payload = { kind: 'epoch', reason: 'new' } as const;
  const unnamed = sealFirst(epoch, 1, FIRST_TERM, 0, payload);
  const market = options.market.identity(unnamed.hash);
  const named = market === null ? payload : { ...payload, market };
  await log.restart(sealFirst(epoch, 1, FIRST_TERM, 0, named));
  options.epochStarted(epoch, 'new');
}

interface RestartOptions {
  readonly rng: Rng;
  /** The market of the data directory. */
  readonly market: MarketRecord;
  /** Where several nodes share the log: then every node can get the snapshot. */
  publishBase?(epoch: string): Promise<void>;
  /** An epoch that another node had. */
  readonly laterThan?: string;
  epochStarted(epoch: string, reason: string): void;
}

/**
 * Keeps the state and starts a new epoch: the log restarts from a snapshot of the state. Resolves
 * with its first entry.
 */
export async function restartLog(
  checkpoint: Checkpoint,
  state: StateStore,
  log: Log,
  files: DataFiles,
  options: RestartOptions,
): Promise<SealedEntry> {
  const { laterThan = '', rng } = options;
  const number = epochNumber(laterThan);
  // No epoch has a number above its seqs: else a stranger has made it up.
  const isLater = number > epochNumber(checkpoint.epoch) && number <= checkpoint.seq;
  const epoch = nextEpoch(isLater ? laterThan : checkpoint.epoch, rng);
  await state.snapshotTo(files.base(epoch));
  await options.publishBase?.(epoch);
  const { seq, stateHash, entryHash, marketMs, term } = checkpoint;
  const market = checkpoint.market ?? options.market.identity(checkpoint.epoch);
  const payload = {
    kind: 'epoch',
    reason: 'log lost',
    base: { seq, stateHash, entryHash },
    ...(market === null ? {} : { market }),
  } as const;
  // After entries that other nodes may have written meanwhile.
  const firstSeq = (await log.beginsAt?.(seq + 1)) ?? seq + 1;
  const first = sealFirst(epoch, firstSeq, term, marketMs, payload);
  await log.restart(first);
  removeBasesExcept(files, epoch);
  options.epochStarted(epoch, 'log lost');
  return first;
}

/**
 * Begins an epoch at the end of the log of a single node. Its positions then differ from the
 * positions of another continuation of the same log, which clients have seen.
 */
export async function continueInNewEpoch(
  log: Log,
  { rng, market }: { readonly rng: Rng; readonly market: Pick<MarketRecord, 'known'> },
): Promise<void> {
  const { seq, hash, epoch } = await log.last();
  const [last] = await log.read(seq, 1);
  if (last === undefined) return;
  const { term, timeMs } = last.entry;
  const payload = {
    kind: 'epoch',
    reason: 'restored',
    base: { seq },
    ...(market.known === null ? {} : { market: market.known }),
  } as const;
  const first = sealFirst(nextEpoch(epoch, rng), seq + 1, term, timeMs, payload, hash);
  const { outcome } = await log.append(first, seq);
  assert(outcome === 'appended', 'no other process writes the log of a single node');
}

function sealFirst(
  epoch: string,
  seq: number,
  term: number,
  timeMs: number,
  payload: Parameters<typeof sealEntry>[0]['payload'],
  prevEntryHash = NO_HASH,
) {
  const version = ENTRY_VERSION;
  return sealEntry({
    version,
    epoch,
    seq,
    term,
    prevEntryHash,
    timeMs,
    payload,
  });
}
