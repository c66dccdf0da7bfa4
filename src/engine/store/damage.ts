/** Damage: a file of DATA_DIR does not hold what this program wrote there. */
import { isFault } from '../runtime/assert.ts';

const SQLITE_DAMAGE = /^SQLITE_(CORRUPT|NOTADB|IOERR_(READ|SHORT_READ|CORRUPTFS))/;

/**
 * True for what only damage causes: SQLite finds its own structure broken, or a stored value cannot
 * be parsed. Requests never lead to a `SyntaxError`: they are checked before a handler runs.
 */
export function isDamage(error: unknown): boolean {
  if (isFault(error, 'damagedFile') || error instanceof SyntaxError) return true;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return SQLITE_DAMAGE.test(code);
}
