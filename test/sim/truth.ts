/** The trades that count, by the rules of a feed: the model a market is compared with. */
import { type FeedTrade, lineOf, type PairIds, rollbackLine, tradeAt } from '../support/feeds.ts';
import type { Line } from './commands.ts';

const START_MS = Date.UTC(2024, 0, 31, 21);

export class Truth {
  /** In the order of the log. */
  trades: FeedTrade[] = [];
  #latestMs = START_MS;
  #ids = 0;

  /** The lines of a feed, which are taken, late or duplicates as the server should find. */
  feed(lines: readonly Line[], latenessMs: number): string {
    const texts: string[] = [];
    for (const line of lines) {
      const trade = this.#draw(line);
      texts.push(lineOf(trade));
      const known = this.trades.some(({ id, base }) => id === trade.id && base === trade.base);
      if (!known && trade.timeMs >= this.#seenMs() - latenessMs) this.trades.push(trade);
      this.#latestMs = Math.max(this.#latestMs, this.#seenMs());
    }
    return `${texts.join('\n')}\n`;
  }

  /** Undoes lines after the last trade at or before that moment. */
  rollBack(backMs: number): string {
    const toMs = Math.max(0, this.#seenMs()) - backMs;
    this.trades.length = this.trades.findLastIndex(({ timeMs }) => timeMs <= toMs) + 1;
    this.#latestMs = Math.max(START_MS, this.#seenMs());
    return `${rollbackLine(toMs)}\n`;
  }

  of(pair: number): FeedTrade[] {
    const { base } = pairAt(pair);
    return this.trades.filter((trade) => trade.base === base);
  }

  #draw({ pair, stepMs, lateByMs, price, again }: Line): FeedTrade {
    const repeated = again === null ? undefined : this.trades[again];
    if (repeated !== undefined) return repeated;
    this.#ids += 1;
    const timeMs = lateByMs === null ? this.#latestMs + stepMs : this.#latestMs - lateByMs;
    const more = { id: `t${this.#ids}`, amount: BigInt(price), pair: pairAt(pair) };
    return tradeAt(timeMs, `${price / 4}`, more);
  }

  #seenMs(): number {
    return this.trades.reduce((seen, { timeMs }) => Math.max(seen, timeMs), -1);
  }
}

export function pairAt(pair: number): PairIds {
  return { base: `${`0${pair}`.repeat(28)}.`, quote: '.' };
}
