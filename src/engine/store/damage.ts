/** Damage: the content of a file in DATA_DIR differs from the content that this program wrote. */
import { isFault } from '../runtime/assert.ts';
import { systemCode } from '../runtime/errors.ts';

const SQLITE_DAMAGE = /^SQLITE_(CORRUPT|NOTADB|IOERR_(READ|SHORT_READ|CORRUPTFS))/;

/**
 * True for what only damage causes: SQLite finds its own structure broken, or a stored value cannot
 * be parsed. Requests never lead to a `SyntaxError`: they are checked before a handler runs.
 */
export function isDamage(error: unknown): boolean {
  if (isFault(error, 'damagedFile') || error instanceof SyntaxError) return true;
  const code = systemCode(error) ?? '';
  return SQLITE_DAMAGE.test(code);
}
