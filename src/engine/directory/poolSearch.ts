/**
 * Search by name, ticker and asset id: a literal piece of text, without regard to case. Reads all
 * pools in the order of their market caps, so that nothing is sorted: 5,000 take about a
 * millisecond.
 */
import type { AssetId } from '../market/asset.ts';

/** The fields of a pool that the search reads, case folded; asset ids are in lower case. */
export interface SearchFields {
  readonly token: AssetId;
  readonly name: string;
  readonly ticker: string;
}

/** A part of an asset id can be nothing else. */
const OF_ASSET_ID = /^[0-9a-f.]*$/;

/**
 * Texts that are equal but for case become equal, in any locale. Equal letters in different Unicode
 * forms are equal too; a Greek sigma is one letter, wherever in the word it stands.
 */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ');
}

/**
 * First the pools that have a field equal to `text`, then those where a field begins with it, then
 * those where one contains it. `walk` visits all pools; each of the three keeps its order.
 */
export function searchPools<P extends SearchFields>(
  text: string,
  walk: (visit: (pool: P) => true) => void,
): P[] {
  const pattern = foldCase(text);
  const mayBeInIds = OF_ASSET_ID.test(pattern);
  const [equal, prefix, inside]: [P[], P[], P[]] = [[], [], []];
  walk((pool) => {
    const { name, ticker, token } = pool;
    const id = mayBeInIds ? token : '';
    if (!(name.includes(pattern) || ticker.includes(pattern) || id.includes(pattern))) return true;
    if (name === pattern || ticker === pattern || id === pattern) equal.push(pool);
    else if ([name, ticker, id].some((field) => field.startsWith(pattern))) prefix.push(pool);
    else inside.push(pool);
    return true;
  });
  return [...equal, ...prefix, ...inside];
}
