/**
 * Servers of NATS that can be killed and whose disks can be changed, and a stream with a copy on
 * each: for `natsServers.ts`.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createInbox, type Msg, type NatsLink, nanos } from '../../src/cluster/nats/connection.ts';
import type { PublishResult } from '../../src/cluster/nats/publisher.ts';
import { AckPolicy, DeliverPolicy, deliveryOf, manager } from '../../src/cluster/nats/stream.ts';
import { sleep } from '../../src/engine/runtime/clock.ts';
import { ANSWER_MS, type NatsPlace, newStream, type StreamPlace, streamAt } from './nats.ts';

/** Actions of an operator on servers, and faults of their machines. */
export interface ServerControl {
  /** As streams name them. */
  readonly names: readonly string[];
  connect(scope: TestContext, name: string): Promise<NatsLink>;
  /** `kill -9`. */
  kill(name: string): Promise<void>;
  /** A stop that lets the server write its data first. */
  stop(name: string): Promise<void>;
  start(name: string): Promise<void>;
  /**
   * Copies the disk of a server that is down. The returned function overwrites the disk with that
   * copy.
   */
  copyDisk(name: string): Promise<() => Promise<void>>;
  /** In the bytes of the message `text`, on the disk of a server that is down. */
  flipBit(name: string, stream: string, text: string): Promise<void>;
  /** As many other servers, with little room. */
  crowded(scope: TestContext): Promise<CrowdedServers>;
}

interface CrowdedServers {
  connect(scope: TestContext): Promise<NatsLink>;
  /** They start again, with more room. */
  enlarge(): Promise<void>;
}

/** A stream, and the servers that have it. */
export interface Ring {
  readonly place: NatsPlace;
  readonly control: ServerControl;
  readonly name: string;
  at(server: string): Promise<StreamPlace>;
}

const LOOK_EVERY_MS = 200;
/** A server that has just started may not answer at all. */
const LOOK_ANSWER_MS = 1_500;
const MAX_LOOKS = 300;
const MAX_CONSUMERS = 40;

/** A stream with one copy on each server, each copy holding `texts`. */
export async function ringOf(
  scope: TestContext,
  place: NatsPlace,
  control: ServerControl,
  texts: readonly string[],
): Promise<Ring & { readonly name: string }> {
  const { name, publish } = await newStream(scope, place);
  for (const [index, text] of texts.entries()) {
    await untilStored(place, () => publish(text, { lastSequence: index }), index + 1);
  }
  const at = async (server: string) =>
    streamAt(await control.connect(scope, server), place.clock, name);
  const ring = { place, control, name, at };
  if (place.replicas === 3) {
    await eventually(place, () => textsOfCopies(ring), allHave(control, texts.join(' ')));
  }
  return ring;
}

/** Asks until the answer is as expected: a real server takes its time, and may say 503. */
export async function eventually<T>(
  place: NatsPlace,
  ask: () => Promise<T>,
  expected: T,
): Promise<void> {
  let said: unknown;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    said = await ask().catch((error) => error);
    try {
      assert.deepEqual(said, expected);
      return;
    } catch {
      await sleep(place.clock, LOOK_EVERY_MS);
    }
  }
  assert.deepEqual(said, expected);
}

/**
 * The answer to a message. Published again while there is none: a server that was just elected may
 * say that it leads before it takes messages.
 */
export async function answered(
  place: NatsPlace,
  publish: () => Promise<PublishResult>,
): Promise<PublishResult> {
  let said = await publish();
  for (let looks = 0; looks < MAX_LOOKS && said.result === 'lost'; looks += 1) {
    await sleep(place.clock, LOOK_EVERY_MS);
    said = await publish();
  }
  return said;
}

/** Publishes until it is at `seq`. An answer that was lost makes the next one a duplicate. */
export async function untilStored(
  place: NatsPlace,
  publish: () => Promise<PublishResult>,
  seq: number,
): Promise<void> {
  const ask = async () => {
    const said = await publish();
    return said.result === 'stored' ? said.seq : said;
  };
  await eventually<PublishResult | number>(place, ask, seq);
}

interface Roles {
  readonly leader: string;
  readonly others: readonly string[];
  readonly areCurrent: boolean;
}

async function roles({ name }: Ring, link: NatsLink): Promise<Roles> {
  const { cluster } = await (await manager(link, LOOK_ANSWER_MS)).streams.info(name);
  const { leader = '', replicas = [] } = cluster ?? {};
  const areCurrent = replicas.every(({ current, offline }) => current && offline !== true);
  return { leader, others: replicas.map((one) => one.name), areCurrent };
}

export async function untilLed(ring: Ring, link: NatsLink): Promise<void> {
  await eventually(ring.place, async () => (await roles(ring, link)).leader !== '', true);
}

/** Waits until the stream has a leader and `copies` copies that report to be current; names all. */
export async function untilWhole(ring: Ring, link: NatsLink, copies: number): Promise<Roles> {
  let seen: Roles = { leader: '', others: [], areCurrent: false };
  const look = async () => {
    seen = await roles(ring, link);
    return [seen.leader !== '', seen.others.length + 1, seen.areCurrent];
  };
  await eventually(ring.place, look, [true, copies, true]);
  return seen;
}

/** An operator sets the number of copies, and again while the servers refuse it. */
export async function setCopies(
  { place, name }: Pick<Ring, 'place' | 'name'>,
  link: NatsLink,
  copies: number,
): Promise<void> {
  const set = async () => {
    const { streams } = await manager(link, ANSWER_MS);
    return (await streams.update(name, { num_replicas: copies })).config.num_replicas;
  };
  await eventually(place, set, copies);
}

/** Lets the leader give up until `server` leads. */
export async function lead(ring: Ring, link: NatsLink, server: string): Promise<void> {
  const look = async () => {
    const { leader } = await roles(ring, link);
    if (leader !== server && leader !== '') {
      const subject = `$JS.API.STREAM.LEADER.STEPDOWN.${ring.name}`;
      await link.connection.request(subject, '', { timeout: LOOK_ANSWER_MS });
      await sleep(ring.place.clock, LOOK_EVERY_MS);
    }
    return leader;
  };
  await eventually(ring.place, look, server);
}

/** Code, number and text of the error; empty: it was done. */
export async function removePeer(
  { connection }: NatsLink,
  stream: string,
  peer: string,
): Promise<readonly [number, number, string] | readonly []> {
  const subject = `$JS.API.STREAM.PEER.REMOVE.${stream}`;
  const said = await connection.request(subject, JSON.stringify({ peer }), { timeout: ANSWER_MS });
  interface Answer {
    readonly error?: {
      readonly code: number;
      readonly err_code: number;
      readonly description: string;
    };
  }
  const { error } = said.json<Answer>();
  return error === undefined ? [] : [error.code, error.err_code, error.description];
}

export function allHave({ names }: ServerControl, texts: string): ReadonlyMap<string, string> {
  return sorted(new Map(names.map((name) => [name, texts])));
}

export function sorted(texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...texts].sort());
}

/**
 * Texts of the stream by server, read through consumers that live on each server's copy.
 */
export async function textsOfCopies(ring: Ring): Promise<ReadonlyMap<string, string>> {
  const { control, name, place } = ring;
  const texts = new Map<string, string>();
  const { link } = await ring.at(control.names[0] ?? '');
  const { consumers } = await manager(link, LOOK_ANSWER_MS);
  for (let made = 0; made < MAX_CONSUMERS && texts.size < place.replicas; made += 1) {
    const consumer = await consumers.add(name, {
      deliver_policy: DeliverPolicy.All,
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(10_000),
      mem_storage: true,
      num_replicas: 1,
    });
    const server = consumer.cluster?.leader ?? '';
    if (!texts.has(server)) texts.set(server, await textsOf(ring, link, consumer.name));
    await consumers.delete(name, consumer.name);
  }
  return sorted(texts);
}

async function textsOf({ name, place }: Ring, link: NatsLink, consumer: string): Promise<string> {
  const inbox = createInbox();
  const texts: string[] = [];
  const over = Promise.withResolvers<void>();
  const callback = (_error: unknown, message: Msg) => {
    if (deliveryOf(message) === null) over.resolve();
    else texts.push(message.string());
  };
  const subscription = link.connection.subscribe(inbox, { callback });
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${name}.${consumer}`;
  const request = JSON.stringify({ batch: 100, no_wait: true });
  link.connection.publish(subject, request, { reply: inbox });
  // 2.9 does not end a consumer that cannot read its copy.
  await Promise.race([over.promise, sleep(place.clock, 1_000)]);
  subscription.unsubscribe();
  return texts.join(' ');
}
