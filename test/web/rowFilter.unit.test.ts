import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TradeRow, TradesQuery } from '../../src/client/types.ts';
import { tradesPage } from '../../src/web/token/rowFilter.ts';

const ASSET = `${'ab'.repeat(28)}.00`;
const LIMIT = 3;

function tradeOf(id: number): TradeRow {
  return {
    id: `${String(id).padStart(12, '0')}.000000.0000`,
    time: id,
    side: 'buy',
    price: '0.1',
    baseAmount: '10',
    quoteAmount: '1000000',
    txHash: '00'.repeat(32),
    pkh: '',
    spotAfter: '0.1',
  };
}

/** A server with a trade for each of `wanted`, newest first, that reads `maxRead` an answer. */
function serverOf(wanted: readonly boolean[], maxRead: number) {
  const trades = wanted.map((isWanted, at) => ({
    isWanted,
    row: tradeOf(wanted.length - at),
  }));
  const asked: TradesQuery[] = [];
  const list = async (query: TradesQuery) => {
    asked.push(query);
    const rest = trades.filter(({ row }) => query.before === undefined || row.id < query.before);
    const read = rest.slice(0, maxRead);
    const found = read.filter(({ isWanted }) => isWanted).map(({ row }) => row);
    const isAll = found.length >= LIMIT || read.length < maxRead;
    const nextBefore = isAll ? null : (read.at(-1)?.row.id ?? null);
    return { data: found.slice(0, LIMIT), nextBefore };
  };
  const all = trades.filter(({ isWanted }) => isWanted).map(({ row }) => row);
  return { list, asked, all };
}

test('pages have each wanted trade once, and end with the oldest', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      async (wanted, maxRead) => {
        const { list, all } = serverOf(wanted, maxRead);
        const rows: TradeRow[] = [];
        let next: string | null = null;
        for (let pages = 0; pages <= wanted.length + 1; pages += 1) {
          const page = await tradesPage(list, {
            asset: ASSET,
            limit: LIMIT,
            ...(next === null ? {} : { before: next }),
          });
          rows.push(...page.rows);
          next = page.next;
          if (next === null) break;
        }
        assert.equal(next, null);
        assert.deepEqual(rows, all);
      },
    ),
  );
});

test('without rows in an answer it asks again, a few times', async () => {
  const far = serverOf([...Array<boolean>(30).fill(false), true], 10);
  const found = await tradesPage(far.list, { asset: ASSET, limit: LIMIT });
  assert.deepEqual(found, { rows: far.all, next: null });
  assert.equal(far.asked.length, 4);
  const further = serverOf([...Array<boolean>(90).fill(false), true], 10);
  const { rows, next } = await tradesPage(further.list, { asset: ASSET, limit: LIMIT });
  assert.deepEqual(rows, []);
  assert.equal(further.asked.length, 5);
  const later = { asset: ASSET, limit: LIMIT, before: next ?? assert.fail() };
  assert.deepEqual(await tradesPage(further.list, later), { rows: further.all, next: null });
});
