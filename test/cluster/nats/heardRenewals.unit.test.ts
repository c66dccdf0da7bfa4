/** What counts of the messages on the lease's subject. */
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
  renewals.heard('a');
  assert.equal(renewals.renewed, null, 'anyone may have said it');
  renewals.seen('a');
  assert.equal(renewals.renewed, null, 'what is stored may be as old as a lease');
  renewals.heard('a');
  assert.equal(renewals.renewed, 'a');
  await clock.advance(LEASE_MS - 1);
  assert.equal(renewals.renewed, 'a');
  renewals.heard('a');
  await clock.advance(LEASE_MS - 1);
  assert.equal(renewals.renewed, 'a', 'it was renewed');
  await clock.advance(1);
  assert.equal(renewals.renewed, null);
});

test('what another candidate asks for does not count', async () => {
  const { clock, renewals } = listener();
  renewals.seen('a');
  renewals.heard('a');
  await clock.advance(LEASE_MS - 1);
  renewals.heard('b');
  assert.equal(renewals.renewed, 'a');
  await clock.advance(1);
  assert.equal(renewals.renewed, null);
});

test('a release, and another value in NATS, end it at once', () => {
  const { renewals } = listener();
  renewals.seen('a');
  renewals.heard('a');
  renewals.heard('');
  assert.equal(renewals.renewed, null);
  renewals.heard('a');
  assert.equal(renewals.renewed, null, 'a renewal that was late');
  renewals.seen('a');
  renewals.heard('a');
  renewals.seen('b');
  assert.equal(renewals.renewed, null);
  renewals.heard('a');
  assert.equal(renewals.renewed, null);
  renewals.heard('b');
  assert.equal(renewals.renewed, 'b');
});
