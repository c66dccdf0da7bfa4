/**
 * The part of the contract of NATS that is about its servers and their disks: the content of a
 * stream after its copies were moved, and after a machine lost writes, flipped a bit or had no
 * room.
 */
import assert from 'node:assert/strict';
import { manager } from '../../src/cluster/nats/stream.ts';
import { sleep } from '../../src/engine/runtime/clock.ts';
import {
  ANSWER_MS,
  type Check,
  duplicateOf,
  type NatsPlace,
  newStream,
  refused,
  stored,
  streamAt,
} from './nats.ts';
import {
  allHave,
  answered,
  eventually,
  lead,
  type Ring,
  removePeer,
  ringOf,
  type ServerControl,
  setCopies,
  textsOfCopies,
  untilLed,
  untilStored,
  untilWhole,
} from './natsRing.ts';

/** Timeout of requests that are retried. */
const HASTE_MS = 2_000;

export function serversContract(check: Check, place: NatsPlace): void {
  room(check, place);
  const { control } = place;
  if (control === undefined) return;
  crowded(check, place, control);
  if (place.replicas === 1) alone(check, place, control);
  else {
    moved(check, place, control);
    away(check, place, control);
    damaged(check, place, control);
  }
}

function room(check: Check, place: NatsPlace): void {
  check('more copies than there are servers are refused', async (scope) => {
    const { link, name } = await newStream(scope, place);
    const { streams } = await manager(link, ANSWER_MS);
    const added = streams.add({ name: `${name}many`, num_replicas: place.replicas === 1 ? 3 : 5 });
    const why = place.replicas === 1 ? /replicas > 1 not supported/ : /no suitable peers/;
    await assert.rejects(added, why);
  });

  check('a stream takes as many bytes as it may have; a purge makes room', async (scope) => {
    const { link, name, publish, stream } = await newStream(scope, place);
    const { streams } = await manager(link, ANSWER_MS);
    await streams.update(name, { max_bytes: 5_000 });
    assert.deepEqual(await publish('a'.repeat(1_000)), stored(1));
    assert.deepEqual(await publish('b'.repeat(1_000)), stored(2));
    const full = { result: 'lost', why: 'maximum bytes exceeded' };
    assert.deepEqual(await publish('c'.repeat(1_000)), full);
    assert.deepEqual(await publish('c'.repeat(1_000), { lastSequence: 2 }), full);
    await stream.purgeBelow(2);
    assert.deepEqual(await publish('c'.repeat(1_000), { lastSequence: 2 }), stored(3));
  });
}

function crowded(check: Check, place: NatsPlace, control: ServerControl): void {
  check('servers without room refuse all streams until they have room', async (scope) => {
    const servers = await control.crowded(scope);
    const small = { ...place, connect: () => servers.connect(scope) };
    const [full, other] = [await newStream(scope, small), await newStream(scope, small)];
    let count = 0;
    let said = await full.publish('x'.repeat(20_000));
    for (; said.result === 'stored' && count < 20; count += 1) {
      said = await full.publish(`${count}`.padEnd(20_000, 'x'));
    }
    assert.deepEqual(said, { result: 'lost', why: 'insufficient resources' });
    if (place.replicas === 1) {
      assert.deepEqual(await other.publish('small'), said);
      await full.stream.purgeBelow(3);
      assert.equal((await other.publish('small')).result, 'stored');
      return;
    }
    // A leader of several copies gives up, and without room none is elected.
    const hasty = await streamAt(full.link, place.clock, full.name, HASTE_MS);
    const leaderless = { result: 'lost', why: 'NATS has no such stream right now' } as const;
    await eventually(place, () => hasty.publish('small'), leaderless);
    await sleep(place.clock, 3_000);
    await eventually(place, () => hasty.publish('small'), leaderless);
    await servers.enlarge();
    const link = await servers.connect(scope);
    const again = await streamAt(link, place.clock, full.name, HASTE_MS);
    await eventually(place, async () => (await again.publish('small')).result, 'stored');
  });
}

function alone(check: Check, place: NatsPlace, control: ServerControl): void {
  const [server = ''] = control.names;

  check('writes that a server loses are gone, with their sequences and ids', async (scope) => {
    const ring = await ringOf(scope, place, control, ['a', 'b', 'c']);
    await control.kill(server);
    const putBack = await control.copyDisk(server);
    await control.start(server);
    const before = await ring.at(server);
    for (const text of ['d', 'e']) await before.publish(text);
    await control.kill(server);
    await putBack();
    await control.start(server);
    const { stream, publish } = await ring.at(server);
    assert.deepEqual(await stream.state(), { first: 1, last: 3, messages: 3 });
    const late = await publish('f', { lastSequence: 5 });
    assert.deepEqual(late, refused(10071, 'wrong last sequence: 3'));
    assert.deepEqual(await publish('e'), stored(4));
    assert.deepEqual(await publish('c'), duplicateOf(3));
  });

  check('a flipped bit costs its message, and those behind it', async (scope) => {
    const ring = await ringOf(scope, place, control, [
      'text one',
      'text two',
      'text three',
      'last',
    ]);
    await control.kill(server);
    await control.flipBit(server, ring.name, 'text three');
    await control.start(server);
    const { stream, publish } = await ring.at(server);
    // 2.9 counts on from it.
    const isOld = place.version === '2.9';
    const last = isOld ? 3 : 2;
    assert.deepEqual(await stream.state(), { first: 1, last, messages: 2 });
    assert.equal(await stream.at(3), null);
    assert.deepEqual(await publish('next', { lastSequence: last }), stored(last + 1));
    const next = await stream.at(last + 1);
    // 2.9 stores it where it does not find it.
    assert.equal(next === null ? null : `${Buffer.from(next.data)}`, isOld ? null : 'next');
    // A purge begins another file.
    await stream.purgeBelow(last + 2);
    assert.deepEqual(await publish('behind'), stored(last + 2));
    assert.equal(`${Buffer.from((await stream.at(last + 2))?.data ?? [])}`, 'behind');
  });
}

function moved(check: Check, place: NatsPlace, control: ServerControl): void {
  check('a copy that is removed is not made again by itself', async (scope) => {
    const ring = await ringOf(scope, place, control, ['a', 'b', 'c']);
    const { publish, jsm, link } = await ring.at(control.names[0] ?? '');
    const { others } = await untilWhole(ring, link, 3);
    const [gone = ''] = others;
    // There is no other server for it, and yet it is removed.
    assert.deepEqual(await removePeer(link, ring.name, gone), [503, 10075, 'peer remap failed']);
    await untilWhole(ring, link, 2);
    const [, , again] = await removePeer(link, ring.name, gone);
    assert.equal(again, 'peer not a member');
    assert.equal((await jsm.streams.info(ring.name)).config.num_replicas, 3);
    await untilStored(place, () => publish('d', { lastSequence: 3, lastOfSubject: 3 }), 4);
    await setCopies(ring, link, 3);
    await sleep(place.clock, 1_500);
    await untilWhole(ring, link, 2);
    await setCopies(ring, link, 2);
    await setCopies(ring, link, 3);
    await untilWhole(ring, link, 3);
    await lead(ring, link, gone);
    assert.deepEqual(await answered(place, () => publish('d')), duplicateOf(4));
    assert.deepEqual(await publish('e', { lastSequence: 4, lastOfSubject: 4 }), stored(5));
    // The leader may be removed as well.
    await removePeer(link, ring.name, gone);
    await untilWhole(ring, link, 2);
    await untilStored(place, () => publish('f', { lastSequence: 5, lastOfSubject: 5 }), 6);
    await setCopies(ring, link, 2);
    await setCopies(ring, link, 3);
    await eventually(place, () => textsOfCopies(ring), allHave(control, 'a b c d e f'));
  });

  check('with fewer copies and with more again it keeps all that it knows', async (scope) => {
    const ring = await ringOf(scope, place, control, ['a', 'b', 'c']);
    const { publish, link } = await ring.at(control.names[0] ?? '');
    await setCopies(ring, link, 1);
    await untilWhole(ring, link, 1);
    const known = duplicateOf(3);
    await eventually(place, () => publish('c'), known);
    assert.deepEqual(await publish('d', { lastSequence: 3, lastOfSubject: 3 }), stored(4));
    await setCopies(ring, link, 3);
    const { leader } = await untilWhole(ring, link, 3);
    const added = control.names.find((name) => name !== leader) ?? '';
    await lead(ring, link, added);
    assert.deepEqual(await answered(place, () => publish('c')), known);
    assert.deepEqual(await publish('e', { lastSequence: 4, lastOfSubject: 4 }), stored(5));
    await eventually(place, () => textsOfCopies(ring), allHave(control, 'a b c d e'));
  });
}

function away(check: Check, place: NatsPlace, control: ServerControl): void {
  check('a copy that was away takes what it missed, and knows its ids and ends', async (scope) => {
    const ring = await ringOf(scope, place, control, ['a', 'b']);
    const first = await ring.at(control.names[0] ?? '');
    const { leader, others } = await untilWhole(ring, first.link, 3);
    const [gone = ''] = others;
    await control.kill(gone);
    const { publish, link } = await ring.at(leader);
    for (const [index, text] of ['c', 'd', 'e'].entries()) {
      await untilStored(place, () => publish(text), index + 3);
    }
    await control.start(gone);
    await eventually(place, () => textsOfCopies(ring), allHave(control, 'a b c d e'));
    await untilWhole(ring, link, 3);
    await lead(ring, link, gone);
    assert.deepEqual(await answered(place, () => publish('e')), duplicateOf(5));
    assert.deepEqual(await publish('f', { lastSequence: 5, lastOfSubject: 5 }), stored(6));
  });

  check('one of three that loses its last writes gets them from the others', async (scope) => {
    const ring = await ringOf(scope, place, control, ['a', 'b']);
    const first = await ring.at(control.names[0] ?? '');
    const { leader, others } = await untilWhole(ring, first.link, 3);
    const [loser = ''] = others;
    await control.stop(loser);
    const putBack = await control.copyDisk(loser);
    await control.start(loser);
    const { publish, link } = await ring.at(leader);
    await untilWhole(ring, link, 3);
    await untilStored(place, () => publish('c'), 3);
    await untilStored(place, () => publish('d'), 4);
    await eventually(place, () => textsOfCopies(ring), allHave(control, 'a b c d'));
    await control.kill(loser);
    await putBack();
    await control.start(loser);
    await eventually(place, () => textsOfCopies(ring), allHave(control, 'a b c d'));
  });

  // Report 7567 of nats-server: acknowledged messages, and other ones in their place.
  check('two of three that lose writes go on; the third keeps what it had', async (scope) => {
    const ring = await ringOf(scope, place, control, ['a', 'b']);
    const first = await ring.at(control.names[0] ?? '');
    const { leader: third, others: losers } = await untilWhole(ring, first.link, 3);
    const copies: (() => Promise<void>)[] = [];
    for (const loser of losers) {
      await control.stop(loser);
      copies.push(await control.copyDisk(loser));
      await control.start(loser);
      const { link } = await ring.at(third);
      await untilWhole(ring, link, 3);
    }
    const before = await ring.at(third);
    for (const text of ['c', 'd']) {
      await eventually(place, async () => (await before.publish(text)).result, 'stored');
    }
    await eventually(place, () => textsOfCopies(ring), allHave(control, 'a b c d'));
    await control.stop(third);
    for (const loser of losers) await control.kill(loser);
    for (const putBack of copies) await putBack();
    for (const loser of losers) await control.start(loser);
    const { publish, link } = await ring.at(losers[0] ?? '');
    await untilLed(ring, link);
    for (const text of ['X', 'Y', 'Z']) {
      await eventually(place, async () => (await publish(text)).result, 'stored');
    }
    await control.start(third);
    await eventually(place, async () => (await textsOfCopies(ring)).size, 3);
    await lead(ring, link, third);
    await eventually(place, async () => (await publish('W')).result, 'stored');
    // Servers do not compare the contents of messages with equal sequences. Whether the third took
    // Z before it led, and the others W after, differs between runs.
    const keeps = async () => {
      const texts = await textsOfCopies(ring);
      const has = (name: string, begin: string) => texts.get(name)?.startsWith(begin) === true;
      return [has(third, 'a b c d'), ...losers.map((loser) => has(loser, 'a b X Y Z'))];
    };
    await eventually(place, keeps, [true, true, true]);
  });
}

/** Report 7549 of nats-server. */
function damaged(check: Check, place: NatsPlace, control: ServerControl): void {
  check(
    'a bit that flips in one copy is never delivered; 2.12 mends it at a kill',
    async (scope) => {
      const ring = await ringOf(scope, place, control, ['one', 'two', 'text three']);
      const first = await ring.at(control.names[0] ?? '');
      const { leader, others } = await untilWhole(ring, first.link, 3);
      const [hurt = ''] = others;
      // The restart writes the message to the disk and leaves no index of it.
      await control.stop(hurt);
      await control.start(hurt);
      const { publish, link } = await ring.at(leader);
      await untilWhole(ring, link, 3);
      await untilStored(place, () => publish('four', { lastSequence: 3 }), 4);
      await eventually(
        place,
        () => textsOfCopies(ring),
        allHave(control, 'one two text three four'),
      );
      await control.kill(hurt);
      await control.flipBit(hurt, ring.name, 'text three');
      await control.start(hurt);
      await untilStored(place, () => publish('five', { lastSequence: 4 }), 5);
      const all = allHave(control, 'one two text three four five');
      if (place.version === '2.12') {
        await eventually(place, () => textsOfCopies(ring), all);
        return;
      }
      // The messages after it may be gone as well.
      await untilWhole(ring, link, 3);
      await eventually(place, () => lacking(ring, 'text three'), [hurt]);
      // An operator replaces the copy.
      await removePeer(link, ring.name, hurt);
      await untilWhole(ring, link, 2);
      await setCopies(ring, link, 2);
      await setCopies(ring, link, 3);
      await eventually(place, () => textsOfCopies(ring), all);
    },
  );

  check('…and not after a stop, which left an index: it stays missing', async (scope) => {
    const ring = await ringOf(scope, place, control, ['one', 'text two', 'three']);
    const first = await ring.at(control.names[0] ?? '');
    const { leader, others } = await untilWhole(ring, first.link, 3);
    const [hurt = ''] = others;
    await control.stop(hurt);
    await control.flipBit(hurt, ring.name, 'text two');
    await control.start(hurt);
    const { publish, link, stream } = await ring.at(leader);
    await untilStored(place, () => publish('four', { lastSequence: 3 }), 4);
    await untilWhole(ring, link, 3);
    await eventually(place, () => lacking(ring, 'text two'), [hurt]);
    if (place.version === '2.9') return;
    const all = allHave(control, 'one text two three four');
    await eventually(place, () => textsOfCopies(ring), new Map(all).set(hurt, 'one three four'));
    await lead(ring, link, hurt);
    assert.equal(await stream.at(2), null);
    assert.deepEqual(await stream.state(), { first: 1, last: 4, messages: 4 });
  });
}

/** The servers whose copy has another text or none in its place. */
async function lacking(ring: Ring, text: string): Promise<readonly string[]> {
  const copies = [...(await textsOfCopies(ring))];
  assert.equal(copies.length, ring.place.replicas);
  return copies.filter(([, texts]) => !texts.includes(text)).map(([server]) => server);
}
