import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tradeRoutes } from '../../../src/api/trades/routes.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { ownerOf } from '../../chain/foldState.ts';
import { askRoute } from '../../support/askRoute.ts';
import { recordOf } from '../../support/subscription.ts';
import { openStall } from './stall.ts';

const MAX_READ = 4;

test('filtered trades end with the oldest one, however few are read for an answer', async (t) => {
  const { api, token } = await openStall(t);
  const all = await api.json('/v1/trades', { asset: token, limit: 500 });
  assert(Array.isArray(all));
  const trades = all.map(recordOf);
  const [route] = tradeRoutes(api.world.node, MAX_READ);
  assert(route !== undefined && trades.length > 3 * MAX_READ);
  let continued = 0;
  const ask = (query: Readonly<Record<string, string | number>>) => {
    const answer = askRoute(route, { asset: token, ...query });
    assert(!(answer instanceof Promise) && !(answer instanceof Failure));
    const rows: unknown = JSON.parse(String(answer.body));
    assert(Array.isArray(rows) && rows.length <= Number(query.limit));
    const next = answer.headers?.['X-Next-Before'];
    if (next !== undefined) continued += 1;
    const last = rows.length < Number(query.limit) ? null : String(recordOf(rows.at(-1)).id);
    return { rows, next: next ?? last };
  };
  const keys = new Set(trades.map(({ pkh }) => String(pkh)));
  for (const pkh of [...keys, ownerOf(999)]) {
    for (const limit of [1, 2, 100]) {
      const found: unknown[] = [];
      let page = ask({ pkh, limit });
      for (let pages = 0; page.next !== null; pages += 1) {
        assert(pages < trades.length, 'each answer begins after the one before');
        found.push(...page.rows);
        page = ask({ pkh, limit, before: page.next });
      }
      const wanted = trades.filter((trade) => trade.pkh === pkh);
      assert.deepEqual([...found, ...page.rows], wanted, `${pkh}, ${limit} at a time`);
    }
  }
  assert(continued > keys.size);
});
