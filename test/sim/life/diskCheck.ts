/**
 * Checks the disks of nodes that have stopped: every page has its sum, and nodes whose states end
 * with one entry have the same rows, and orders stand in the lists that lead to them. A state hash
 * follows from the entries alone, so a row that was lost on the way to the disk does not show in
 * it; and all nodes make the same mistake at a rollback.
 */
import { dataFiles } from '../../../src/engine/recovery/dataFiles.ts';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { checkPages } from '../../../src/engine/store/pageChecksums.ts';
import { TABLES } from '../../../src/engine/store/rows.ts';
import { digestTables } from '../../../src/engine/store/schema.ts';
import { StateStore } from '../../../src/engine/store/state.ts';
import { inlineWriter } from '../../../src/engine/store/stateWriter.ts';
import type { LifeNode } from './ports.ts';

interface Stopped {
  readonly name: string;
  readonly file: string;
  /** Position of the last entry. */
  readonly position: string;
  /** Rows that no longer change are kept from here on. */
  readonly horizonSeq: number;
}

/** null: the disks are right. `nodes` do not run. */
export async function wrongOnDisks(nodes: readonly LifeNode[]): Promise<string | null> {
  const stopped: Stopped[] = [];
  for (const { name, directory } of nodes) {
    const file = dataFiles(directory).state;
    const pages = await checkPages(file);
    if (isFault(pages)) return `${name}: ${pages.message}`;
    const store = new StateStore(file, { horizonBlocks: 1, maxMb: 0, writer: inlineWriter });
    const { checkpoint, horizonSeq } = store;
    await store.close();
    if (checkpoint === null) continue;
    const position = `${checkpoint.epoch}:${checkpoint.seq} ${checkpoint.entryHash}`;
    const alone = ordersAlone(file);
    if (alone.length > 0) return `${name}: no list leads to ${alone.join(', ')}`;
    stopped.push({ name, file, position, horizonSeq });
  }
  const [first] = stopped;
  if (first === undefined) return null;
  const alike = stopped.filter(({ position }) => position === first.position);
  const horizonSeq = Math.max(...alike.map((one) => one.horizonSeq));
  const expected = digestsOf(first.file, horizonSeq);
  for (const { name, file } of alike) {
    const found = digestsOf(file, horizonSeq);
    const differing = TABLES.filter((table) => found[table] !== expected[table]);
    if (differing.length === 0) continue;
    const where = differing.join(', ');
    return `at ${first.position} the rows of ${name} and ${first.name} differ in ${where}`;
  }
  return null;
}

/** An order that is open stands in the list of those, and each one in the list of its token. */
const ORDERS_ALONE = `
  SELECT key FROM orders WHERE value ->> 'state' = 'open' AND key NOT IN
    (SELECT value FROM open_orders)
  UNION SELECT key FROM orders WHERE key NOT IN (SELECT value FROM order_index)
  UNION SELECT value FROM open_orders WHERE value NOT IN
    (SELECT key FROM orders WHERE value ->> 'state' = 'open')`;

/** Orders that only their reference finds, such as rows that a rollback left behind. */
function ordersAlone(file: string): string[] {
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
  try {
    return database.prepare<[], string>(ORDERS_ALONE).pluck().all();
  } finally {
    database.close();
  }
}

function digestsOf(file: string, horizonSeq: number) {
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
  try {
    return digestTables(database, horizonSeq);
  } finally {
    database.close();
  }
}
