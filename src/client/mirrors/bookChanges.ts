/** An order book kept from changes (`OrderBook` with `mode: "changes"`), and its checksum. */
import { crc32 } from './crc32.ts';

interface Level {
  readonly price: string;
  readonly amount: string;
}

/** The part of a book, or of its changes, that its checksum covers. */
export interface KnownBook {
  /** Lowest price first. */
  readonly asks: readonly Level[];
  /** Highest price first. */
  readonly bids: readonly Level[];
}

const CHECKED_LEVELS = 10;

/**
 * The book after `changes`: a level replaces the level of its price, and amount `0` removes that
 * level.
 */
export function withBookChanges(book: KnownBook, changes: KnownBook): KnownBook {
  return { asks: merged(book.asks, changes.asks, 1), bids: merged(book.bids, changes.bids, -1) };
}

/** CRC-32 of `price:amount` of the best ten asks, then of the best ten bids; eight hex digits. */
export function bookChecksum({ asks, bids }: KnownBook): string {
  const best = [...asks.slice(0, CHECKED_LEVELS), ...bids.slice(0, CHECKED_LEVELS)];
  const text = best.map(({ price, amount }) => `${price}:${amount}`).join('|');
  return crc32(text).toString(16).padStart(8, '0');
}

function merged(known: readonly Level[], changed: readonly Level[], sign: 1 | -1): Level[] {
  const levels = new Map([...known, ...changed].map((level) => [level.price, level]));
  // Prices of one book have at most four digits: a float tells them apart.
  return [...levels.values()]
    .filter(({ amount }) => amount !== '0')
    .sort((one, other) => sign * (Number(one.price) - Number(other.price)));
}
