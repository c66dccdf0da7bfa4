/**
 * Decisions of traders: each decision is affordable, and every kind of decision occurs now and
 * then.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { decide } from '../../src/traders/decide.ts';
import { tokenIdea } from '../../src/traders/tokenNames.ts';
import type { Action, View } from '../../src/traders/view.ts';
import { ADA, CONFIG, NOW_MS, OTHER, TOKEN, token, view } from './views.ts';

const assets = fc.constantFrom(TOKEN, OTHER, `${'ef'.repeat(28)}.`);
const anyView: fc.Arbitrary<View> = fc
  .record({
    lovelace: fc.bigInt(0n, 30_000n * ADA),
    tokens: fc.array(fc.tuple(assets, fc.bigInt(1n, 900_000_000n))).map((held) => new Map(held)),
    outputs: fc.nat(80),
    caps: fc.array(fc.option(fc.bigInt(0n, 90_000n * ADA)), { maxLength: 2 }),
    isAmm: fc.boolean(),
    unlockMs: fc.option(fc.integer({ min: NOW_MS - 100_000, max: NOW_MS + 100_000 })),
    launchDue: fc.boolean(),
    others: fc.constantFrom([], ['addr_test1a', 'addr_test1b']),
  })
  .map(({ caps, isAmm, unlockMs, ...rest }) => {
    const market = caps.map((marketCapLovelace, index) =>
      token({
        asset: [TOKEN, OTHER][index] ?? TOKEN,
        marketCapLovelace,
        venue: isAmm ? 'AMM' : 'CURVE',
      }),
    );
    const locks = unlockMs === null ? [] : [{ id: `${'1'.repeat(64)}:0`, unlockMs }];
    return view({ ...rest, market, locks });
  });

test('whatever they see, they decide on what they hold and can pay', () => {
  fc.assert(
    fc.property(anyView, fc.nat(), (seen, seed) => {
      const action = decide(seen, CONFIG, seededRng(seed));
      const held = (asset: string) => seen.tokens.get(asset) ?? 0n;
      const keep = BigInt(CONFIG.keepAda) * ADA;
      if (action.kind === 'order' && action.side === 'SELL') {
        assert(action.amount > 0n && action.amount <= held(action.asset));
        assert(seen.market.some(({ asset }) => asset === action.asset));
      } else if (action.kind === 'order') {
        assert(action.amount > 0n);
        assert(seen.market.some(({ asset }) => asset === action.asset));
        if (action.side === 'BUY') assert(action.amount <= seen.lovelace - keep);
        else assert((action.maxInputLovelace ?? assert.fail()) <= 2n * (seen.lovelace - keep));
      } else if (action.kind === 'launch') {
        assert(seen.launchDue && action.initialLovelace + keep <= seen.lovelace);
      } else if (action.kind === 'lock') {
        assert(action.amount >= BigInt(action.stages) && action.amount <= held(action.asset));
      } else if (action.kind === 'transfer') {
        assert(action.amount <= held(action.asset) && seen.others.includes(action.to));
      } else if (action.kind === 'withdraw') {
        assert(seen.locks.some(({ id, unlockMs }) => id === action.id && unlockMs < seen.nowMs));
      }
    }),
    { numRuns: 2_000 },
  );
});

function kindsOver(seen: View, count: number): Map<string, number> {
  const kinds = new Map<string, number>();
  for (let seed = 0; seed < count; seed += 1) {
    const kind = labelOf(decide(seen, CONFIG, seededRng(seed)));
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
}

function labelOf(action: Action): string {
  if (action.kind !== 'order') return action.kind;
  return action.thenCancel ? 'cancel' : action.side;
}

test('a wallet that holds tokens buys, sells, locks, sends and changes its mind', () => {
  const kinds = kindsOver(view({ tokens: new Map([[TOKEN, 50_000_000n]]) }), 2_000);
  for (const kind of ['BUY', 'BUY_WITH_OUTPUT', 'SELL', 'cancel', 'lock', 'transfer']) {
    assert((kinds.get(kind) ?? 0) > 20, `${kind}: ${kinds.get(kind)}`);
  }
});

test('a wallet that runs low stops buying and sells', () => {
  const lovelace = 12n * ADA;
  const kinds = kindsOver(view({ lovelace, tokens: new Map([[TOKEN, 50_000_000n]]) }), 500);
  assert.equal(kinds.get('BUY') ?? 0, 0);
  assert.equal(kinds.get('BUY_WITH_OUTPUT') ?? 0, 0);
  assert((kinds.get('SELL') ?? 0) > 300);
  assert.deepEqual([...kindsOver(view({ lovelace: ADA }), 50).keys()], ['rest']);
});

test('a launch that is due comes first, an open lock is taken back, dust is consolidated', () => {
  assert.deepEqual([...kindsOver(view({ launchDue: true }), 50).keys()], ['launch']);
  const locks = [{ id: `${'1'.repeat(64)}:0`, unlockMs: NOW_MS - 10_000 }];
  assert((kindsOver(view({ locks }), 200).get('withdraw') ?? 0) > 50);
  assert.equal(
    kindsOver(view({ locks: [{ id: 'x', unlockMs: NOW_MS }] }), 200).get('withdraw'),
    undefined,
  );
  assert.deepEqual([...kindsOver(view({ outputs: 60 }), 10).keys()], ['consolidate']);
});

test('the same seed decides the same', () => {
  fc.assert(
    fc.property(anyView, fc.nat(), (seen, seed) => {
      const once = decide(seen, CONFIG, seededRng(seed));
      assert.deepEqual(decide(seen, CONFIG, seededRng(seed)), once);
    }),
  );
});

test('ideas for tokens fit the rules of a launch', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const { name, ticker, description } = tokenIdea(seededRng(seed));
      assert([...name].length >= 1 && [...name].length <= 16);
      assert.match(ticker, /^[A-Za-z0-9]{1,6}$/);
      assert(description.length <= 500);
    }),
  );
});
