/** Lookups through Kupo when it is behind, slow, wrong or gone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refText } from '../../../src/cardano/codec/output.ts';
import { type Clock, systemClock } from '../../../src/engine/runtime/clock.ts';
import { type Cause, Unavailable } from '../../../src/engine/runtime/errors.ts';
import { keyNamed, payment } from '../../support/ledgerWorld.ts';
import { until } from '../../support/until.ts';
import { type KupoPlace, kupoPlace } from './kupoWorld.ts';

const ADA = 1_000_000n;
const ALICE = keyNamed('alice').hash;
const BOB = keyNamed('bob').hash;

/** Alice pays Bob in a separate block; answers Bob's new output. */
async function paidInBlock({ ledger }: KupoPlace): Promise<string> {
  const [source] = await ledger.byPaymentKey(ALICE, 'spendable', { limit: 1 });
  assert.ok(source);
  const { id, bytes } = payment(source, 'alice', 'bob', 10n * ADA);
  assert.equal((await ledger.submit(bytes)).outcome, 'accepted');
  await ledger.mine(1);
  return `${id}:0`;
}

async function bobs(place: KupoPlace): Promise<string[]> {
  const found = await place.lookup.byPaymentKey(BOB, 'spendable');
  return found.map(({ ref }) => refText(ref));
}

function refusal(cause: Cause, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof Unavailable, String(error));
    assert.equal(error.failure.cause, cause);
    assert.match(error.failure.message, message);
    if (cause !== 'SERVER_ERROR') assert.ok((error.failure.retryAfterSeconds ?? 0) > 0);
    return true;
  };
}

test('waits for a Kupo that is behind the served tip', async (scope) => {
  const place = await kupoPlace(scope);
  place.kupo.hold();
  const gift = await paidInBlock(place);
  await place.settled();
  const answer = bobs(place);
  const asked = () => place.kupo.asked.filter((path) => path.startsWith('/checkpoints/'));
  await until('it asked for the block more than once', () => asked().length > 1);
  assert.ok(!place.kupo.asked.some((path) => path.startsWith('/matches/')), 'not too early');
  place.kupo.go();
  assert.ok((await answer).includes(gift));
});

test('does not believe a header that names a block before it can be read', async (scope) => {
  const place = await kupoPlace(scope);
  place.kupo.announcesEarly = true;
  await paidInBlock(place);
  await place.settled();
  assert.ok((await bobs(place)).length > 0);
  place.kupo.hold();
  const gift = await paidInBlock(place);
  await place.settled();
  const before = place.kupo.asked.length;
  const answer = bobs(place);
  await until('it was asked', () => place.kupo.asked.length > before + 1);
  place.kupo.go();
  assert.ok((await answer).includes(gift));
});

test('does not answer from a fork that the served chain has left', async (scope) => {
  const place = await kupoPlace(scope);
  const undone = await paidInBlock(place);
  await place.settled();
  assert.ok((await bobs(place)).includes(undone));
  place.kupo.hold();
  assert.ok('takenBack' in (await place.ledger.fork(1, { resubmit: 'none' })));
  await place.ledger.mine(3);
  await place.settled();
  const answer = bobs(place);
  const asked = place.kupo.asked.length;
  await until('it was asked', () => place.kupo.asked.length > asked);
  place.kupo.go();
  assert.ok(!(await answer).includes(undone));
});

test('asks again when the served tip moves while Kupo answers', async (scope) => {
  const place = await kupoPlace(scope);
  await place.ledger.mine(1);
  await place.settled();
  const moved = Promise.withResolvers<string>();
  let times = 0;
  place.kupo.mischief = (path) => {
    if (!path.startsWith('/matches/')) return null;
    times += 1;
    if (times > 1) return null;
    paidInBlock(place).then(moved.resolve, moved.reject);
    return { status: 502, body: 'try again' };
  };
  const found = await bobs(place);
  await place.settled();
  assert.ok(times > 1);
  assert.ok((await bobs(place)).includes(await moved.promise));
  assert.ok(found.length > 0);
});

/** Bob's outputs, while this happens before Kupo's first answer; and how often it was asked. */
async function bobsWhile(place: KupoPlace, happens: () => Promise<void>) {
  const { kupo } = place;
  let matches = 0;
  kupo.meanwhile = async (path) => {
    if (!path.startsWith('/matches/')) return;
    matches += 1;
    if (matches === 1) await happens();
  };
  const found = await bobs(place);
  return { found, matches };
}

test('a block that comes during a lookup costs no other question', async (scope) => {
  const place = await kupoPlace(scope);
  const { ledger, kupo, overlay } = place;
  await ledger.mine(1);
  await place.settled();
  const submitted = async () => {
    const [source] = await ledger.byPaymentKey(ALICE, 'spendable', { limit: 1 });
    assert.ok(source);
    const { id, bytes } = payment(source, 'alice', 'bob', 10n * ADA);
    assert.equal((await ledger.submit(bytes)).outcome, 'accepted');
    await until('it waits', () => overlay.mempool.has(id));
    return `${id}:0`;
  };
  const first = await submitted();
  const withKupo = await bobsWhile(place, async () => {
    await ledger.mine(1);
    await place.settled();
    const newest = place.served();
    if (newest !== null) await kupo.reached(newest);
  });
  assert.deepEqual([withKupo.matches, withKupo.found.includes(first)], [1, true]);
  const second = await submitted();
  kupo.hold();
  const ahead = await bobsWhile(place, async () => {
    await ledger.mine(1);
    await place.settled();
  });
  assert.deepEqual([ahead.matches, ahead.found.includes(second)], [1, true]);
});

test('after a rollback during a lookup Kupo is asked again', async (scope) => {
  const place = await kupoPlace(scope);
  const { ledger, kupo } = place;
  await ledger.mine(1);
  const undone = await paidInBlock(place);
  await place.settled();
  kupo.hold();
  const before = place.wholes();
  const { found, matches } = await bobsWhile(place, async () => {
    assert.ok('takenBack' in (await ledger.fork(1, { resubmit: 'none' })));
    await until('the rollback is served', () => place.wholes() > before);
    setImmediate(() => kupo.go());
  });
  assert.ok(matches > 1);
  assert.ok(found.length > 0 && !found.includes(undone));
});

test('gives up in time: NOT_READY, with when to come back', async (scope) => {
  const deadlineMs = 5_000;
  // The test sets the deadline off, so no answer is late on a busy machine.
  const deadlines: (() => void)[] = [];
  const after: Clock['after'] = (delayMs, run) => {
    if (delayMs !== deadlineMs) return systemClock.after(delayMs, run);
    deadlines.push(run);
    return { cancel: () => {} };
  };
  const place = await kupoPlace(scope, { deadlineMs }, { ...systemClock, after });
  place.kupo.hold();
  await paidInBlock(place);
  await place.settled();
  const late = assert.rejects(
    bobs(place),
    refusal('NOT_READY', /it is at slot \d+, the tip at \d+/),
  );
  await until('it asked again', () => place.kupo.asked.length > 1);
  deadlines.at(-1)?.();
  await late;
  place.kupo.go();
  const newest = place.served();
  assert.ok(newest);
  await place.kupo.reached(newest);
  assert.ok((await bobs(place)).length > 0);
  place.kupo.mischief = () => 'stall';
  const never = assert.rejects(bobs(place), refusal('NOT_READY', /Kupo/));
  await until('it is asked', () => place.kupo.underway > 0);
  deadlines.at(-1)?.();
  await never;
});

test('asks few questions at once, and refuses beyond a bounded queue', async (scope) => {
  const place = await kupoPlace(scope, { atOnce: 3, lookups: 10 });
  await place.ledger.mine(1);
  await place.settled();
  await bobs(place);
  let isSlow = true;
  place.kupo.maxUnderway = 0;
  place.kupo.mischief = () => (isSlow ? 'stall' : null);
  const waiting = Array.from({ length: 10 }, () => bobs(place));
  await assert.rejects(bobs(place), refusal('OVERLOADED', /too many/));
  await until('three are asked', () => place.kupo.underway === 3);
  isSlow = false;
  place.kupo.dropAll();
  const answers = await Promise.all(waiting);
  for (const answer of answers) assert.ok(answer.length > 0);
  assert.ok(place.kupo.maxUnderway <= 3, `${place.kupo.maxUnderway} at once`);
  assert.ok((await bobs(place)).length > 0, 'the queue is free again');
});

test('tries again after errors, lost connections and nonsense', async (scope) => {
  const place = await kupoPlace(scope);
  await place.ledger.mine(1);
  await place.settled();
  const faults = [
    'drop',
    { status: 503, body: '{"hint":"starting"}' },
    { status: 200, body: '<html>a proxy</html>' },
    { status: 200, body: '{"not":"a list"}' },
    { status: 200, body: '[{"transaction_id":"zz"}]' },
    { status: 200, body: '[' },
  ] as const;
  const left = [...faults];
  place.kupo.mischief = (path) => (path.startsWith('/matches/') ? (left.shift() ?? null) : null);
  assert.ok((await bobs(place)).length > 0);
  assert.equal(left.length, 0);
  assert.ok(place.outcomes.filter((outcome) => outcome === 'failed').length >= 3);
});

test('does not repeat what Kupo refuses, or what is too long', async (scope) => {
  const place = await kupoPlace(scope, { maxBytes: 4_096 });
  await assert.rejects(
    place.lookup.byPaymentKey('nonsense', 'newest'),
    refusal('SERVER_ERROR', /refused a lookup: it answered 400/),
  );
  place.kupo.mischief = () => ({ status: 200, body: `[${' '.repeat(5_000)}]` });
  await assert.rejects(bobs(place), refusal('SERVER_ERROR', /longer than 4096 bytes/));
  assert.equal(place.kupo.asked.length, 2);
});

test('keeps its connections', async (scope) => {
  const place = await kupoPlace(scope, { atOnce: 2 });
  for (let round = 0; round < 30; round += 1) await bobs(place);
  assert.ok(place.kupo.asked.length >= 30);
  assert.ok(place.kupo.connections <= 15, `${place.kupo.connections} connections`);
});

/** A lookup that must not be answered before `mend`. */
async function waitsUntil(place: KupoPlace, mend: () => Promise<unknown>): Promise<void> {
  const before = place.kupo.asked.length;
  let isAnswered = false;
  const answer = bobs(place).finally(() => {
    isAnswered = true;
  });
  const looks = () =>
    place.kupo.asked.slice(before).filter((path) => path.startsWith('/checkpoints/')).length;
  await until('it looked for the block twice', () => looks() >= 2 || isAnswered);
  assert.ok(!isAnswered, 'no answer from another chain');
  await mend();
  assert.ok((await answer).length > 0);
}

test('notices that Kupo went back since it was last seen to have the tip', async (scope) => {
  const place = await kupoPlace(scope);
  const { ledger, kupo } = place;
  await ledger.mine(3);
  await place.settled();
  await bobs(place);
  const [first] = kupo.index.points();
  kupo.index.back(first ?? null);
  await waitsUntil(place, () => ledger.mine(1));
});

test('notices that Kupo is on another fork, though as far as the tip', async (scope) => {
  const place = await kupoPlace(scope);
  const { ledger, kupo } = place;
  await ledger.mine(3);
  await place.settled();
  await bobs(place);
  const [first] = kupo.index.points();
  const slot = (place.served()?.slot ?? 0) + 1;
  kupo.index.back(first ?? null);
  const point = { slot, hash: 'ee'.repeat(32) };
  kupo.index.forward({ point, height: 2, timeMs: 0, transactions: [] });
  await waitsUntil(place, () => ledger.mine(5));
});
