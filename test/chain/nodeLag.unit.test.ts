/** Which nodes know enough of the chain to lead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeaderEligibility } from '../../src/chain/nodeLag.ts';

const at = (height: number) => ({ slot: 20 * height, hash: `${height}`, height });

test('a node that is silent or far behind leaves it to others, a late one does not', () => {
  const eligibility = new LeaderEligibility(() => 100);
  assert.equal(eligibility.isEligible(null), false);
  assert.equal(eligibility.isEligible(at(96)), false);
  assert.equal(eligibility.isEligible(at(97)), true);
  assert.equal(eligibility.isEligible(at(250)), true);
  assert.equal(new LeaderEligibility(() => 0).isEligible(at(0)), true, 'nothing is written yet');
});

test('after stepping down a node needs every block logged by then', () => {
  let logged = 100;
  const eligibility = new LeaderEligibility(() => logged);
  eligibility.steppedDown();
  assert.equal(eligibility.isEligible(at(99)), false);
  assert.equal(eligibility.isEligible(at(100)), true);
  logged = 105;
  assert.equal(eligibility.isEligible(at(102)), true, 'what is late again is late as anything');
  assert.equal(eligibility.isEligible(at(101)), false);
});
