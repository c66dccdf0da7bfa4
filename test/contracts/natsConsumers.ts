/** The part of the contract of NATS that is about consumers: pushes, and requests for messages. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createInbox, type Msg, nanos } from '../../src/cluster/nats/connection.ts';
import { StreamFollower } from '../../src/cluster/nats/follower.ts';
import { RangeFetcher } from '../../src/cluster/nats/range.ts';
import { AckPolicy, DeliverPolicy, deliveryOf, manager } from '../../src/cluster/nats/stream.ts';
import { sleep } from '../../src/engine/runtime/clock.ts';
import { ANSWER_MS, type Check, type NatsPlace, newStream, type StreamPlace } from './nats.ts';

const PULL = {
  deliver_policy: DeliverPolicy.StartSequence,
  opt_start_seq: 1,
  ack_policy: AckPolicy.None,
  inactive_threshold: nanos(10_000),
  mem_storage: true,
  num_replicas: 1,
};

async function published(scope: TestContext, place: NatsPlace, count: number) {
  const made = await newStream(scope, place);
  for (let seq = 1; seq <= count; seq += 1) await made.publish(`text ${seq}`);
  return made;
}

/**
 * The messages that a consumer sends for a request, until a status or `most` messages have come. A
 * server that has not heard yet of a new consumer on another one says 503, and is asked again.
 */
async function pulled(...request: Parameters<typeof pulledOnce>): Promise<string[]> {
  for (;;) {
    const all = await pulledOnce(...request);
    if (all[0] !== '503') return all;
  }
}

async function pulledOnce(
  { name, link }: StreamPlace,
  consumer: string,
  request: object,
  most = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const inbox = createInbox();
  const all: string[] = [];
  const over = Promise.withResolvers<void>();
  const heard = (message: Msg) => {
    const delivery = deliveryOf(message);
    const { code = 0, description = '' } = message.headers ?? {};
    if (delivery === null) all.push(`${code} ${description}`.trim());
    else all.push(`${delivery.seq} of ${delivery.seq + delivery.pending}`);
    const isBeat = code === 100;
    if ((delivery === null && !isBeat) || all.length === most) over.resolve();
  };
  const callback = (_error: unknown, message: Msg) => heard(message);
  const subscription = link.connection.subscribe(inbox, { callback });
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${name}.${consumer}`;
  link.connection.publish(subject, JSON.stringify(request), { reply: inbox });
  await over.promise;
  subscription.unsubscribe();
  return all;
}

export function consumerContract(check: Check, place: NatsPlace): void {
  pulling(check, place);
  pushing(check, place);

  check('a range is read in batches, from any sequence, and its end is known', async (scope) => {
    const { name, link, publish } = await published(scope, place, 7);
    const reader = new RangeFetcher(link, await manager(link, ANSWER_MS), name, place.clock);
    const read = async (from: number) => (await reader.read(from, 3)).map(({ seq }) => seq);
    assert.deepEqual(await read(1), [1, 2, 3]);
    assert.deepEqual(await read(4), [4, 5, 6]);
    assert.deepEqual(await read(7), [7]);
    assert.deepEqual(await read(8), []);
    await publish('text 8');
    assert.deepEqual(await read(8), [8]);
    assert.deepEqual(await read(2), [2, 3, 4]);
  });

  check('a follower receives each message once, in order', async (scope) => {
    const { name, link, publish } = await published(scope, place, 3);
    const seen: string[] = [];
    const over = Promise.withResolvers<void>();
    const jsm = await manager(link, ANSWER_MS);
    const follower = new StreamFollower(link, jsm, name, place.clock, ({ seq, data }) => {
      seen.push(`${seq} ${Buffer.from(data)}`);
      if (seq === 5) over.resolve();
    });
    await follower.follow(2);
    await publish('text 4');
    await publish('text 5');
    await over.promise;
    follower.stop();
    assert.deepEqual(seen, ['2 text 2', '3 text 3', '4 text 4', '5 text 5']);
  });
}

function pulling(check: Check, place: NatsPlace): void {
  check('a request without waiting is answered from what is there', async (scope) => {
    const made = await published(scope, place, 3);
    const { consumers } = await manager(made.link, ANSWER_MS);
    const { name } = await consumers.add(made.name, PULL);
    const request = { batch: 2, no_wait: true };
    assert.deepEqual(await pulled(made, name, request, 2), ['1 of 3', '2 of 3']);
    const end = place.version === '2.9' ? '408 Request Timeout' : '404 No Messages';
    const more = { batch: 5, no_wait: true, max_bytes: 8_000_000 };
    assert.deepEqual(await pulled(made, name, more), ['3 of 3', end]);
    assert.deepEqual(await pulled(made, name, request), ['404 No Messages']);
  });

  check('a request that waits is answered later, beats, and expires', async (scope) => {
    const made = await published(scope, place, 1);
    const { consumers } = await manager(made.link, ANSWER_MS);
    const { name } = await consumers.add(made.name, { ...PULL, opt_start_seq: 2 });
    const expired = await pulled(made, name, { batch: 1, expires: nanos(300) });
    assert.deepEqual(expired, ['408 Request Timeout']);
    const beating = { batch: 1, expires: nanos(5_000), idle_heartbeat: nanos(100) };
    assert.deepEqual(await pulled(made, name, beating, 1), ['100 Idle Heartbeat']);
    const waiting = pulled(made, name, { batch: 1, expires: nanos(ANSWER_MS) }, 1);
    await made.publish('text 2');
    assert.deepEqual(await waiting, ['2 of 2']);
  });

  check('a batch ends before it has more bytes than were asked for', async (scope) => {
    const made = await published(scope, place, 3);
    const { consumers } = await manager(made.link, ANSWER_MS);
    const { name } = await consumers.add(made.name, PULL);
    const request = { batch: 2, no_wait: true, max_bytes: 50 };
    assert.deepEqual(await pulled(made, name, request), ['409 Message Size Exceeds MaxBytes']);
  });

  check('a consumer that is deleted ends the requests that wait', async (scope) => {
    const made = await published(scope, place, 0);
    const { consumers } = await manager(made.link, ANSWER_MS);
    const { name } = await consumers.add(made.name, PULL);
    const waiting = pulled(made, name, { batch: 1, expires: nanos(ANSWER_MS) });
    // The request and the deletion go over different servers.
    while ((await consumers.info(made.name, name)).num_waiting === 0) await sleep(place.clock, 10);
    await consumers.delete(made.name, name);
    assert.deepEqual(await waiting, ['409 Consumer Deleted']);
    await assert.rejects(consumers.info(made.name, name), /consumer not found/);
  });

  check('a consumer of one subject passes on no others', async (scope) => {
    const made = await newStream(scope, place);
    for (const kind of ['x', 'y', 'x']) await made.publish(`${kind} ${Math.random()}`, {}, kind);
    const { consumers } = await manager(made.link, ANSWER_MS);
    const filter_subject = `${made.name}.entry.x`;
    const { name, num_pending } = await consumers.add(made.name, { ...PULL, filter_subject });
    assert.equal(num_pending, 2);
    const all = await pulled(made, name, { batch: 2, no_wait: true }, 2);
    assert.deepEqual(all, ['1 of 2', '3 of 3']);
  });

  check('a consumer without requests vanishes', async (scope) => {
    const made = await published(scope, place, 0);
    const { consumers } = await manager(made.link, ANSWER_MS);
    const inactive_threshold = nanos(1_000);
    const { name } = await consumers.add(made.name, { ...PULL, inactive_threshold });
    for (let waited = 0; waited < 20; waited += 1) {
      await sleep(place.clock, 1_500);
      const found = await consumers.info(made.name, name).catch((error) => String(error));
      if (typeof found === 'string') return assert.match(found, /consumer not found/);
    }
    assert.fail('it is still there');
  });
}

function pushing(check: Check, place: NatsPlace): void {
  check('a push tells its position while there is nothing to deliver', async (scope) => {
    const { name, link } = await published(scope, place, 2);
    const inbox = createInbox();
    const said: string[] = [];
    const over = Promise.withResolvers<void>();
    link.connection.subscribe(inbox, {
      callback: (_error, message) => {
        const delivery = deliveryOf(message);
        if (delivery !== null) {
          said.push(`${delivery.consumerSeq}: ${delivery.seq}`);
          return;
        }
        // One may come before what there is.
        if (message.headers?.get('Nats-Last-Consumer') !== '2') return;
        said.push(`${message.headers.code}`);
        over.resolve();
      },
    });
    const { consumers } = await manager(link, ANSWER_MS);
    await consumers.add(name, {
      ...PULL,
      deliver_subject: inbox,
      inactive_threshold: 0,
      flow_control: true,
      idle_heartbeat: nanos(200),
    });
    await over.promise;
    assert.deepEqual(said.slice(0, 3), ['1: 1', '2: 2', '100']);
  });

  check('a push waits for the receiver after some megabytes', async (scope) => {
    const { name, link } = await newStream(scope, place);
    const piece = 'x'.repeat(60_000);
    const jetstream = (await manager(link, ANSWER_MS)).jetstream();
    await Promise.all(
      Array.from({ length: 100 }, () => jetstream.publish(`${name}.entry.x`, piece)),
    );
    const inbox = createInbox();
    let [received, answered] = [0, 0];
    const over = Promise.withResolvers<void>();
    link.connection.subscribe(inbox, {
      callback: (_error, message) => {
        if (deliveryOf(message) === null) {
          answered += message.reply === undefined || message.reply === '' ? 0 : 1;
          message.respond();
          return;
        }
        received += 1;
        if (received === 100) over.resolve();
      },
    });
    const { consumers } = await manager(link, ANSWER_MS);
    const shape = { deliver_subject: inbox, inactive_threshold: 0, flow_control: true };
    await consumers.add(name, { ...PULL, ...shape, idle_heartbeat: nanos(1_000) });
    await over.promise;
    assert.ok(answered > 0, 'it asked whether the receiver keeps up');
  });
}
