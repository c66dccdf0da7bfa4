/**
 * A stranger with the right to publish sends garbage on every subject of a market while three nodes
 * run: no node ends, and no position moves beyond the end of the log.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { headers, type NatsLink } from '../../src/cluster/nats/connection.ts';
import { manager, NatsStream } from '../../src/cluster/nats/stream.ts';
import { type Entry, openEntry, sealEntry } from '../../src/engine/log/entry.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { webhookEnv } from '../api/webhooks/market.ts';
import { LONG_ONLY } from '../support/long.ts';
import { NatsServer } from '../support/nats.ts';
import { temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { newMarket, same, startNode, type TestMarket, trade } from './nodes.ts';

const SEED = Number(process.env.SEED ?? randomInt(2 ** 31));
const LIMIT_MS = 90_000;
const HASH = 'ab'.repeat(32);
const HUGE = Number.MAX_SAFE_INTEGER;

/** Bytes that no node of any market writes. */
const GARBAGE: readonly (string | Uint8Array)[] = [
  '',
  'null',
  'not json',
  '[]',
  '{}',
  '0',
  '"text"',
  `{"beginsAt":${HUGE},"hash":"aa"}`,
  `{"node":null,"epoch":"9-x","term":1,"seq":${HUGE}}`,
  `{"node":"n","subject":{},"token":1,"aheadMs":"1"}`,
  `{"version":1,"checkpoint":null,"state":"x"}`,
  `{"name":"x","nuid":">","chunks":1e300}`,
  `{"name":"submit","input":null,"seq":-1}`,
  `{"webhook":{"id":7},"progress":[]}`,
  `{"version":4,"epoch":"1-x","seq":${HUGE},"term":1e99,"payload":{"kind":"block"}}`,
  '['.repeat(5_000),
  new Uint8Array([0xff, 0xfe, 0x00, 0x80]),
  new Uint8Array(200_000).fill(0x7b),
];

/** Subjects of the market outside the log. */
function subjectsOf(market: string, node: string): readonly string[] {
  const values = ['leader', `process.${node}`, `node.${node}`, 'process.stranger', 'node.stranger'];
  const files = ['files', 'images'].flatMap((store) => [
    `$O.upcurve-${store}.M.${Buffer.from('snapshot-1-x-9.json').toString('base64url')}`,
    `$O.upcurve-${store}.C.stranger`,
  ]);
  return [
    ...values.map((key) => `$KV.${market}-nodes.${key}`),
    ...['webhook.a.b', 'changed'].map((key) => `$KV.${market}-webhooks.${key}`),
    ...files,
    `${market}-leader`,
    `${market}-calls.any`,
  ];
}

function send(link: NatsLink, subject: string, data: string | Uint8Array): void {
  const pieces = headers();
  pieces.set('Upcurve-Pieces', '1');
  link.connection.publish(subject, data, { headers: pieces, reply: 'stranger.inbox' });
}

async function startThree(scope: Parameters<typeof startNode>[0], market: TestMarket) {
  const nodes = [];
  for (const name of ['n1', 'n2', 'n3']) {
    nodes.push(await startNode(scope, market, name, temporaryDirectory(), webhookEnv()));
  }
  const failures: string[] = [];
  for (const { app } of nodes) void app.failed.then((why) => failures.push(why));
  return { nodes, failures };
}

test('garbage on every subject ends no node, and moves no position', LONG_ONLY, async (scope) => {
  const server = await NatsServer.start(scope);
  const market = await newMarket(scope, server, 50);
  const { nodes, failures } = await startThree(scope, market);
  const [first, second] = nodes;
  assert.ok(first !== undefined && second !== undefined);
  await trade(first, 2);
  await same(...nodes);
  const link = await server.connect(scope);
  const rng = seededRng(SEED);
  const pick = <T>(all: readonly T[]): T =>
    all[Math.floor(rng.unit() * all.length)] ?? assert.fail();

  const subjects = subjectsOf('upcurve', 'n1');
  for (const subject of subjects) for (const data of GARBAGE) send(link, subject, data);
  for (let count = 0; count < 200; count += 1) send(link, pick(subjects), pick(GARBAGE));
  await link.connection.flush();
  await trade(second, 2);
  await same(...nodes);
  assert.deepEqual(failures, [], `SEED=${SEED}`);

  // In the log itself: a new epoch begins behind the existing entries.
  const forged = [
    ['notice', `{"beginsAt":${HUGE},"hash":"aa"}`],
    ['notice', `{"beginsAt":${HUGE},"hash":"${HASH}"}`],
    ['time', pick(GARBAGE)],
    ['t1-stranger', pick(GARBAGE)],
    ['epoch', pick(GARBAGE)],
  ] as const;
  for (const [kind, data] of forged) {
    const { epoch, seq } = first.app.node.applied();
    send(link, `upcurve.entry.${kind}`, data);
    await link.connection.flush();
    const isNew = async () => nodes.every(({ app }) => app.node.applied().epoch !== epoch);
    await untilAsked(`an epoch begins after ${kind}, SEED=${SEED}`, isNew, (yes) => yes, LIMIT_MS);
    await trade(first, 1);
    await same(...nodes);
    const moved = first.app.node.applied().seq - seq;
    assert.ok(moved < 2_000, `${kind} moved the position by ${moved}, SEED=${SEED}`);
  }
  assert.deepEqual(failures, [], `SEED=${SEED}`);
  // Whichever node opened an epoch read the notice.
  const texts = nodes.map(async ({ url }) => (await fetch(`${url}/metrics`)).text());
  const metrics = (await Promise.all(texts)).join('\n');
  for (const kind of ['lease', 'announcement', 'notice', 'entry']) {
    assert.match(
      metrics,
      new RegExp(`upcurve_nats_messages_dropped_total\\{kind="${kind}"\\} [1-9]`),
    );
  }
});

/** Entries that fit by number and hash, as often as each is written, and what nodes must not do. */
const UNFIT: Readonly<Record<string, readonly [times: number, (before: Entry) => object]>> = {
  'is refused in each epoch': [4, () => ({ payload: { kind: 'rollback', toSeq: 0 } })],
  'begins an epoch of a version to come': [
    1,
    ({ epoch }) => ({
      ...{ epoch: after(epoch), version: 1_000_000 },
      payload: { kind: 'epoch', reason: 'new' },
    }),
  ],
  'begins an epoch from entries that are not there': [
    1,
    ({ epoch, seq }) => ({
      epoch: after(epoch),
      payload: { kind: 'epoch', reason: 'rollback', base: { seq: seq + 1_000 } },
    }),
  ],
  'begins an epoch from a state that is not there': [
    2,
    ({ epoch, seq }) => ({
      epoch: after(epoch),
      payload: { kind: 'epoch', reason: 'log lost', base: { seq, stateHash: HASH } },
    }),
  ],
};

function after(epoch: string): string {
  return `${Number.parseInt(epoch, 10) + 1}-stranger`;
}

test('entries that fit and cannot be applied end no node', async (scope) => {
  const server = await NatsServer.start(scope);
  const market = await newMarket(scope, server, 50);
  const { nodes, failures } = await startThree(scope, market);
  const [first] = nodes;
  assert.ok(first !== undefined);
  const link = await server.connect(scope);
  const stream = new NatsStream(link, await manager(link), 'upcurve');
  /** A busy machine may answer late. */
  const newest = () => {
    const ask = async () => {
      const message = (await stream.lastOf('upcurve.entry.*').catch(() => null)) ?? null;
      return message === null ? null : openEntry(Buffer.from(message.data).toString());
    };
    return untilAsked('the end of the log', ask, (found) => found !== null, LIMIT_MS);
  };
  for (const [what, [times, fieldsOf]] of Object.entries(UNFIT)) {
    await trade(first, 1);
    await same(...nodes);
    let last = (await newest()) ?? assert.fail();
    const fields = fieldsOf(last.entry);
    for (let time = 1; time <= times; time += 1) {
      const { entry, hash } = last;
      const next = { ...entry, seq: entry.seq + 1, prevEntryHash: hash, ...fields };
      send(link, 'upcurve.entry.stranger', sealEntry(next as Entry).text);
      // The next one is behind the first entry of the epoch without this one.
      const isBegun = async () => {
        last = (await newest()) ?? assert.fail();
        return last.entry.seq > next.seq && last.entry.payload.kind === 'epoch';
      };
      const isOver = async () => (await isBegun()) || first.app.node.applied().seq > next.seq;
      await untilAsked(`an epoch without what ${what}`, isOver, (yes) => yes, LIMIT_MS);
    }
    await same(...nodes);
  }
  await trade(first, 1);
  await same(...nodes);
  assert.deepEqual(failures, []);
});
