/**
 * The part of the contract of NATS that is about guards of appends: appends that a server refuses
 * by itself, and how a copy that was added later treats guarded messages.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { copiesBehind } from '../../src/cluster/log/copies.ts';
import { headers } from '../../src/cluster/nats/connection.ts';
import { manager } from '../../src/cluster/nats/stream.ts';
import { sleep } from '../../src/engine/runtime/clock.ts';
import { ANSWER_MS, type Check, type NatsPlace, newStream } from './nats.ts';
import { eventually, setCopies } from './natsRing.ts';

const SETTLE_MS = 1_500;
const MAX_LOOKS = 20;

export function copiesContract(check: Check, place: NatsPlace): void {
  check('the successor of a lost message is refused by its subject', async (scope) => {
    const { publish, stream } = await newStream(scope, place);
    await publish('a', { lastSequence: 0, lastOfSubject: 0 }, 'one');
    await publish('b', { lastSequence: 1, lastOfSubject: 1 }, 'one');
    // Another writer took the place of our third message.
    await publish('c of another', { lastSequence: 2, lastOfSubject: 0 }, 'two');
    const late = await publish('d', { lastSequence: 3, lastOfSubject: 3 }, 'one');
    assert.deepEqual(late, {
      result: 'refused',
      code: 10071,
      description: 'wrong last sequence: 2',
    });
    assert.equal((await stream.state()).last, 3);
    // By the last sequence alone it would be stored.
    const alone = await publish('d', { lastSequence: 3 }, 'one');
    assert.deepEqual(alone, { result: 'stored', seq: 4, duplicate: false });
  });

  check('the next message of a subject may be published once the last is stored', async (scope) => {
    const { publish } = await newStream(scope, place);
    for (let seq = 1; seq <= 50; seq += 1) {
      const last = seq - 1;
      const put = () => publish(`t${seq}`, { lastSequence: last, lastOfSubject: last }, 'one');
      let said = await put();
      // 2.12 may say that the one before is in flight, a moment after it acknowledged it.
      for (
        let tries = 0;
        said.result === 'refused' && said.code === 10164 && tries < 50;
        tries += 1
      )
        said = await put();
      assert.deepEqual(said, { result: 'stored', seq, duplicate: false });
    }
  });

  if (place.replicas === 1) return;

  check('a copy that is added follows what expects sequences', async (scope) => {
    const grown = await grownStream(scope, place, 'sequences');
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      const behind = await grown.behind();
      if (behind?.length === 0) return;
    }
    assert.fail('a copy stays behind');
  });

  check('…and not what expects the id of the last message, until made again', async (scope) => {
    const { behind, jsm, name, link } = await grownStream(scope, place, 'ids');
    // Both copies stay behind, and call themselves current.
    await eventually(place, async () => (await behind())?.length, 2);
    const areCurrent = async () => {
      const { cluster } = await jsm.streams.info(name);
      return cluster?.replicas?.every(({ current }) => current);
    };
    await eventually(place, areCurrent, true);
    assert.equal((await behind())?.length ?? 2, 2);
    await setCopies({ place, name }, link, 1);
    await sleep(place.clock, SETTLE_MS);
    await setCopies({ place, name }, link, 3);
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      if ((await behind())?.length === 0) return;
    }
    assert.fail('a copy stays behind');
  });
}

/** 30 messages with one copy, then 50 with three. */
async function grownStream(scope: TestContext, place: NatsPlace, by: 'sequences' | 'ids') {
  const alone = { ...place, replicas: 1 as const };
  const { name, link, publish } = await newStream(scope, alone);
  const jsm = await manager(link, ANSWER_MS);
  let last = 0;
  const byId = async () => {
    const about = headers();
    about.set('Nats-Msg-Id', `id${last + 1}`);
    if (last > 0) about.set('Nats-Expected-Last-Msg-Id', `id${last}`);
    const options = { headers: about, timeout: ANSWER_MS };
    const said = await link.connection.request(`${name}.entry.one`, 'text', options);
    return said.json<{ readonly seq: number }>().seq > 0;
  };
  const bySequence = async () => {
    const said = await publish(`t${last + 1}`, { lastSequence: last, lastOfSubject: last }, 'one');
    return said.result === 'stored';
  };
  const append = by === 'ids' ? byId : bySequence;
  const appendUpTo = async (end: number) => {
    for (let tries = 0; last < end && tries < 10 * end; tries += 1) {
      if (await append().catch(() => false)) last += 1;
      else await sleep(place.clock, 50);
    }
    assert.equal(last, end);
  };
  await appendUpTo(30);
  await setCopies({ place, name }, link, 3);
  const isCurrent = async () => {
    const { cluster } = await jsm.streams.info(name);
    const { replicas = [] } = cluster ?? {};
    return replicas.length === 2 && replicas.every(({ current }) => current);
  };
  for (let looks = 0; looks < 200; looks += 1) {
    if (await isCurrent().catch(() => false)) break;
    await sleep(place.clock, 100);
  }
  await appendUpTo(80);
  const pause = () => sleep(place.clock, SETTLE_MS);
  const behind = () => copiesBehind(jsm, name, pause).catch(() => null);
  return { name, link, jsm, behind };
}
