/**
 * Trades as bars, one for each: from the price of the pool before it to the price after it. A young
 * token has many trades in few minutes; here each of them has its place.
 */
import type { DrawnBars } from '../../client/datafeed/index.ts';
import type { BarsChange, BarsState, PriceBar } from '../../client/index.ts';
import type { TradesMirror } from '../../client/mirrors/trades.ts';
import type { TradeRow } from '../../client/types.ts';
import { formatUnits } from '../../engine/market/decimal.ts';

const ADA_DECIMALS = 6;
/** Places of a second: the chart draws one point a time, and trades of one block share theirs. */
const PLACES = 10_000;

/** Where the line begins: price and time of the launch. */
export interface LaunchPoint {
  /** Unix seconds. */
  readonly time: number;
  /** ADA per token, a decimal. */
  readonly price: string;
}

/** `trades` newest first, `launch` null where older trades are not known here; oldest first. */
export function tradeBars(
  trades: readonly TradeRow[],
  launch: LaunchPoint | null,
): readonly PriceBar[] {
  const bars: PriceBar[] = launch === null ? [] : [flatBar(launch)];
  let [second, place] = [launch?.time ?? 0, 0];
  for (const { time, price, spotAfter, quoteAmount, baseAmount } of trades.toReversed()) {
    place = time === second ? place + 1 : 0;
    second = time;
    const open = bars.at(-1)?.close ?? price;
    const [low, high] = Number(open) < Number(spotAfter) ? [open, spotAfter] : [spotAfter, open];
    bars.push({
      time: time + place / PLACES,
      ...{ open, high, low, close: spotAfter },
      volume: formatUnits(BigInt(quoteAmount), ADA_DECIMALS),
      ...{ baseVolume: baseAmount, trades: 1, final: true },
    });
  }
  return bars;
}

function flatBar({ time, price }: LaunchPoint): PriceBar {
  const prices = { open: price, high: price, low: price, close: price };
  return { time, ...prices, volume: '0', baseVolume: '0', trades: 0, final: true };
}

type Listener = (state: BarsState<PriceBar>, change: BarsChange<PriceBar>) => void;

/** A mirror of trades, in the shape of a mirror of bars. */
export class TradesAsBars implements DrawnBars<PriceBar> {
  readonly #mirror: TradesMirror;
  readonly #launch: LaunchPoint | null;
  readonly #listeners = new Set<Listener>();
  #bars: readonly PriceBar[] = [];

  constructor(mirror: TradesMirror, launch: LaunchPoint | null) {
    this.#mirror = mirror;
    this.#launch = launch;
    this.#read();
    mirror.onChange(() => this.#moved());
  }

  get isLoaded(): boolean {
    return this.#mirror.isLoaded;
  }

  get state(): BarsState<PriceBar> {
    const { isKnown } = this.#mirror.state;
    return { isKnown, bars: this.#bars, standing: null, hasOlder: this.#mirror.hasOlder };
  }

  loadOlder(): Promise<boolean> {
    return this.#mirror.loadOlder();
  }

  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #read(): void {
    const { state, hasOlder, isLoaded } = this.#mirror;
    this.#bars = isLoaded ? tradeBars(state.trades, hasOlder ? null : this.#launch) : [];
  }

  /** Trades that came after all others are drawn alone. */
  #moved(): void {
    const before = this.#bars;
    this.#read();
    const isGrown = before.every(
      ({ time, close }, at) => this.#bars[at]?.time === time && this.#bars[at].close === close,
    );
    const changed = isGrown ? this.#bars.slice(before.length) : [];
    const change = { reason: isGrown ? 'update' : 'history', changed, removed: [] } as const;
    for (const listener of this.#listeners) listener(this.state, change);
  }
}
