/** How different people trade: each wallet keeps one style, chosen by its number. */

export interface Style {
  readonly name: 'small' | 'chaser' | 'taker' | 'holder' | 'bot';
  /** Factor on the configured size of a trade. */
  readonly size: number;
  /** Factor on the configured share of turns that sell. */
  readonly selling: number;
  /** How strongly the token that everybody talks about draws it, and how strongly a new one. */
  readonly chases: number;
  readonly news: number;
}

const SMALL: Style = { name: 'small', size: 0.35, selling: 0.7, chases: 2, news: 3 };
const CHASER: Style = { name: 'chaser', size: 1.6, selling: 0.6, chases: 14, news: 4 };
const TAKER: Style = { name: 'taker', size: 0.9, selling: 1.5, chases: 4, news: 8 };
const HOLDER: Style = { name: 'holder', size: 1.4, selling: 0.2, chases: 5, news: 2 };
const BOT: Style = { name: 'bot', size: 0.3, selling: 1.4, chases: 3, news: 12 };

/** Few wallets also have people of each kind: the order mixes them. */
const ORDER = [SMALL, CHASER, TAKER, SMALL, HOLDER, SMALL, CHASER, BOT, SMALL, TAKER];

export function styleOf(wallet: number): Style {
  return ORDER[wallet % ORDER.length] ?? SMALL;
}
