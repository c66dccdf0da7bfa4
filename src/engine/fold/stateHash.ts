/**
 * The state hash: over the hash before it, each row that an entry changed, as it is then, and each
 * trade that it counted. Nodes that applied the same entries have the same hash at one position.
 *
 * Bars are left out, because they follow from the counted trades and from market time; `--verify`
 * compares them with a rebuild.
 */
import { createHash, hash } from 'node:crypto';
import { type RowChange, textOf } from '../store/rows.ts';
import { type CountedTrades, contentCode } from '../store/tradeIds.ts';

/** A rollback's text would be tens of megabytes. */
const CHARACTERS_AT_ONCE = 16 * 1024;

/** `changes`: of keyed tables. An entry that changed nothing has the hash before it. */
export function stateHashAfter(
  previous: string,
  changes: readonly RowChange[],
  { pairs, trades }: CountedTrades,
): string {
  if (changes.length === 0 && trades.length === 0) return previous;
  const sum = changes.length > 0 ? createHash('sha256') : null;
  let text = `${previous}\n`;
  for (const { table, key, after } of changes) {
    text += `${table}\t${key}\t${after === null ? '' : textOf(after)}\n`;
    if (text.length < CHARACTERS_AT_ONCE) continue;
    sum?.update(text);
    text = '';
  }
  for (const [index, trade] of trades.entries()) {
    text += `${pairs[index] ?? 0}\t${trade.id}\t${contentCode(trade)}\n`;
  }
  // One call costs half as much, and a feed has an entry for each trade.
  return sum === null ? hash('sha256', text, 'hex') : sum.update(text).digest('hex');
}
