/** Mirrors against HTTP: at one position both say the same. */
import assert from 'node:assert/strict';
import type {
  BarsMirror,
  Candle,
  Client,
  PairOf,
  Position,
  Resolution,
} from '../../src/client/index.ts';
import { untilAsked } from '../support/until.ts';

const DEADLINE_MS = 60_000;
const END_OF_TIME = 253_402_300_799;

export interface Compared {
  readonly position: Position | null;
  /** Throws where `mirror` differs from what HTTP answers; the position of the answer. */
  compare(): Promise<{ readonly position: Position | null; readonly check: () => void }>;
}

/** Asks until the mirror is exactly where an answer is, then compares. */
export async function assertSame(mirror: Compared, what: string): Promise<void> {
  await untilAsked(
    () => `${what} stands at ${JSON.stringify(mirror.position)}`,
    async () => {
      const { position, check } = await mirror.compare();
      const isThere = same(position, mirror.position);
      if (isThere) check();
      return { isThere, position };
    },
    ({ isThere }) => isThere,
    DEADLINE_MS,
  );
}

function same(a: Position | null, b: Position | null): boolean {
  return a !== null && b !== null && a.epoch === b.epoch && a.seq === b.seq;
}

/** Asserts that the mirror's bars equal the bars of HTTP, without a gap from its oldest bar on. */
export function barsLikeHttp<B extends Candle>(
  client: Client,
  mirror: BarsMirror<B>,
  pair: PairOf,
  interval: Resolution,
  kind: 'price' | 'mcap' = 'price',
): Compared {
  const query = { ...pair, resolution: interval, from: 0, to: END_OF_TIME };
  return {
    get position() {
      return mirror.position;
    },
    async compare() {
      const { history, mcapHistory } = client.charts;
      const { data, position } = await (kind === 'price' ? history(query) : mcapHistory(query));
      return {
        position,
        check() {
          const { bars, hasOlder } = mirror.state;
          const rows = data.map((bar) => {
            const { pair: _, ...rest } = bar;
            if ('isRelevant' in rest) delete (rest as { isRelevant?: boolean }).isRelevant;
            return rest;
          });
          const from = hasOlder ? (bars[0]?.time ?? Number.POSITIVE_INFINITY) : 0;
          assert.deepEqual(
            bars,
            rows.filter(({ time }) => time >= from),
          );
          assert.equal(hasOlder, bars.length < rows.length);
        },
      };
    },
  };
}
