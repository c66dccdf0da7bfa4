/** Where the log ends, when NATS may have lost its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownEnd } from '../../src/cluster/knownEnd.ts';
import type { Announcement } from '../../src/cluster/nats/announcements.ts';
import type { NatsLink } from '../../src/cluster/nats/connection.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';

type Listener = Parameters<NatsLink['onStatus']>[0];

const LEASE_MS = 5_000;
const EPOCH = '1-first';
const END = { epoch: EPOCH, seq: 18 };

function world() {
  const listeners: Listener[] = [];
  const heard: Announcement[] = [];
  const at = { ms: 100_000, refusedMs: Number.NEGATIVE_INFINITY };
  const known = new KnownEnd({
    name: 'n2',
    node: { logEnd: async () => END },
    link: {
      onStatus(listener) {
        listeners.push(listener);
        return () => {};
      },
    },
    announcements: {
      receivedSince: () => heard,
      get refusedMs() {
        return at.refusedMs;
      },
    },
    leaseMs: LEASE_MS,
    clock: { ...systemClock, monotonicMs: () => at.ms },
  });
  const tell = (status: Parameters<Listener>[0]) => {
    for (const listener of listeners) listener(status);
  };
  return { known, heard, at, tell };
}

test('without an outage the end that NATS says is known', async () => {
  const { known, heard } = world();
  heard.push({ node: 'n1', epoch: EPOCH, term: 2, seq: 18 });
  assert.deepEqual(await known.ask(), END);
});

test('after an outage the end is unknown until the others were heard for two leases', async () => {
  const { known, at, tell } = world();
  tell({ status: 'reconnected' });
  assert.equal(await known.ask(), null);
  at.ms += 2 * LEASE_MS - 1;
  assert.equal(await known.ask(), null);
  at.ms += 1;
  assert.deepEqual(await known.ask(), END);
});

test('NATS that is back, and stores no announcement yet, is no end of the outage', async () => {
  const { known, at, tell } = world();
  tell({ status: 'reconnected' });
  at.ms += 2 * LEASE_MS;
  at.refusedMs = at.ms - 1;
  assert.equal(await known.ask(), null);
  at.ms += 2 * LEASE_MS;
  assert.deepEqual(await known.ask(), END);
});

test('the end is unknown while another node has more of this epoch than the log', async () => {
  const { known, heard } = world();
  heard.push({ node: 'n1', epoch: EPOCH, term: 2, seq: 37 });
  assert.equal(await known.ask(), null);
});

test('what another node has of another epoch says nothing about this end', async () => {
  const { known, heard } = world();
  heard.push({ node: 'n1', epoch: '2-next', term: 2, seq: 37 });
  assert.deepEqual(await known.ask(), END);
});
