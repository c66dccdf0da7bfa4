/** The order of a list equals a recount, whatever steps of time and half made lists came before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TickerChanges } from '../../../src/engine/directory/tickerChanges.ts';
import { type TickerList, TickerLists } from '../../../src/engine/directory/tickerLists.ts';
import { MINUTE_MS } from '../../../src/engine/market/resolution.ts';
import { WINDOW_MS } from '../../../src/engine/market/windows.ts';

const ASSETS = ['a', 'b', 'c', 'd', 'e'];
const WINDOW = '5m';

interface Place {
  readonly asset: string;
  readonly trades: number;
}

type Step =
  | { readonly do: 'trade'; readonly asset: string }
  | { readonly do: 'move'; readonly minutes: number }
  | { readonly do: 'minutes'; readonly count: number }
  | { readonly do: 'refresh' | 'refreshAll'; readonly steps: number }
  | { readonly do: 'look' };

const steps = fc.oneof(fc.nat(4), fc.constant(1_000));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('trade' as const), asset: fc.constantFrom(...ASSETS) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      minutes: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: -8, max: 8 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('minutes' as const), count: fc.constantFrom(6, 40) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refresh' as const), steps }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refreshAll' as const), steps }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
);

class Market {
  readonly changes = new TickerChanges(0, 100 * MINUTE_MS);
  readonly lists: TickerLists<Place>;
  readonly list: TickerList<Place, Place>;
  readonly #trades: { readonly asset: string; readonly startMs: number }[] = [];
  #seq = 0;
  #seen = { seq: 0, places: this.#places() };

  constructor() {
    this.lists = new TickerLists<Place>({
      changes: this.changes,
      assets: () => ASSETS,
      read: (_, isOver) => !isOver(),
      day: (asset) => {
        const trades = this.#count(asset, this.changes.atMs);
        return trades === 0 ? null : { asset, trades };
      },
      crossed: (_, fromMs, toMs) => this.#crossed(fromMs, toMs),
    });
    this.list = this.lists.make({
      windows: [WINDOW],
      compare: (a, b) => b.trades - a.trades || compareText(a.asset, b.asset),
      placeOf: (place) => place,
    });
  }

  perform(next: Step): void {
    this.#seq += 1;
    const { changes, list, lists } = this;
    if (next.do === 'trade') {
      const { asset } = next;
      this.#trades.push({ asset, startMs: changes.atMs });
      changes.record(asset, this.#seq, true);
    } else if (next.do === 'move') {
      changes.moveTo(changes.atMs + next.minutes * MINUTE_MS, this.#seq);
    } else if (next.do === 'minutes') {
      for (let count = 0; count < next.count; count += 1) {
        changes.moveTo(changes.atMs + MINUTE_MS, this.#seq);
        this.#seq += 1;
      }
    } else if (next.do === 'look') this.#look();
    else if (next.do === 'refresh') list.refresh(after(next.steps));
    else lists.refresh(after(next.steps));
  }

  #look(): void {
    const { list, changes } = this;
    assert(list.refresh(() => false));
    const shown: Place[] = [];
    list.visitInOrder((place) => {
      shown.push(place);
      return true;
    });
    const places = this.#places();
    assert.deepEqual(shown, places);
    assert.equal(list.size, places.length);
    const isSame = !changes.between(this.#seen.seq, this.#seq);
    if (isSame) assert.deepEqual(places, this.#seen.places, 'it said that nothing changed');
    for (const asset of ASSETS) {
      assert.equal(
        list.has(asset),
        places.some((place) => place.asset === asset),
        asset,
      );
      if (changes.changedSince(asset, this.#seen.seq)) continue;
      const steps = changes.stepsSince(this.#seen.seq);
      if (steps !== null && this.#hasCrossed(asset, steps.fromMs, steps.toMs)) continue;
      const find = (place: Place) => place.asset === asset;
      assert.deepEqual(places.find(find), this.#seen.places.find(find), 'it said unchanged');
    }
    this.#seen = { seq: this.#seq, places };
  }

  *#crossed(fromMs: number, toMs: number): Generator<string | null> {
    for (const asset of ASSETS) yield this.#hasCrossed(asset, fromMs, toMs) ? asset : null;
  }

  #hasCrossed(asset: string, fromMs: number, toMs: number): boolean {
    return this.#trades.some((trade) => {
      const leavesMs = trade.startMs + WINDOW_MS[WINDOW];
      return trade.asset === asset && leavesMs >= fromMs && leavesMs < toMs;
    });
  }

  #places(): Place[] {
    return ASSETS.map((asset) => ({ asset, trades: this.#count(asset, this.changes.atMs) }))
      .filter(({ trades }) => trades > 0)
      .sort((a, b) => b.trades - a.trades || compareText(a.asset, b.asset));
  }

  #count(asset: string, atMs: number): number {
    const fromMs = atMs - WINDOW_MS[WINDOW];
    return this.#trades.filter((trade) => trade.asset === asset && trade.startMs >= fromMs).length;
  }
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function after(count: number): () => boolean {
  let left = count;
  return () => {
    left -= 1;
    return left < 0;
  };
}

test('a list equals a recount, and a token said to be unchanged is', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), (all) => {
      const market = new Market();
      for (const next of all) market.perform(next);
      market.perform({ do: 'look' });
    }),
    { numRuns: 1_000, seed: 431 },
  );
});
