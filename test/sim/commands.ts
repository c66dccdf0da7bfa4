/** Events of a market that fast-check draws. */
import fc from 'fast-check';
import { INTERVALS } from '../support/model.ts';

export interface Line {
  readonly pair: number;
  /** After the latest trade so far. */
  readonly stepMs: number;
  /** How far behind that it lies instead; null: it is on time. */
  readonly lateByMs: number | null;
  readonly price: number;
  /** Sends the trade of this index again instead; null: a new one. */
  readonly again: number | null;
}

export type Command =
  | { readonly kind: 'feed'; readonly lines: readonly Line[]; readonly latenessMs: number }
  | { readonly kind: 'rollback'; readonly backMs: number }
  | { readonly kind: 'restart' }
  | {
      readonly kind: 'subscribe';
      readonly client: number;
      readonly pair: number;
      readonly reversed: boolean;
      readonly interval: number;
      readonly filled: boolean;
      readonly maxHz: number | null;
      readonly fromHttp: boolean;
    }
  | { readonly kind: 'unsubscribe'; readonly client: number; readonly which: number }
  | { readonly kind: 'reconnect'; readonly client: number }
  | { readonly kind: 'check' };

export const PAIR_COUNT = 3;
export const CLIENT_COUNT = 3;
const MINUTE_MS = 60_000;

const stepMs = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 20_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 20_000, max: 5 * MINUTE_MS }) },
  { weight: 1, arbitrary: fc.integer({ min: MINUTE_MS, max: 15 * 60 * MINUTE_MS }) },
);

const line: fc.Arbitrary<Line> = fc.record({
  pair: fc.integer({ min: 0, max: PAIR_COUNT - 1 }),
  stepMs,
  lateByMs: fc.option(fc.integer({ min: 1, max: 12 * MINUTE_MS }), { freq: 5 }),
  price: fc.integer({ min: 1, max: 99 }),
  again: fc.option(fc.nat(500), { freq: 8 }),
});

const feed = fc.record({
  kind: fc.constant('feed' as const),
  lines: fc.array(line, { minLength: 1, maxLength: 25 }),
  latenessMs: fc.constantFrom(0, MINUTE_MS, 10 * MINUTE_MS),
});

const rollback = fc.record({
  kind: fc.constant('rollback' as const),
  backMs: fc.oneof(
    fc.integer({ min: 0, max: 2 * MINUTE_MS }),
    fc.integer({ min: 0, max: 60 * MINUTE_MS }),
    fc.integer({ min: 0, max: 3000 * MINUTE_MS }),
  ),
});

const client = fc.integer({ min: 0, max: CLIENT_COUNT - 1 });

const subscribe = fc.record({
  kind: fc.constant('subscribe' as const),
  client,
  pair: fc.integer({ min: 0, max: PAIR_COUNT - 1 }),
  reversed: fc.boolean(),
  interval: fc.integer({ min: 0, max: INTERVALS.length - 1 }),
  filled: fc.boolean(),
  maxHz: fc.option(fc.constantFrom(20, 7.5, 100), { freq: 3 }),
  fromHttp: fc.boolean(),
});

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 10, arbitrary: feed },
  { weight: 3, arbitrary: rollback },
  { weight: 5, arbitrary: subscribe },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('unsubscribe' as const),
      client,
      which: fc.nat(20),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reconnect' as const), client }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('check' as const) }) },
);

export const commands = fc.array(command, { minLength: 5, maxLength: 40, size: 'max' });
