/**
 * The minutes of one pair, ascending. A pair may be traded in each of the 1,500 minutes that are
 * kept, so all but the newest are kept as text, which takes a quarter of the memory and loses
 * nothing.
 *
 * Cost: a minute that is looked at is parsed.
 */
import { assert } from '../runtime/assert.ts';
import type { Ratio } from './ratio.ts';
import type { Minute, MinuteSums } from './windows.ts';

/** The newest, which trades change. */
const PLAIN = 2;

const NONE = '-';
/** A price that the minute has already. */
const OPEN = 'o';
const CLOSE = 'c';
/** The close of the minute before: without a deposit nothing moves a pool between two trades. */
const BEFORE = 'b';

export class MinuteColumn {
  readonly #starts: number[] = [];
  readonly #kept: (Minute | string)[] = [];

  /** `minutes` ascend. */
  constructor(minutes: Iterable<Minute>) {
    for (const minute of minutes) this.insert(this.length, minute);
  }

  get length(): number {
    return this.#starts.length;
  }

  startAt(index: number): number | undefined {
    return this.#starts[index];
  }

  /** `at`, without its prices. */
  sumsAt(index: number): MinuteSums {
    const kept = this.#kept[index];
    assert(kept !== undefined, 'the minute is held');
    if (typeof kept !== 'string') return kept;
    const [, volume = '', trades = '', buys = ''] = kept.split(' ', 4);
    return sumsOf(volume, trades, buys);
  }

  at(index: number): Minute | undefined {
    const kept = this.#kept[index];
    return typeof kept === 'string' ? this.#parsed(index, kept) : kept;
  }

  /** Its price at the end; null: there is no such minute. */
  closeAt(index: number): Ratio | null {
    const kept = this.#kept[index];
    if (kept === undefined) return null;
    if (typeof kept !== 'string') return kept.close;
    return ratioOf(kept.slice(kept.lastIndexOf(' ') + 1));
  }

  replace(index: number, minute: Minute): void {
    this.#standAlone(index + 1);
    this.#kept[index] = minute;
    this.#pack(index);
  }

  insert(index: number, minute: Minute): void {
    this.#standAlone(index);
    this.#starts.splice(index, 0, minute.startMs);
    this.#kept.splice(index, 0, minute);
    this.#pack(index);
    this.#pack(this.length - PLAIN - 1);
  }

  dropFirst(count: number): void {
    this.#standAlone(count);
    this.#starts.splice(0, count);
    this.#kept.splice(0, count);
  }

  #pack(index: number): void {
    const kept = this.#kept[index];
    if (kept === undefined || typeof kept === 'string' || index >= this.length - PLAIN) return;
    this.#kept[index] = textOf(kept, this.closeAt(index - 1));
  }

  /** Before the minute before it becomes another. */
  #standAlone(index: number): void {
    const kept = this.#kept[index];
    if (typeof kept === 'string') this.#kept[index] = textOf(this.#parsed(index, kept), null);
  }

  #parsed(index: number, text: string): Minute {
    const startMs = this.#starts[index] ?? 0;
    const [last = '', volume = '', trades = '', buys = '', ...prices] = text.split(' ');
    const [open = '', high = '', low = '', close = ''] = prices;
    const closePrice = ratioOf(close);
    const openPrice = this.#openOf(index, open);
    const end = (code: string) => {
      if (code === CLOSE) return closePrice;
      return code === OPEN && openPrice !== null ? openPrice : ratioOf(code);
    };
    return {
      startMs,
      ...sumsOf(volume, trades, buys),
      open: openPrice,
      high: end(high),
      low: end(low),
      close: closePrice,
      lastMs: startMs + Number(last),
    };
  }

  #openOf(index: number, text: string): Ratio | null {
    if (text === NONE) return null;
    if (text !== BEFORE) return ratioOf(text);
    const close = this.closeAt(index - 1);
    assert(close !== null, 'a minute names the one before it');
    return close;
  }
}

function sumsOf(volume: string, trades: string, buys: string): MinuteSums {
  const knownBuys = buys === NONE ? null : Number(buys);
  return { volume: integerOf(volume), trades: Number(trades), buys: knownBuys };
}

function textOf(minute: Minute, closeBefore: Ratio | null): string {
  const { startMs, lastMs, volume, trades, buys, open, high, low, close } = minute;
  const end = (price: Ratio) => {
    if (isSame(price, close)) return CLOSE;
    return open !== null && isSame(price, open) ? OPEN : ratioText(price);
  };
  const openText = open === null ? NONE : isSame(open, closeBefore) ? BEFORE : ratioText(open);
  const sums = [lastMs - startMs, volume.toString(16), trades, buys ?? NONE];
  // Joined, so that it is one string and not a tree of its parts.
  return [...sums, openText, end(high), end(low), ratioText(close)].join(' ');
}

function isSame(a: Ratio, b: Ratio | null): boolean {
  return b !== null && a.numerator === b.numerator && a.denominator === b.denominator;
}

function ratioText({ numerator, denominator }: Ratio): string {
  return `${numerator.toString(16)}/${denominator.toString(16)}`;
}

function ratioOf(text: string): Ratio {
  const slash = text.indexOf('/');
  const numerator = integerOf(text.slice(0, slash));
  return { numerator, denominator: integerOf(text.slice(slash + 1)) };
}

function integerOf(hex: string): bigint {
  return BigInt(`0x${hex}`);
}
