/**
 * Opens the log of a single node after checking its content. The node never repairs a log: it
 * rebuilds everything else from the log, so an operator decides.
 */

import { existsSync, rmSync } from 'node:fs';
import { Fault, isFault } from '../runtime/assert.ts';
import { type Clock, nextTurn } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import { isDamage } from '../store/damage.ts';
import {
  COMPANION_SUFFIXES,
  checkPages,
  keepLocked,
  walDamage,
  writeAllChecksums,
} from '../store/pageChecksums.ts';
import { LocalLog, type LocalLogOptions } from './local.ts';
import type { OpenLogFile } from './logOwner.ts';
import { LOG_REMEDY } from './port.ts';

interface OpenOptions extends Omit<LocalLogOptions, 'file'> {
  readonly signal?: AbortSignal | undefined;
  /** Checksums did not match, but every entry is as it was written. */
  sumsOutdated(reason: string): void;
  /** Absent: a thread. */
  readonly openFile?: OpenLogFile | undefined;
}

const READ = 512;

/** Rejects with `damagedFile` or `unreadableEntry`, which say what to do; or as `LocalLog` does. */
export async function openLocalLog(
  file: string,
  clock: Clock,
  { signal, sumsOutdated, openFile, ...options }: OpenOptions,
): Promise<LocalLog> {
  // An operator removed only the log: the files beside it belong to the removed log.
  if (!existsSync(file))
    for (const suffix of COMPANION_SUFFIXES) rmSync(`${file}${suffix}`, { force: true });
  // Before it is opened: SQLite removes the part of a write-ahead log that it cannot read.
  const cut = walDamage(file, { synced: true });
  if (cut !== null) throw new Fault('damagedFile', `${cut.message}: ${LOG_REMEDY}`);
  // Before its pages are checked: that keeps other processes away from the file.
  const log = await LocalLog.open({ file, ...options }, openFile).catch((error: unknown) => {
    // A file that was cut, or is none: SQLite says neither which one nor what to do.
    if (!isDamage(error)) throw error;
    throw new Fault('damagedFile', `${file} is damaged (${messageOf(error)}): ${LOG_REMEDY}`);
  });
  keepLocked(file);
  try {
    const found = await checkPages(file, signal);
    if (!isFault(found, 'damagedFile')) return log;
    const where = await damagedEntry(log, clock, signal);
    if (where !== null) throw new Fault('damagedFile', `${found.message}; ${where}: ${LOG_REMEDY}`);
    writeAllChecksums(file);
    sumsOutdated(found.message);
    return log;
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** Reads the whole log; null: all entries are there, and as they were written. */
export async function damagedEntry(
  log: LocalLog,
  clock: Clock,
  signal?: AbortSignal,
): Promise<string | null> {
  const { seq: end } = await log.last();
  let next = await log.first();
  let before = '';
  try {
    while (next <= end) {
      signal?.throwIfAborted();
      const entries = await log.read(next, READ);
      const [first] = entries;
      const isNext = before === '' || first?.entry.prevEntryHash === before;
      if (!isNext) return `entry ${next} does not continue the entry before it`;
      before = entries.at(-1)?.hash ?? before;
      next += entries.length;
      await nextTurn(clock);
    }
  } catch (error) {
    if (isFault(error, 'unreadableEntry')) return `entry ${next} is the first that cannot be read`;
    throw error;
  }
  const fault = await log.structureFault();
  return fault === null ? null : `its entries can be read, its index cannot: ${fault}`;
}
