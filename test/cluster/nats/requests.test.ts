/** Requests between nodes: an answer, or a Failure that says what happened. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ask, serve } from '../../../src/cluster/nats/requests.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { marketName, NatsServer } from '../../support/nats.ts';

const server = await NatsServer.start({ after });
const link = await server.connect({ after });
const other = await server.connect({ after });
const bytes = (text: string) => Buffer.from(text);

function failed(answer: Uint8Array | Failure): Failure {
  assert.ok(answer instanceof Failure);
  return answer;
}

test('an answer comes back as bytes, a Failure as the same Failure', async (scope) => {
  const subject = marketName();
  const detail = { path: 'body.cbor', message: 'is not CBOR' };
  const more = { details: [detail], reason: 'INPUT_SPENT', status: 400, retryAfterSeconds: 3 };
  const refusal = new Failure('UTxO_SPENT', 'vergeben — 注文', more);
  const serving = serve(link, subject, async (question) => {
    const text = Buffer.from(question).toString();
    if (text === 'refuse') return refusal;
    if (text === 'throw') throw new Error('broken');
    return bytes(`said ${text}`);
  });
  scope.after(() => serving.stop());
  await link.connection.flush();
  const answer = await ask(other, subject, bytes('hello'));
  assert.ok(!(answer instanceof Failure));
  assert.equal(Buffer.from(answer).toString(), 'said hello');
  assert.deepEqual(await ask(other, subject, bytes('refuse')), refusal);
  assert.match(failed(await ask(other, subject, bytes('throw'))).message, /broken/);
});

test('nobody there, no answer in time, and no connection are told apart', async (scope) => {
  const subject = marketName();
  const nobody = failed(await ask(other, subject, bytes('a')));
  assert.deepEqual([nobody.cause, nobody.reason], ['NOT_READY', 'NO_LEADER']);
  const silent = serve(link, subject, () => new Promise(() => {}));
  await link.connection.flush();
  const late = failed(await ask(other, subject, bytes('a'), { timeoutMs: 50 }));
  assert.deepEqual([late.cause, late.reason], ['SERVER_ERROR', 'NO_ANSWER']);
  silent.stop();
  const own = await NatsServer.start(scope);
  const alone = await own.connect(scope);
  await own.kill();
  const cut = failed(await ask(alone, subject, bytes('a'), { timeoutMs: 100 }));
  assert.equal(cut.retry, true);
});

test('sizes and how many at once are limited on both sides', async (scope) => {
  const subject = marketName();
  const gate = Promise.withResolvers<Uint8Array>();
  let asked = 0;
  const handler = (question: Uint8Array) => {
    asked += 1;
    return question.length === 3 ? Promise.resolve(Buffer.alloc(11)) : gate.promise;
  };
  const serving = serve(link, subject, handler, { maxBytes: 10, maxActive: 2 });
  scope.after(() => serving.stop());
  await link.connection.flush();
  const long = Buffer.alloc(11);
  const here = failed(await ask(other, subject, long, { maxBytes: 10 }));
  assert.equal(here.cause, 'PAYLOAD_TOO_LARGE');
  assert.equal(failed(await ask(other, subject, long)).cause, 'PAYLOAD_TOO_LARGE');
  assert.equal(asked, 0);
  assert.match(failed(await ask(other, subject, bytes('abc'))).message, /11 bytes/);
  const two = [ask(other, subject, bytes('a')), ask(other, subject, bytes('b'))];
  assert.equal(failed(await ask(other, subject, bytes('c'))).cause, 'OVERLOADED');
  gate.resolve(bytes('done'));
  for (const answer of await Promise.all(two)) assert.ok(!(answer instanceof Failure));
  assert.ok(!((await ask(other, subject, bytes('d'))) instanceof Failure));
});
