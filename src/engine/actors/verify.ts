/** Is the state what the log says it is? Rebuilds it beside the one on disk and compares. */
import type { Log } from '../log/port.ts';
import { TABLES } from '../store/rows.ts';
import { StateStore } from '../store/state.ts';
import { type DataFiles, removeDatabase } from './files.ts';
import { type RebuildOptions, rebuildState } from './rebuild.ts';

export interface Verification {
  readonly seq: number;
  readonly stateHash: string;
  readonly rebuiltHash: string;
  /** Tables whose rows differ. */
  readonly differing: readonly string[];
}

/** null: there is nothing to verify yet. The node must not be running. */
export async function verifyState(
  log: Log,
  files: DataFiles,
  options: RebuildOptions,
): Promise<Verification | null> {
  const store = new StateStore(files.state, { ...options, writer: 'inline' });
  const checkpoint = store.checkpoint;
  if (checkpoint === null) {
    await store.close();
    return null;
  }
  const rebuilt = await rebuildState(files.rebuild, checkpoint.seq, log, files, options);
  const expected = await rebuilt.digest();
  const found = await store.digest();
  const differing = TABLES.filter((table) => found[table] !== expected[table]);
  const rebuiltHash = rebuilt.checkpoint?.stateHash ?? '';
  await rebuilt.close();
  await store.close();
  removeDatabase(files.rebuild);
  return { seq: checkpoint.seq, stateHash: checkpoint.stateHash, rebuiltHash, differing };
}
