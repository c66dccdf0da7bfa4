/** Who has enough of the chain to lead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fitness } from '../../src/chain/fitness.ts';

const at = (height: number) => ({ slot: 20 * height, hash: `${height}`, height });

test('a node that is silent or far behind leaves it to others, a late one does not', () => {
  const fitness = new Fitness(() => 100);
  assert.equal(fitness.isFit(null), false);
  assert.equal(fitness.isFit(at(96)), false);
  assert.equal(fitness.isFit(at(97)), true);
  assert.equal(fitness.isFit(at(250)), true);
  assert.equal(new Fitness(() => 0).isFit(at(0)), true, 'nothing is written yet');
});

test('one that was waited for in vain has to have what it lacked', () => {
  let logged = 100;
  const fitness = new Fitness(() => logged);
  fitness.gaveWay();
  assert.equal(fitness.isFit(at(99)), false);
  assert.equal(fitness.isFit(at(100)), true);
  logged = 105;
  assert.equal(fitness.isFit(at(102)), true, 'what is late again is late as anything');
  assert.equal(fitness.isFit(at(101)), false);
});
