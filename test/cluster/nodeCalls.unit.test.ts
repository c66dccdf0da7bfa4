/** Calls between nodes wait for each other's positions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Messages } from '../../src/cluster/nats/messages.ts';
import { type CallingNode, callHandler, NodeCaller } from '../../src/cluster/nodeCalls.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { hasReached } from '../../src/engine/runtime/position.ts';

const messages = new Messages();
const CALL = { name: 'submit', input: 'tx', mayRepeat: true, whenBehind: 'retry' } as const;

const [EPOCH, LATER] = ['1-a', '2-b'];

/** A node at entry `seq`, which comes as far as `most` when it is awaited. */
function nodeAt(
  seq: number,
  most: number,
  epoch = EPOCH,
): CallingNode & { readonly awaited: number[] } {
  let applied = seq;
  const awaited: number[] = [];
  return {
    awaited,
    clock: systemClock,
    applied: () => ({ epoch, seq: applied }),
    async reached(wanted) {
      awaited.push(wanted.seq);
      if (!hasReached({ epoch, seq: most }, wanted)) throw new Error('it stops before that entry');
      applied = wanted.epoch === epoch ? Math.max(applied, wanted.seq) : most;
    },
  };
}

function sent(seq: number, epoch: string | undefined = EPOCH): Uint8Array {
  return Buffer.from(JSON.stringify({ name: 'submit', input: 'tx', epoch, seq }));
}

function replyOf(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString());
}

test('a call is answered from the position of its caller, or from a later one', async () => {
  const node = nodeAt(5, 10);
  const found: number[] = [];
  const submit = async () => found.push(node.applied().seq);
  const methods = new Map([['submit', submit]]);
  const handle = callHandler(methods, node, (_, error) => assert.fail(String(error)), messages);
  assert.deepEqual(replyOf(await handle(sent(9))), { epoch: EPOCH, seq: 9, output: 1 });
  assert.deepEqual(found, [9], 'the method ran at that position');
  const { failure } = replyOf(await handle(sent(11))) as { failure: { cause: string } };
  assert.equal(failure.cause, 'NOT_READY');
  assert.deepEqual(found, [9], 'and does not run before it');
});

test('a caller has the effect of its call before it answers', async () => {
  const send = async () => Buffer.from('{"seq":9,"output":"done"}');
  const [near, far] = [nodeAt(5, 10), nodeAt(5, 8)];
  assert.equal(await new NodeCaller(near, send, messages).ask(CALL), 'done');
  assert.deepEqual([near.awaited, near.applied().seq], [[9], 9]);
  const late = await new NodeCaller(far, send, messages).ask(CALL);
  assert.ok(late instanceof Failure && late.cause === 'NOT_READY');
  const build = { ...CALL, name: 'quote', whenBehind: 'answer' } as const;
  assert.equal(await new NodeCaller(far, send, messages).ask(build), 'done');
});

test('a later epoch has fewer entries, and is later all the same', async () => {
  const handlerOf = (node: CallingNode) => {
    const methods = new Map([['submit', async () => 'done']]);
    return callHandler(methods, node, (_, error) => assert.fail(String(error)), messages);
  };
  const behind = replyOf(await handlerOf(nodeAt(12, 12))(sent(9, LATER)));
  assert.equal((behind as { failure: { cause: string } }).failure.cause, 'NOT_READY');
  const ahead = replyOf(await handlerOf(nodeAt(9, 9, LATER))(sent(12)));
  assert.deepEqual(ahead, { epoch: LATER, seq: 9, output: 'done' });
  const send = async () => Buffer.from(`{"epoch":"${LATER}","seq":9,"output":"done"}`);
  const late = await new NodeCaller(nodeAt(12, 12), send, messages).ask(CALL);
  assert.ok(late instanceof Failure && late.cause === 'NOT_READY');
  const same = nodeAt(9, 9, LATER);
  assert.equal(await new NodeCaller(same, send, messages).ask(CALL), 'done');
});

test('a node of an older version names no epoch, and its numbers are of this one', async () => {
  const send = async () => Buffer.from('{"seq":9,"output":"done"}');
  assert.equal(await new NodeCaller(nodeAt(5, 10, LATER), send, messages).ask(CALL), 'done');
  const far = await new NodeCaller(nodeAt(5, 8, LATER), send, messages).ask(CALL);
  assert.ok(far instanceof Failure && far.cause === 'NOT_READY');
});
