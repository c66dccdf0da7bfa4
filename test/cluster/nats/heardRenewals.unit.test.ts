/** Which messages on the lease's subject count as renewals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeardRenewals } from '../../../src/cluster/nats/lease.ts';
import { HandClock } from '../../support/handClock.ts';

const LEASE_MS = 5_000;

function listener() {
  const clock = new HandClock();
  return { clock, renewals: new HeardRenewals(clock, LEASE_MS) };
}

test('a renewal counts for a lease, once NATS was seen to hold it', async () => {
  const { clock, renewals } = listener();
  renewals.receive('a');
  assert.equal(renewals.renewed, null, 'anyone may have said it');
  renewals.seen('a');
  assert.equal(renewals.renewed, null, 'what is stored may be as old as a lease');
  renewals.receive('a');
  assert.equal(renewals.renewed, 'a');
  await clock.advance(LEASE_MS - 1);
  assert.equal(renewals.renewed, 'a');
  renewals.receive('a');
  await clock.advance(LEASE_MS - 1);
  assert.equal(renewals.renewed, 'a', 'it was renewed');
  await clock.advance(1);
  assert.equal(renewals.renewed, null);
});

test('what another candidate asks for does not count', async () => {
  const { clock, renewals } = listener();
  renewals.seen('a');
  renewals.receive('a');
  await clock.advance(LEASE_MS - 1);
  renewals.receive('b');
  assert.equal(renewals.renewed, 'a');
  await clock.advance(1);
  assert.equal(renewals.renewed, null);
});

test('a release, and another value in NATS, end it at once', () => {
  const { renewals } = listener();
  renewals.seen('a');
  renewals.receive('a');
  renewals.receive('');
  assert.equal(renewals.renewed, null);
  renewals.receive('a');
  assert.equal(renewals.renewed, null, 'a renewal that was late');
  renewals.seen('a');
  renewals.receive('a');
  renewals.seen('b');
  assert.equal(renewals.renewed, null);
  renewals.receive('a');
  assert.equal(renewals.renewed, null);
  renewals.receive('b');
  assert.equal(renewals.renewed, 'b');
});
