/** Threads: calls and their answers, errors, news, and every way in which a thread ends. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { RestartedThread, Thread } from '../../../src/engine/runtime/thread.ts';
import type { Ending, TestCalls } from './calledThread.ts';

const script = new URL('./calledThread.ts', import.meta.url);

function start(scope: TestContext, ending: Ending = 'works') {
  const news: string[] = [];
  const ends: (Error | null)[] = [];
  const thread = new Thread<TestCalls, string>({
    script,
    data: { ending },
    name: "the test's thread",
    onNews: (text) => news.push(text),
    onEnd: (error) => ends.push(error),
  });
  const limit = { clock: systemClock, ms: 20 };
  scope.after(() => thread.stop(ending === 'hangs' ? limit : undefined).catch(() => {}));
  return { thread, news, ends, limit };
}

test('calls are answered each for itself, news come beside them', async (scope) => {
  const { thread, news } = start(scope);
  const waiting = thread.call('wait', []);
  assert.equal(await thread.call('add', [2n ** 64n, 1n]), 2n ** 64n + 1n);
  await thread.call('release', []);
  assert.equal(await waiting, 'released');
  assert.deepEqual(news, ['started']);
});

test('transferred memory is gone here', async (scope) => {
  const { thread } = start(scope);
  const bytes = new Uint8Array(1000);
  assert.equal(await thread.call('sizeOf', [bytes], [bytes.buffer]), 1000);
  assert.equal(bytes.byteLength, 0);
});

test('an error keeps message, stack, cause, code and kind', async (scope) => {
  const { thread } = start(scope);
  await assert.rejects(thread.call('failsWith', ['fault']), (error) => {
    assert.ok(isFault(error, 'unreadableEntry'));
    assert.equal(error.message, 'no entry');
    assert.match(error.stack ?? '', /calledThread\.ts/);
    assert.ok(error.cause instanceof Error);
    assert.equal(error.cause.message, 'the disk is gone');
    return true;
  });
  await assert.rejects(thread.call('failsWith', ['code']), {
    message: 'full',
    code: 'SQLITE_FULL',
  });
  await assert.rejects(thread.call('failsWith', ['text']), { message: 'only text' });
  await assert.rejects(thread.call('notCopied', []), { name: 'DataCloneError' });
  assert.equal(await thread.call('add', [1n, 2n]), 3n, 'it serves on');
});

for (const [how, cause] of [
  ['exit', "the test's thread ended with code 3"],
  ['throw', 'out of luck'],
] as const) {
  test(`calls reject when the thread ends by ${how}, and it says why`, async (scope) => {
    const { thread, ends } = start(scope);
    const ended = (error: unknown) => {
      assert.ok(isFault(error, 'threadEnded'));
      assert.ok(error.cause instanceof Error);
      assert.equal(error.cause.message, cause);
      return true;
    };
    const waiting = thread.call('wait', []);
    const dying = thread.call('dies', [how]);
    await assert.rejects(waiting, ended);
    await dying.catch(ended);
    await assert.rejects(thread.call('add', [1n, 1n]), ended);
    assert.deepEqual([thread.isEnded, ends.map((error) => error?.message)], [true, [cause]]);
    await thread.stop();
  });
}

test('a stop ends it without an error, again and again', async (scope) => {
  const { thread, ends } = start(scope);
  await Promise.all([thread.stop(), thread.stop()]);
  await thread.stop();
  assert.deepEqual(ends, [null]);
  await assert.rejects(thread.call('add', [1n, 1n]), { kind: 'threadEnded' });
});

test('a thread that does not stop in time is terminated', async (scope) => {
  const { thread, limit } = start(scope, 'hangs');
  await thread.call('add', [1n, 1n]);
  await assert.rejects(thread.stop(limit), /did not stop within 20 ms and was terminated/);
  assert.equal(thread.isEnded, true);
});

test('a stop that fails says why, and the thread ends all the same', async (scope) => {
  const { thread, ends } = start(scope, 'fails');
  await assert.rejects(thread.stop(), /the file stays open/);
  assert.deepEqual(ends, [null]);
});

test('the call after a death starts it again, until it is stopped', async () => {
  const thread = new RestartedThread<TestCalls>({ script, data: { ending: 'works' }, name: 'it' });
  assert.equal(await thread.call('add', [1n, 1n]), 2n);
  await thread.call('dies', ['exit']).catch(() => {});
  const again = () => thread.call('add', [1n, 1n]).catch(() => null);
  let answer = await again();
  while (answer === null) answer = await again();
  assert.equal(answer, 2n);
  await thread.stop();
  await assert.rejects(thread.call('add', [1n, 1n]), { kind: 'threadEnded' });
});
