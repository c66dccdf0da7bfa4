/** The bars that a client has: all since its snapshot, or since there were any. */
import assert from 'node:assert/strict';
import { recordOf } from '../../support/subscription.ts';
import { type Row, rowsOf, type State } from './states.ts';

export class BarsState implements State {
  readonly bars: ReadonlyMap<number, Row>;
  /** Bars from this time on are all known. */
  readonly from: number;

  constructor(bars: ReadonlyMap<number, Row>, from: number) {
    this.bars = bars;
    this.from = from;
  }

  static told(data: unknown): BarsState {
    if (data === null) return new BarsState(new Map(), Number.NEGATIVE_INFINITY);
    const bar = barOf(data);
    return new BarsState(new Map([[Number(bar.time), bar]]), Number(bar.time));
  }

  next(event: string, data: unknown): BarsState {
    if (data === null) return BarsState.told(null);
    const bars = new Map(this.bars);
    const news = event === 'BarsRevised' ? rowsOf(recordOf(data).bars) : [recordOf(data)];
    for (const bar of news) {
      if (bar.removed === true) bars.delete(Number(bar.time));
      else bars.set(Number(bar.time), barOf(bar));
    }
    return new BarsState(bars, this.from);
  }

  get newest(): Row | null {
    return this.bars.get(Math.max(...this.bars.keys())) ?? null;
  }

  assertSame(other: State): void {
    assert(other instanceof BarsState);
    const from = Math.max(this.from, other.from);
    assert.deepEqual(this.#since(from), other.#since(from));
  }

  /** `rows`: a whole history over HTTP, with the same flat bars or without any. */
  assertHistory(rows: readonly Row[], isFilled: boolean): void {
    const first = Number(rows[0]?.time ?? Number.POSITIVE_INFINITY);
    // The bar that stands for a launch is in no history.
    const isListed = (bar: Row) => (isFilled ? Number(bar.time) >= first : bar.trades !== 0);
    const mine = this.#since(this.from).filter(isListed);
    const expected = rows.filter(({ time }) => Number(time) >= this.from).map(withoutPair);
    assert.deepEqual(
      mine.map((bar) => likeHistory(bar)),
      expected,
    );
  }

  /** `body`: `{bar, isRelevant}` over HTTP; null: 404. */
  assertNewest(body: unknown): void {
    const { newest } = this;
    if (body === null) {
      assert.equal(newest, null);
      return;
    }
    const { bar, isRelevant } = recordOf(body);
    assert.deepEqual(newest, { ...withoutPair(recordOf(bar)), isRelevant });
  }

  #since(from: number): Row[] {
    const known = [...this.bars].filter(([time]) => time >= from);
    return known.sort(([a], [b]) => a - b).map(([, bar]) => bar);
  }
}

function barOf(data: unknown): Row {
  const { pair, ...bar } = recordOf(data);
  assert.equal(typeof pair, 'string');
  assert.equal(typeof bar.isRelevant, 'boolean');
  return bar;
}

function withoutPair({ pair: _, ...bar }: Row): Row {
  return bar;
}

/** Only bars of market caps say in a history whether they are the current one. */
function likeHistory(bar: Row): Row {
  if ('mCap' in bar) return bar;
  const { isRelevant: _, ...rest } = bar;
  return rest;
}
