/**
 * More bars than one answer has, page by page from the newest on. Each page is at least as new as
 * the one before it, so a subscription from the first one's position misses no change of any.
 */
import type { CallOptions, HistoryAnswer } from './answer.ts';

/** Rows of one answer, at most. */
const PAGE_ROWS = 5_000;

/** `limit` absent: all of the span. `nextTo`: where older ones were cut. Throws `ApiError`. */
export async function longHistory<Row, Query extends { readonly to: number }>(
  ask: (
    query: Query & { readonly limit: number },
    options?: CallOptions,
  ) => Promise<HistoryAnswer<readonly Row[]>>,
  query: Query,
  limit = Number.POSITIVE_INFINITY,
): Promise<HistoryAnswer<readonly Row[]>> {
  const first = await ask({ ...query, limit: Math.min(limit, PAGE_ROWS) });
  let { data, position, nextTo } = first;
  while (nextTo !== null && data.length < limit) {
    const rest = { ...query, to: nextTo, limit: Math.min(limit - data.length, PAGE_ROWS) };
    const page = await ask(rest, position === null ? {} : { minPosition: position });
    data = [...page.data, ...data];
    ({ position, nextTo } = page);
  }
  return { ...first, data, nextTo };
}
