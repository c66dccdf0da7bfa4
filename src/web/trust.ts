/**
 * Shares that are a reason for caution, in percent of the supply outside the pool (protocol.md
 * section 10.2): above these, few people can move the price.
 */
import type { Ticker } from '../client/types.ts';

/** Shares of which a ticker has the percent, in the order in which they are shown. */
export const SHARES = ['author', 'snipers', 'top10'] as const;
export type Share = (typeof SHARES)[number];

/** Above these. */
export const LARGE = {
  top10: 50,
  largest: 10,
  author: 10,
  bundlers: 5,
  snipers: 10,
  insiders: 5,
} as const;

export interface Caution {
  readonly share: Share;
  /** As the server writes it. */
  readonly percent: string;
}

/** Warnings for large shares; a share that is not known is none. Floating point only compares. */
export function cautionsOf(
  ticker: Pick<Ticker, 'authorPercent' | 'snipersPercent' | 'top10Percent'>,
): readonly Caution[] {
  return SHARES.flatMap((share) => {
    const percent = ticker[`${share}Percent`];
    return percent !== null && Number(percent) > LARGE[share] ? [{ share, percent }] : [];
  });
}
