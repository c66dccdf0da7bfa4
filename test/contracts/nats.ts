/**
 * Contract of NATS that our adapters rely on, run against real servers and against the model of
 * NATS by `natsContract(name, place)`. Where versions differ, it says how.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { NatsLink } from '../../src/cluster/nats/connection.ts';
import { type Guards, Publisher, type PublishResult } from '../../src/cluster/nats/publisher.ts';
import {
  ensureStream,
  type JetStreamManager,
  manager,
  NatsStream,
} from '../../src/cluster/nats/stream.ts';
import { type Clock, sleep } from '../../src/engine/runtime/clock.ts';
import { consumerContract } from './natsConsumers.ts';
import { copiesContract } from './natsCopies.ts';
import { messagesContract } from './natsMessages.ts';
import { eventually, type ServerControl } from './natsRing.ts';
import { serversContract } from './natsServers.ts';
import { storesContract } from './natsStores.ts';

export interface NatsPlace {
  readonly version: '2.9' | '2.12';
  /** Servers, and copies of each stream. */
  readonly replicas: 1 | 3;
  readonly clock: Clock;
  connect(scope: TestContext): Promise<NatsLink>;
  /** In virtual time: moves it until `work` is done. */
  run(work: () => Promise<void>): Promise<void>;
  /** Without it, what happens to servers is left out. */
  readonly control?: ServerControl;
}

export type Check = (behaviour: string, run: (scope: TestContext) => Promise<void>) => void;

/** Longest answer time of a real server on a busy machine. */
export const ANSWER_MS = 20_000;
const KIB = 1_024;

export function natsContract(name: string, place: NatsPlace): void {
  const check: Check = (behaviour, run) =>
    test(`${name}: ${behaviour}`, (scope) => place.run(() => run(scope)));
  messagesContract(check, place);
  publishing(check, place);
  versions(check, place);
  deleting(check, place);
  settings(check, place);
  copiesContract(check, place);
  consumerContract(check, place);
  storesContract(check, place);
  serversContract(check, place);
}

let names = 0;

/** A name for a stream, bucket or subject that no other test uses. */
export function newName(): string {
  names += 1;
  return `contract${names}`;
}

/** A stream as our log has it, and ways to it. */
export interface StreamPlace {
  readonly name: string;
  readonly link: NatsLink;
  readonly jsm: JetStreamManager;
  readonly stream: NatsStream;
  /** With the id `text`. */
  publish(text: string, guards?: Guards, kind?: string): Promise<PublishResult>;
}

export async function newStream(
  scope: TestContext,
  place: NatsPlace,
  dedupeMs = 600_000,
): Promise<StreamPlace> {
  const name = newName();
  const link = await place.connect(scope);
  const { replicas } = place;
  const shape = { name, subjects: [`${name}.entry.*`], replicas, maxMessageBytes: 64 * KIB };
  // A server that was just elected or started may not have heard yet that the others have room.
  await eventually(
    place,
    async () => (await ensureStream(link, { ...shape, dedupeMs }, ANSWER_MS)) !== null,
    true,
  );
  return streamAt(link, place.clock, name);
}

/** `answerMs`: how long its requests wait. */
export async function streamAt(
  link: NatsLink,
  clock: Clock,
  name: string,
  answerMs = ANSWER_MS,
): Promise<StreamPlace> {
  const publisher = new Publisher(link, clock, answerMs);
  const jsm = await manager(link, answerMs);
  const stream = new NatsStream(link, jsm, name);
  const publish = (text: string, guards: Guards = {}, kind = 'block') =>
    publisher.publish(`${name}.entry.${kind}`, text, text, guards);
  return { name, link, jsm, stream, publish };
}

export function stored(seq: number): PublishResult {
  return { result: 'stored', seq, duplicate: false };
}

export function duplicateOf(seq: number): PublishResult {
  return { result: 'stored', seq, duplicate: true };
}

export function refused(code: number, description: string): PublishResult {
  return { result: 'refused', code, description };
}

function publishing(check: Check, place: NatsPlace): void {
  check('sequences count from 1; the end can be expected by its sequence', async (scope) => {
    const { publish, stream } = await newStream(scope, place);
    assert.deepEqual(await stream.state(), { first: 0, last: 0, messages: 0 });
    assert.deepEqual(await publish('a', { lastSequence: 0 }), stored(1));
    assert.deepEqual(await publish('b', { lastSequence: 1 }), stored(2));
    const late = await publish('c', { lastSequence: 1 });
    assert.deepEqual(late, refused(10071, 'wrong last sequence: 2'));
    assert.deepEqual(await stream.state(), { first: 1, last: 2, messages: 2 });
  });

  check('…by the last sequence of the subject', async (scope) => {
    const { publish } = await newStream(scope, place);
    assert.deepEqual(await publish('a', { lastOfSubject: 0 }, 'x'), stored(1));
    assert.deepEqual(await publish('b', { lastOfSubject: 0 }, 'y'), stored(2));
    assert.deepEqual(await publish('c', { lastOfSubject: 1 }, 'x'), stored(3));
    const late = await publish('d', { lastOfSubject: 1 }, 'x');
    assert.deepEqual(late, refused(10071, 'wrong last sequence: 3'));
  });

  check('of many published at once each expects the one before it', async (scope) => {
    const { publish } = await newStream(scope, place);
    const texts = Array.from({ length: 50 }, (_, index) => `t${index + 1}`);
    const all = texts.map((text, index) => publish(text, { lastSequence: index }));
    const results = await Promise.all(all);
    assert.deepEqual(
      results,
      texts.map((_, index) => stored(index + 1)),
    );
  });

  check('an id that was stored in the window is a duplicate of it', async (scope) => {
    const { publish, stream } = await newStream(scope, place);
    await publish('a');
    await publish('b');
    assert.deepEqual(await publish('a'), duplicateOf(1));
    assert.equal((await stream.state()).last, 2);
  });

  check('…and no longer after the window', async (scope) => {
    const { publish } = await newStream(scope, place, 200);
    await publish('a');
    let again = await publish('a');
    for (let waited = 0; waited < 40 && again.result === 'stored' && again.duplicate; waited += 1) {
      await sleep(place.clock, 500);
      again = await publish('a');
    }
    assert.deepEqual(again, stored(2));
  });

  check('a message larger than the stream takes is refused', async (scope) => {
    const { publish } = await newStream(scope, place);
    const long = await publish('x'.repeat(65 * KIB));
    assert.deepEqual(long, refused(10054, 'message size exceeds maximum allowed'));
  });

  check('a subject without a stream has no answer but "no responders"', async (scope) => {
    const link = await place.connect(scope);
    const publisher = new Publisher(link, place.clock, ANSWER_MS);
    const result = await publisher.publish(`${newName()}.entry.x`, 'a', 'a', {});
    assert.deepEqual(result, { result: 'lost', why: 'NATS has no such stream right now' });
  });
}

function versions(check: Check, place: NatsPlace): void {
  check('the same message with the same guard, once more', async (scope) => {
    const { publish } = await newStream(scope, place);
    await publish('a', { lastSequence: 0 });
    const again = await publish('a', { lastSequence: 0 });
    // A single server of 2.12 compares the sequence first.
    const wrong = refused(10071, 'wrong last sequence: 1');
    const isWrong = place.version === '2.12' && place.replicas === 1;
    assert.deepEqual(again, isWrong ? wrong : duplicateOf(1));
  });

  check('the last sequence after a purge beyond the end', async (scope) => {
    const { publish, stream } = await newStream(scope, place);
    await publish('a');
    await stream.purgeBelow(10);
    assert.deepEqual(await stream.state(), { first: 0, last: 9, messages: 0 });
    const next = await publish('b', { lastSequence: 9 });
    // 2.9 still expects the former last sequence until it is restarted.
    const wrong = refused(10071, 'wrong last sequence: 1');
    assert.deepEqual(next, place.version === '2.9' ? wrong : stored(10));
    if (place.version === '2.12') return;
    if (place.replicas === 3) {
      // Several servers notice at the next message, and do not store that one.
      const why = 'expected sequence does not match store';
      assert.deepEqual(await publish('b'), { result: 'lost', why });
    }
    assert.deepEqual(await publish('b'), stored(10));
  });

  check('a time to live of one message', async (scope) => {
    const { name, link } = await newStream(scope, place);
    const jsm = await manager(link, ANSWER_MS);
    const published = jsm.jetstream().publish(`${name}.entry.x`, 'a', { ttl: '1s' });
    if (place.version === '2.9') assert.equal((await published).seq, 1);
    else await assert.rejects(published, /per-message TTL is disabled/);
  });

  check('a request for messages of a consumer that is not there', async (scope) => {
    const { name, link } = await newStream(scope, place);
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${name}.none`;
    const asked = link.connection.request(subject, '{"batch":1,"no_wait":true}', { timeout: 500 });
    // 2.9 says nothing.
    await assert.rejects(asked, place.version === '2.9' ? /timeout/ : /no responders/);
  });

  check('what servers say about their cluster', async (scope) => {
    const { name, link } = await newStream(scope, place);
    const { cluster } = await (await manager(link, ANSWER_MS)).streams.info(name);
    // From 2.10 on a single server names itself as the leader, and no cluster.
    assert.equal(cluster === undefined, place.version === '2.9' && place.replicas === 1);
    assert.equal(cluster?.name === undefined, place.replicas === 1);
  });
}

function deleting(check: Check, place: NatsPlace): void {
  check('a purge removes what is below; the sequences stay', async (scope) => {
    const { publish, stream } = await newStream(scope, place);
    for (const text of ['a', 'b', 'c', 'd']) await publish(text);
    await stream.purgeBelow(3);
    assert.deepEqual(await stream.state(), { first: 3, last: 4, messages: 2 });
    assert.equal(await stream.at(2), null);
    assert.deepEqual(await publish('e', { lastSequence: 4 }), stored(5));
  });

  check('the last message can be deleted; its sequence is not used again', async (scope) => {
    const { publish, stream, name } = await newStream(scope, place);
    await publish('a');
    await publish('b');
    await stream.remove(2);
    assert.deepEqual(await stream.state(), { first: 1, last: 2, messages: 1 });
    // For all subjects: the message at the last sequence, which is not there.
    assert.equal(await stream.lastOf('>'), null);
    // 2.9 finds no message of the subject until the next one is stored.
    const last = await stream.lastOf(`${name}.entry.*`);
    assert.equal(last?.seq, place.version === '2.9' ? undefined : 1);
    assert.deepEqual(await publish('c', { lastSequence: 2 }), stored(3));
  });

  check('messages are found by sequence, and by subject with wildcards', async (scope) => {
    const { publish, stream, name } = await newStream(scope, place);
    await publish('a', {}, 'x');
    await publish('b', {}, 'y');
    await publish('c', {}, 'x');
    const text = async (found: ReturnType<NatsStream['at']>) => {
      const message = await found;
      return message === null ? null : `${message.seq} ${Buffer.from(message.data)}`;
    };
    assert.equal(await text(stream.at(2)), '2 b');
    assert.equal(await text(stream.at(4)), null);
    assert.equal(await text(stream.lastOf(`${name}.entry.*`)), '3 c');
    assert.equal(await text(stream.lastOf(`${name}.entry.y`)), '2 b');
    assert.equal(await text(stream.lastOf(`${name}.entry.z`)), null);
    assert.equal(await text(stream.nextOf(`${name}.entry.x`, 2)), '3 c');
    assert.equal(await text(stream.nextOf('>', 1)), '1 a');
    assert.equal(await text(stream.nextOf('>', 4)), null);
  });

  check('a stream that is deleted is missing; made again, it counts from 1', async (scope) => {
    const { publish, stream, name, link } = await newStream(scope, place);
    await publish('a');
    await stream.remake();
    assert.deepEqual(await publish('a'), stored(1));
    await (await manager(link, ANSWER_MS)).streams.delete(name);
    await assert.rejects(stream.state(), /NATS has no stream/);
    await assert.rejects(stream.at(1), /NATS has no stream/);
    assert.equal((await publish('b')).result, 'lost');
  });
}

function settings(check: Check, place: NatsPlace): void {
  check('settings are changed one by one', async (scope) => {
    const { name, link } = await newStream(scope, place);
    const jsm = await manager(link, ANSWER_MS);
    await jsm.streams.update(name, { description: 'a market' });
    const { config } = await jsm.streams.info(name);
    assert.equal(config.description, 'a market');
    assert.equal(config.duplicate_window, 600_000_000_000);
    assert.equal(config.max_msg_size, 64 * KIB);
  });

  check('a window longer than messages live is refused', async (scope) => {
    const { name, link } = await newStream(scope, place);
    const { streams } = await manager(link, ANSWER_MS);
    const changed = streams.update(name, { max_age: 1_000_000_000 });
    await assert.rejects(changed, /duplicates window can not be larger/);
  });

  check('a stream is made once: with the same settings again, not with others', async (scope) => {
    const { name, link } = await newStream(scope, place);
    const { streams } = await manager(link, ANSWER_MS);
    const { config } = await streams.info(name);
    assert.equal((await streams.add(config)).config.name, name);
    const other = streams.add({ ...config, max_msgs: 3 });
    await assert.rejects(other, /stream name already in use/);
    const overlapping = streams.add({ name: newName(), subjects: [`${name}.entry.x`] });
    await assert.rejects(overlapping, /subjects overlap/);
  });

  check('a limit of messages with "discard new" refuses the next one', async (scope) => {
    const { name, link, publish } = await newStream(scope, place);
    const { streams } = await manager(link, ANSWER_MS);
    await streams.update(name, { max_msgs: 1 });
    await publish('a');
    const next = await publish('b');
    // 503: it may be repeated.
    assert.deepEqual(next, { result: 'lost', why: 'maximum messages exceeded' });
  });
}
