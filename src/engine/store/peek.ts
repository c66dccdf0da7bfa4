/** The checkpoint of a state file that no process has open, read without changing the file. */
import { existsSync, rmSync } from 'node:fs';
import { readOnlyDatabase } from './database.ts';
import type { Checkpoint } from './state.ts';

/** null: there is no file, nothing in it, or it cannot be read. */
export function peekCheckpoint(file: string): Checkpoint | null {
  if (!existsSync(file)) return null;
  const hadLog = existsSync(`${file}-wal`);
  try {
    const database = readOnlyDatabase(file);
    try {
      const query = database.prepare<[], { text: string }>('SELECT text FROM checkpoint');
      const row = query.get();
      // trust: our own checkpoint row
      return row === undefined ? null : (JSON.parse(row.text) as Checkpoint);
    } finally {
      database.close();
    }
  } catch {
    // It cannot be opened or read: the start finds out why and says so.
    return null;
  } finally {
    // SQLite leaves these files after a reader, and they are empty.
    if (!hadLog) for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  }
}
