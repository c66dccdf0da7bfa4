/** Books of all pools together have a bound, also where they grow after they were read. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PoolActor } from '../../../src/engine/pools/poolActor.ts';
import { PoolActors } from '../../../src/engine/pools/poolActors.ts';
import type { RowChange } from '../../../src/engine/store/rows.ts';
import { StateStore } from '../../../src/engine/store/state.ts';
import { inlineWriter } from '../../../src/engine/store/stateWriter.ts';
import { CountedTrades } from '../../../src/engine/store/tradeIds.ts';
import { temporaryDirectory } from '../../support/server.ts';

const MAX_ROWS = 10;
const CHECKPOINT = {
  ...{ epoch: '1-a', term: 1, entryHash: '', stateHash: '', hashedSeq: 0 },
  ...{ marketMs: 0, openedMs: 0, seenMs: 0 },
};

class Market {
  readonly store = new StateStore(join(temporaryDirectory(), 'state.sqlite'), {
    ...{ horizonBlocks: 10, maxMb: 0, writer: inlineWriter },
  });
  readonly actors = new PoolActors(this.store, MAX_ROWS);
  #seq = 0;

  /** An order in a block of its own. */
  place(token: string): void {
    this.#seq += 1;
    const seq = this.#seq;
    const ref = `${token}#${seq}`;
    const worstPrice = { numerator: '1', denominator: String(seq) };
    const order = { token, side: 'sell', state: 'open', amount: '5', worstPrice };
    const rows = [
      { table: 'orders', key: ref, after: JSON.stringify(order) },
      { table: 'open_orders', key: `${token}/${String(seq).padStart(6, '0')}`, after: ref },
    ] as const;
    const changes = rows.map((row): RowChange => ({ ...row, before: null, cause: 'trade' }));
    const checkpoint = { ...CHECKPOINT, seq };
    const rest = { block: true, atMs: seq, trades: new CountedTrades(), streamChanges: [] };
    this.store.stage({ checkpoint, changes, ...rest });
    this.actors.ordersChanged(changes);
  }

  read(actor: PoolActor): number {
    return this.actors.readBook(actor, ({ openOrders }) => openOrders.size);
  }
}

function rowsIn(actors: readonly PoolActor[]): number {
  return actors.reduce((sum, { bookRows }) => sum + bookRows, 0);
}

test('A book that grows after it was read counts as it grows', async () => {
  const market = new Market();
  const tokens = ['a', 'b', 'c'];
  const pools = tokens.map((token) => market.actors.open(token));
  for (const pool of pools) assert.equal(market.read(pool), 0);
  for (let round = 1; round <= MAX_ROWS; round += 1) {
    for (const token of tokens) {
      market.place(token);
      assert(rowsIn(pools) <= MAX_ROWS, `${rowsIn(pools)} rows are in memory`);
    }
  }
  for (const pool of pools) assert.equal(market.read(pool), MAX_ROWS, 'it is read from the rows');
  await market.store.close();
});

test('The book that was read least recently is forgotten first', async () => {
  const market = new Market();
  const [first, second, third] = ['a', 'b', 'c'].map((token) => market.actors.open(token));
  assert(first !== undefined && second !== undefined && third !== undefined);
  for (const token of ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']) market.place(token);
  for (const pool of [first, second, third, first]) assert.equal(market.read(pool), 3);
  for (const token of ['a', 'a']) market.place(token);
  assert.deepEqual([first.bookRows, second.bookRows, third.bookRows], [5, 0, 3]);
  await market.store.close();
});
