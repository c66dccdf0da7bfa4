/** The filter in front of keyed rows: alone, and in a state file that is opened again. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { chainOrder } from '../../../src/engine/market/events.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { KeyFilter } from '../../../src/engine/store/keyFilter.ts';
import { createTables } from '../../../src/engine/store/schema.ts';
import { StateStore } from '../../../src/engine/store/state.ts';
import { inlineWriter } from '../../../src/engine/store/stateWriter.ts';
import { temporaryDirectory } from '../../support/server.ts';

/** Three layers. */
const KEYS = 100_000;
const keyOf = (index: number) => `${index.toString(16).padStart(64, 'f')}:${index % 7}`;

test('it never takes a key to be absent that was added, and nearly all others', () => {
  const filter = new KeyFilter();
  for (let index = 0; index < KEYS; index += 1) filter.add('outputs', keyOf(index));
  let mistaken = 0;
  for (let index = 0; index < KEYS; index += 1) {
    assert.ok(filter.mayHave('outputs', keyOf(index)));
    if (filter.mayHave('outputs', keyOf(KEYS + index))) mistaken += 1;
    if (filter.mayHave('orders', keyOf(index))) mistaken += 1;
  }
  assert.ok(mistaken < KEYS / 100, `${mistaken} of ${2 * KEYS} absent keys may be there`);
});

test('keys that differ in their ends, or before them, are distinguished', () => {
  const filter = new KeyFilter();
  const ends = Array.from({ length: 1_000 }, (_, index) => `token/${'a'.repeat(64)}/${index}`);
  const fronts = Array.from({ length: 1_000 }, (_, index) => `${'b'.repeat(60)}${1e9 + index}/x:0`);
  for (const [index, key] of [...ends, ...fronts].entries()) {
    if (index % 2 === 0) filter.add('counts', key);
  }
  const wrong = [...ends, ...fronts].filter((key, index) => {
    return index % 2 === 1 && filter.mayHave('counts', key);
  });
  assert.ok(wrong.length < 500, `${wrong.length} of 1,000`);
});

test('keys of one list and of one holder, which differ in a digit, are distinguished', () => {
  const filter = new KeyFilter();
  const token = `${'c'.repeat(56)}.${'d'.repeat(12)}`;
  const wrong: string[] = [];
  const addNew = (table: 'order_index' | 'holders', key: string) => {
    if (filter.mayHave(table, key)) wrong.push(key);
    filter.add(table, key);
  };
  for (let slot = 0; slot < 2_000; slot += 1) {
    addNew('order_index', `token/${token}/${chainOrder(100_000_000 + 20 * slot, 0, 0)}`);
    const lack = String(10n ** 23n - BigInt(slot) * 1_000_000n).padStart(24, '0');
    addNew('holders', `${token}/${lack}/addr_test1${'q'.repeat(98)}`);
  }
  assert.ok(wrong.length < 40, `${wrong.length} of 4,000, the first ${wrong[0]}`);
});

test('a stopped filter answers that any key may be there', () => {
  const filter = new KeyFilter();
  filter.stop();
  filter.add('orders', 'a');
  assert.ok(filter.mayHave('orders', 'b'));
});

/** The second is more than a start reads. */
for (const rows of [1_000, 60_000]) {
  test(`a state of ${rows} rows that is opened again shows each of them`, async (t) => {
    const file = join(temporaryDirectory(t), 'state.sqlite');
    const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
    createTables(database);
    const put = database.prepare('INSERT INTO orders (key, value, seq) VALUES (?, ?, 1)');
    database.transaction(() => {
      for (let index = 0; index < rows; index += 1) put.run(keyOf(index), `${index}`);
    })();
    database.close();
    const store = new StateStore(file, { horizonBlocks: 10, maxMb: 0, writer: inlineWriter });
    t.after(() => store.close());
    store.atOnce(() => {
      for (let index = 0; index < rows; index += 1) {
        assert.equal(store.get('orders', keyOf(index)), `${index}`);
      }
      assert.equal(store.get('orders', keyOf(rows)), null);
    });
  });
}

test('what fails between reads at once leaves nothing behind', async (t) => {
  const file = join(temporaryDirectory(t), 'state.sqlite');
  const store = new StateStore(file, { horizonBlocks: 10, maxMb: 0, writer: inlineWriter });
  t.after(() => store.close());
  const failing = () => {
    throw new Error('in between');
  };
  assert.throws(() => store.atOnce(failing), /in between/);
  assert.equal(
    store.atOnce(() => store.atOnce(() => store.get('market', 'tip'))),
    null,
  );
});
