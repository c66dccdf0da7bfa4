/** Calls between nodes: whole answers of any length, refusals, limits, and a node that is gone. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CallClient, type CallClientLimits } from '../../../src/cluster/nats/callClient.ts';
import { CallServer, type CallServerLimits } from '../../../src/cluster/nats/callServer.ts';
import { callSubjects, MAX_CALL_BYTES } from '../../../src/cluster/nats/callWire.ts';
import { systemClock as clock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { marketName, NatsServer, PATIENT_MS } from '../../support/nats.ts';
import type { Scope } from '../../support/server.ts';
import { until, untilAsked } from '../../support/until.ts';

const nats = await NatsServer.start({ after });
const link = await nats.connect({ after });
const NEVER = new Promise<never>(() => {});

function bytesOf(length: number): Buffer {
  return Buffer.alloc(length, 'a piece of a long call; ');
}

function failed(answer: Uint8Array | Failure): Failure {
  assert.ok(answer instanceof Failure);
  return answer;
}

function text(answer: Uint8Array | Failure): string {
  return answer instanceof Failure
    ? `${answer.cause} ${answer.reason}`
    : String(Buffer.from(answer));
}

interface Answering {
  readonly server: CallServer;
  isAble: boolean;
  asked: number;
}

async function answeringNode(
  scope: Scope,
  market: string,
  address: string,
  handle: (bytes: Uint8Array) => Promise<Uint8Array>,
  limits: Partial<CallServerLimits> = {},
): Promise<Answering> {
  const own = await nats.connect(scope);
  const node: Omit<Answering, 'server'> = { isAble: true, asked: 0 };
  const server = new CallServer(
    {
      link: own,
      subjects: callSubjects(market),
      address,
      clock,
      handle: (bytes) => {
        found.asked += 1;
        return handle(bytes);
      },
      isAble: () => found.isAble,
      failed: () => {},
    },
    { checkMs: 5, stopMs: PATIENT_MS, ...limits },
  );
  const found: Answering = Object.assign(node, { server });
  server.start();
  scope.after(() => server.stop());
  await own.connection.flush();
  return found;
}

function asking(market: string, limits: Partial<CallClientLimits> = {}): CallClient {
  const patient = { takenMs: PATIENT_MS, deadlineMs: 4 * PATIENT_MS, ...limits };
  return new CallClient({ link, subjects: callSubjects(market), clock }, patient);
}

test('calls and answers of any length up to the limit arrive whole', async (scope) => {
  const market = marketName();
  const echo = async (bytes: Uint8Array) => Buffer.from(bytes).reverse();
  await answeringNode(scope, market, 'a', echo);
  const client = asking(market);
  for (const length of [0, 1, 524_288, 524_289, MAX_CALL_BYTES]) {
    const bytes = bytesOf(length);
    const answer = await client.call(bytes, true);
    assert.ok(!(answer instanceof Failure), text(answer));
    assert.ok(Buffer.from(bytes).reverse().equals(answer), `${length} bytes`);
  }
  const tooLong = await client.call(bytesOf(MAX_CALL_BYTES + 1), true);
  assert.equal(failed(tooLong).cause, 'PAYLOAD_TOO_LARGE');
});

test('a caller returns to the node that answered, then goes to another able one', async (scope) => {
  const market = marketName();
  const nodes = [];
  for (const name of ['a', 'b', 'c']) {
    nodes.push(await answeringNode(scope, market, name, async () => Buffer.from(name)));
  }
  const client = asking(market);
  const first = text(await client.call(Buffer.from('?'), true));
  for (let again = 0; again < 10; again += 1) {
    assert.equal(text(await client.call(Buffer.from('?'), true)), first);
  }
  const chosen = nodes['abc'.indexOf(first)];
  assert.ok(chosen !== undefined);
  chosen.isAble = false;
  const second = text(await client.call(Buffer.from('?'), false));
  assert.ok('abc'.includes(second) && second !== first, second);
  await nodes['abc'.indexOf(second)]?.server.stop();
  const third = text(await client.call(Buffer.from('?'), false));
  assert.ok('abc'.includes(third) && third !== first && third !== second, third);
  await nodes['abc'.indexOf(third)]?.server.stop();
  const none = failed(await client.call(Buffer.from('?'), false));
  assert.deepEqual([none.cause, none.reason, none.retryAfterSeconds], ['NOT_READY', 'NO_NODE', 1]);
  chosen.isAble = true;
  const asked = async () => text(await client.call(Buffer.from('?'), false));
  await untilAsked('it is asked again', asked, (said) => said === first);
});

test('both sides limit the calls under way', async (scope) => {
  const market = marketName();
  const gate = Promise.withResolvers<Uint8Array>();
  const node = await answeringNode(scope, market, 'a', () => gate.promise, { maxActive: 2 });
  const client = asking(market, { maxActive: 3 });
  const ask = () => client.call(Buffer.from('?'), true);
  const running = [ask(), ask()];
  await until('both are under way', () => node.asked === 2);
  const third = ask();
  const fourth = failed(await ask());
  assert.deepEqual([fourth.cause, fourth.message], ['OVERLOADED', 'this node asks for too much']);
  assert.equal(failed(await third).cause, 'OVERLOADED');
  assert.equal(node.asked, 2, 'a refused call has no effect');
  gate.resolve(Buffer.from('done'));
  assert.deepEqual((await Promise.all(running)).map(text), ['done', 'done']);
  await answeringNode(scope, `${market}b`, 'a', async () => Buffer.from('done'), {
    maxHeldBytes: 1_000_000,
  });
  const long = await asking(`${market}b`).call(bytesOf(2_000_000), true);
  assert.equal(failed(long).cause, 'OVERLOADED');
  assert.equal(text(await client.call(Buffer.from('?'), true)), 'done');
});

test('another node is called when one is silent, unless the call may have run', async (scope) => {
  const market = marketName();
  const subjects = callSubjects(market);
  const deaf = await nats.connect(scope);
  let heard = 0;
  deaf.connection.subscribe(subjects.any, {
    queue: 'able',
    callback: () => {
      heard += 1;
    },
  });
  await deaf.connection.flush();
  const client = asking(market, { takenMs: 50 });
  const once = failed(await client.call(Buffer.from('?'), false));
  assert.deepEqual([once.cause, once.reason], ['NOT_READY', 'NO_ANSWER']);
  await until('it was called', () => heard > 0);
  await deaf.connection.flush();
  assert.equal(heard, 1);
  assert.equal(failed(await client.call(Buffer.from('?'), true)).reason, 'NO_ANSWER');
  await until('it was called again and again', () => heard > 2);
  await deaf.connection.close();
  await answeringNode(scope, market, 'a', () => NEVER, { stopMs: 20 });
  const late = asking(market, { deadlineMs: 60 });
  assert.equal(failed(await late.call(Buffer.from('?'), true)).reason, 'NO_ANSWER');
});

test('without NATS calls fail at once, also those under way', async (scope) => {
  const own = await NatsServer.start(scope);
  const cut = await own.connect(scope);
  const patient = { takenMs: PATIENT_MS, deadlineMs: PATIENT_MS };
  const client = new CallClient({ link: cut, subjects: callSubjects('m'), clock }, patient);
  const deaf = await own.connect(scope);
  deaf.connection.subscribe(callSubjects('m').any, { callback: () => {} });
  await deaf.connection.flush();
  const running = client.call(Buffer.from('?'), true);
  await own.kill();
  assert.equal(failed(await running).reason, 'NO_CONNECTION');
  assert.equal(failed(await client.call(Buffer.from('?'), true)).reason, 'NO_CONNECTION');
});
