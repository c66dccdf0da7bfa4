/** A background loop over time that the test moves. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Task } from '../../../src/engine/runtime/task.ts';
import { HandClock } from '../../support/handClock.ts';

/** A task whose loop records its steps. */
function noting(loop: (task: Task, note: (what: string) => void) => Promise<void>) {
  const clock = new HandClock();
  const notes: string[] = [];
  const note = (what: string) => notes.push(what);
  const failed = (error: unknown) => note(`failed: ${String(error)}`);
  const task = new Task({ clock, failed });
  const start = () => task.start(() => loop(task, note).finally(() => note('ended')));
  /** Records since the last call. */
  const news = async () => {
    await clock.advance(0);
    return notes.splice(0);
  };
  return { clock, task, start, news };
}

describe('a task', () => {
  test('repeats after each pause, until it is stopped', async () => {
    const { clock, task, start, news } = noting(async (self, note) => {
      do note('look');
      while (await self.pause(100));
    });
    start();
    assert.deepEqual(await news(), ['look']);
    await clock.advance(99);
    assert.deepEqual(await news(), []);
    await clock.advance(201);
    assert.deepEqual(await news(), ['look', 'look', 'look']);
    await task.stop();
    assert.deepEqual(await news(), ['ended']);
    await clock.advance(1_000);
    assert.deepEqual(await news(), []);
  });

  test('a stop ends a pause and a wait at once', async () => {
    const pausing = noting(async (self, note) => note(String(await self.pause(1_000_000))));
    const waiting = noting(async (self, note) => note(String(await self.untilWoken())));
    for (const { task, start, news } of [pausing, waiting]) {
      start();
      assert.deepEqual(await news(), []);
      await task.stop();
      assert.deepEqual(await news(), ['false', 'ended']);
      assert.equal(task.signal.aborted, true);
    }
  });

  test('stop resolves when the loop has ended, every call of it', async () => {
    const inHand = Promise.withResolvers<void>();
    const { task, start, news } = noting(async (self, note) => {
      await inHand.promise;
      note(`stopping: ${self.isStopping}`);
    });
    start();
    const stopped: number[] = [];
    void task.stop().then(() => stopped.push(1));
    void task.stop().then(() => stopped.push(2));
    assert.deepEqual(await news(), []);
    assert.deepEqual(stopped, []);
    inHand.resolve();
    assert.deepEqual(await news(), ['stopping: true', 'ended']);
    assert.deepEqual(stopped, [1, 2]);
    await task.stop();
  });

  test('is started once, and not at all after a stop', async () => {
    const loop = async (self: Task, note: (what: string) => void) => {
      note('run');
      await self.untilWoken();
    };
    const { task, start, news } = noting(loop);
    start();
    assert.throws(start, /started once/);
    await task.stop();
    assert.deepEqual(await news(), ['run', 'ended']);

    const early = noting(loop);
    await early.task.stop();
    early.start();
    assert.deepEqual(await early.news(), []);
  });

  test('a wake ends the wait, not a pause', async () => {
    const { clock, task, start, news } = noting(async (self, note) => {
      await self.untilWoken();
      note('woken');
      await self.pause(100);
      note('paused');
      await self.untilWoken();
      note('woken');
    });
    start();
    task.wake();
    assert.deepEqual(await news(), ['woken']);
    task.wake();
    assert.deepEqual(await news(), []);
    await clock.advance(100);
    // The wake that came during the pause is not lost.
    assert.deepEqual(await news(), ['paused', 'woken', 'ended']);
  });

  test('a wake before the wait ends it, once however many there were', async () => {
    const { clock, task, start, news } = noting(async (self, note) => {
      while (await self.untilWoken(100)) note('round');
    });
    task.wake();
    task.wake();
    start();
    assert.deepEqual(await news(), ['round']);
    await clock.advance(99);
    assert.deepEqual(await news(), []);
    await clock.advance(1);
    assert.deepEqual(await news(), ['round']);
    await task.stop();
  });

  test('a wake takes nothing from the time of the next wait', async () => {
    const { clock, task, start, news } = noting(async (self, note) => {
      await self.untilWoken(100);
      note('first');
      await self.untilWoken(1_000);
      note('second');
    });
    start();
    task.wake();
    assert.deepEqual(await news(), ['first']);
    await clock.advance(999);
    assert.deepEqual(await news(), []);
    await clock.advance(1);
    assert.deepEqual(await news(), ['second', 'ended']);
  });

  test('an error ends the loop and is reported; stop resolves all the same', async () => {
    const { task, start, news } = noting(async () => {
      throw new Error('broken');
    });
    start();
    assert.deepEqual(await news(), ['ended', 'failed: Error: broken']);
    await task.stop();
  });

  test('where no one takes the error, the end of the loop rejects with it', async () => {
    const task = new Task({ clock: new HandClock() });
    task.start(async () => {
      throw new Error('broken');
    });
    await assert.rejects(task.ended, /broken/);
    await assert.rejects(task.stop(), /broken/);
  });

  test('an interruption by a stop is no failure', async () => {
    const { task, start, news } = noting(async (self) => {
      await self.pause(100);
      self.signal.throwIfAborted();
    });
    start();
    await task.stop();
    assert.deepEqual(await news(), ['ended']);
  });

  test('a signal from outside stops it too', async () => {
    const clock = new HandClock();
    const outer = new AbortController();
    const task = new Task({ clock, signal: outer.signal });
    const ended = Promise.withResolvers<boolean>();
    task.start(async () => ended.resolve(await task.pause(1_000)));
    outer.abort();
    assert.equal(await ended.promise, false);
    await task.stop();

    const late = new Task({ clock, signal: outer.signal });
    late.start(() => assert.fail('its signal was aborted before it started'));
    await late.stop();
  });
});
