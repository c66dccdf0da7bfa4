/**
 * Trust data of a token: the fields in a pool's row, and the rules for them.
 * Source: api.md, section 10.2.
 */
import type { PoolFacts } from './poolView.ts';
import { percentOf } from './profit.ts';

/** Blocks after the launch block in which a placed buy makes a sniper. Nodes must agree. */
const SNIPED_BLOCKS = 3;
/** Largest holdings that are kept. */
export const TOP_HOLDERS = 10;

/** A group of payment keys, and the tokens that they hold now. */
export interface HolderGroup {
  readonly keys: number;
  readonly tokens: string;
}

/** Tokens as integer strings. Kept by `fold/trustRows`. */
export interface TrustFacts {
  /** Payment keys, and addresses without one, that hold tokens. */
  readonly holders: number;
  /** The largest holdings, at most ten, the largest first. */
  readonly top: readonly string[];
  readonly author: string;
  /** In vesting locks. */
  readonly locked: string;
  readonly bundlers: HolderGroup;
  readonly snipers: HolderGroup;
  readonly insiders: HolderGroup;
}

const EMPTY: HolderGroup = { keys: 0, tokens: '0' };
export const NO_HOLDERS: TrustFacts = {
  holders: 0,
  top: [],
  author: '0',
  locked: '0',
  bundlers: EMPTY,
  snipers: EMPTY,
  insiders: EMPTY,
};

/** The mark that a buy gives its key once it is filled. */
export type EarlyBuy = 'bundler' | 'sniper';

/** By the heights of the launch and of the buy's placement; null: it came later. */
export function earlyBuyOf(launchHeight: number, placedHeight: number): EarlyBuy | null {
  if (placedHeight <= launchHeight) return 'bundler';
  return placedHeight <= launchHeight + SNIPED_BLOCKS ? 'sniper' : null;
}

type Outside = Pick<PoolFacts, 'supply' | 'reserves'>;

/** Share of the supply outside the pool's output, in percent with 2 decimals, half even. */
export function shareOutside({ supply, reserves }: Outside, tokens: bigint): string {
  const outside = BigInt(supply) - BigInt(reserves.y);
  return outside === 0n ? '0.00' : percentOf(tokens, outside);
}

export function topTokens({ top }: Pick<TrustFacts, 'top'>): bigint {
  return top.reduce((sum, tokens) => sum + BigInt(tokens), 0n);
}
