/**
 * Checks that the state equals a replay of the log, and that the log is undamaged. Checks checksums
 * and every entry, then makes the state again beside the one on disk and compares. A trimmed log
 * shows only the entries after a snapshot: the result says so.
 */

import { existsSync } from 'node:fs';
import type { LocalLog } from '../log/local.ts';
import { damagedEntry } from '../log/localOpen.ts';
import { LOG_REMEDY } from '../log/port.ts';
import { Fault, isFault } from '../runtime/assert.ts';
import { messageOf } from '../runtime/errors.ts';
import { checkPages } from '../store/pageChecksums.ts';
import { TABLES } from '../store/rows.ts';
import { StateStore } from '../store/state.ts';
import { inlineWriter } from '../store/stateWriter.ts';
import { type DataFiles, removeDatabase } from './dataFiles.ts';
import { type RebuildOptions, rebuildState } from './rebuild.ts';

export interface Verification {
  readonly seq: number;
  readonly stateHash: string;
  readonly rebuiltHash: string;
  /** Tables whose rows differ. */
  readonly differing: readonly string[];
  /** Where the log has lost its beginning: its first entry, and the entry of the snapshot used. */
  readonly trimmed: { readonly first: number; readonly snapshot: number } | null;
}

export const STATE_REMEDY =
  'remove it and start again: it is made again from log.sqlite and the snapshots';

/**
 * null: there is nothing to verify yet. The node must not be running. Rejects with `damagedFile`,
 * whose message names the file and what to do.
 */
export async function verifyState(
  log: LocalLog,
  files: DataFiles,
  options: RebuildOptions,
): Promise<Verification | null> {
  const where = await damagedEntry(log, options.clock, options.signal);
  if (where !== null)
    throw new Fault('damagedFile', `${files.log} is damaged: ${where}: ${LOG_REMEDY}`);
  if (!existsSync(files.state)) {
    const { seq } = await log.last();
    if (seq === 0) return null;
    throw new Fault(
      'damagedFile',
      `${files.state} is missing: start again, it is made from log.sqlite`,
    );
  }
  const pages = await checkPages(files.state, options.signal);
  if (isFault(pages, 'damagedFile'))
    throw new Fault('damagedFile', `${pages.message}: ${STATE_REMEDY}`);
  return compare(log, files, options);
}

async function compare(
  log: LocalLog,
  files: DataFiles,
  options: RebuildOptions,
): Promise<Verification | null> {
  const store = openState(files, options);
  const checkpoint = store.checkpoint;
  if (checkpoint === null) {
    await store.close();
    return null;
  }
  try {
    let snapshot: number | null = null;
    const takeSnapshot: RebuildOptions['takeSnapshot'] = async (...wanted) => {
      snapshot = (await options.takeSnapshot?.(...wanted)) ?? null;
      return snapshot;
    };
    const making = { ...options, takeSnapshot };
    const rebuilt = await rebuildState(files.rebuild, checkpoint.seq, log, files, making);
    const expected = await rebuilt.digest();
    const rebuiltHash = rebuilt.checkpoint?.stateHash ?? '';
    await rebuilt.close();
    const found = await store.digest().catch((error: unknown) => {
      throw unreadable(files, error);
    });
    const differing = TABLES.filter((table) => found[table] !== expected[table]);
    const trimmed = snapshot === null ? null : { first: await log.first(), snapshot };
    const { seq, stateHash } = checkpoint;
    return { seq, stateHash, rebuiltHash, differing, trimmed };
  } finally {
    await store.close();
    removeDatabase(files.rebuild);
  }
}

function openState(files: DataFiles, options: RebuildOptions): StateStore {
  try {
    return new StateStore(files.state, { ...options, writer: inlineWriter });
  } catch (error) {
    throw unreadable(files, error);
  }
}

function unreadable({ state }: DataFiles, error: unknown): Fault {
  const why = messageOf(error);
  return new Fault('damagedFile', `${state} cannot be read (${why}): ${STATE_REMEDY}`);
}
