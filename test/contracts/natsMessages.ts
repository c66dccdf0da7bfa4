/** The part of the contract of NATS that is about messages that no stream stores. */
import assert from 'node:assert/strict';
import type { NatsLink } from '../../src/cluster/nats/connection.ts';
import { type Clock, sleep } from '../../src/engine/runtime/clock.ts';
import { ANSWER_MS, type Check, type NatsPlace, newName } from './nats.ts';

export function messagesContract(check: Check, place: NatsPlace): void {
  check('a message reaches all subscribers, and one of each group', async (scope) => {
    const subject = newName();
    const links = await Promise.all([1, 2, 3].map(() => place.connect(scope)));
    const heard: string[] = [];
    for (const { connection } of links) {
      connection.subscribe(`${subject}.*`, { callback: () => void heard.push('all') });
      const callback = () => void heard.push('group');
      connection.subscribe(`${subject}.>`, { queue: 'group', callback });
    }
    await subscriptionsKnown(links, place.clock);
    links[0]?.connection.publish(`${subject}.x`, 'text');
    while (heard.length < 4) await sleep(place.clock, 10);
    await Promise.all(links.map(({ connection }) => connection.flush()));
    assert.deepEqual(heard.sort(), ['all', 'all', 'all', 'group']);
  });

  check('a request is answered, or has no responders', async (scope) => {
    const subject = newName();
    const { connection } = await place.connect(scope);
    connection.subscribe(subject, {
      callback: (_error, message) => void message.respond(`heard ${message.string()}`),
    });
    const answer = await connection.request(subject, 'it', { timeout: ANSWER_MS });
    assert.equal(answer.string(), 'heard it');
    const unheard = connection.request(newName(), '', { timeout: ANSWER_MS });
    await assert.rejects(unheard, /no responders/);
  });

  check('a drained subscription takes what was sent before', async (scope) => {
    const subject = newName();
    const { connection } = await place.connect(scope);
    const heard: string[] = [];
    const callback = (_error: unknown, message: { string(): string }) =>
      void heard.push(message.string());
    const subscription = connection.subscribe(subject, { callback });
    connection.publish(subject, 'before');
    await subscription.drain();
    connection.publish(subject, 'after');
    await connection.flush();
    assert.deepEqual(heard, ['before']);
  });

  check('a message larger than the server takes is refused before it is sent', async (scope) => {
    const { connection } = await place.connect(scope);
    const most = connection.info?.max_payload ?? 0;
    assert.throws(() => connection.publish(newName(), new Uint8Array(most + 1)), /max_payload/);
  });

  check('a closed connection ends its requests and its status', async (scope) => {
    const subject = newName();
    const link = await place.connect(scope);
    link.connection.subscribe(subject, { callback: () => {} });
    const request = link.connection.request(subject, '', { timeout: ANSWER_MS });
    const ended = assert.rejects(request, /closed/);
    const closed = new Promise((resolve) => {
      link.onStatus(({ status }) => status === 'closed' && resolve(status));
    });
    await link.connection.close();
    await Promise.all([ended, closed]);
    assert.equal(link.connected, false);
    assert.throws(() => link.connection.publish(subject, ''), /closed/);
  });
}

/**
 * Servers of a cluster tell each other their subscriptions, in order, after the client that
 * subscribed has its answer. Resolves when a request of the first link reaches every other link.
 */
async function subscriptionsKnown(links: readonly NatsLink[], clock: Clock): Promise<void> {
  const [first, ...others] = links;
  for (const { connection } of others) {
    const subject = newName();
    connection.subscribe(subject, { callback: (_error, message) => void message.respond() });
    await connection.flush();
    while (!(await answers(first, subject))) await sleep(clock, 10);
  }
}

async function answers(link: NatsLink | undefined, subject: string): Promise<boolean> {
  try {
    await link?.connection.request(subject, '', { timeout: ANSWER_MS });
    return true;
  } catch (error) {
    if (error instanceof Error && /no responders/.test(error.message)) return false;
    throw error;
  }
}
