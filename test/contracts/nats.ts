/**
 * What our adapters rely on in NATS, run against each server and against the model of it by
 * `natsContract(name, place)`.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { NatsLink } from '../../src/cluster/nats/connection.ts';

export interface NatsPlace {
  connect(scope: TestContext): Promise<NatsLink>;
}

type Check = (behaviour: string, run: (scope: TestContext) => Promise<void>) => void;

export function natsContract(name: string, place: NatsPlace): void {
  const check: Check = (behaviour, run) => test(`${name}: ${behaviour}`, (scope) => run(scope));
  messages(check, place);
}

let subjects = 0;

/** One that no other test uses. */
function newSubject(): string {
  subjects += 1;
  return `subject${subjects}`;
}

function messages(check: Check, place: NatsPlace): void {
  check('a message reaches all subscribers, and one of each group', async (scope) => {
    const subject = newSubject();
    const links = await Promise.all([1, 2, 3].map(() => place.connect(scope)));
    const heard: string[] = [];
    for (const { connection } of links) {
      connection.subscribe(`${subject}.*`, { callback: () => void heard.push('all') });
      const callback = () => void heard.push('group');
      connection.subscribe(`${subject}.>`, { queue: 'group', callback });
    }
    await Promise.all(links.map(({ connection }) => connection.flush()));
    links[0]?.connection.publish(`${subject}.x`, 'text');
    await Promise.all(links.map(({ connection }) => connection.flush()));
    await Promise.all(links.map(({ connection }) => connection.flush()));
    assert.deepEqual(heard.sort(), ['all', 'all', 'all', 'group']);
  });

  check('a request is answered, or has no responders', async (scope) => {
    const subject = newSubject();
    const { connection } = await place.connect(scope);
    connection.subscribe(subject, {
      callback: (_error, message) => void message.respond(`heard ${message.string()}`),
    });
    const answer = await connection.request(subject, 'it', { timeout: 5_000 });
    assert.equal(answer.string(), 'heard it');
    const unheard = connection.request(newSubject(), '', { timeout: 5_000 });
    await assert.rejects(unheard, /no responders/);
  });

  check('a message larger than the server takes is refused before it is sent', async (scope) => {
    const { connection } = await place.connect(scope);
    const most = connection.info?.max_payload ?? 0;
    assert.throws(() => connection.publish(newSubject(), new Uint8Array(most + 1)), /max_payload/);
  });
}
