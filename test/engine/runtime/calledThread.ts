/** A thread that runs the test's commands. */
import { Fault } from '../../../src/engine/runtime/assert.ts';
import { serveThread } from '../../../src/engine/runtime/thread.ts';

export type Ending = 'works' | 'fails' | 'hangs';

export interface TestCalls {
  add(one: bigint, other: bigint): bigint;
  /** Answered by the next `release`. */
  wait(): string;
  release(): void;
  failsWith(how: 'fault' | 'code' | 'text'): void;
  notCopied(): unknown;
  sizeOf(bytes: Uint8Array): number;
  dies(how: 'exit' | 'throw'): void;
  stop(): void;
}

await serveThread<{ readonly ending: Ending }, TestCalls, string>(({ ending }, report) => {
  let release = () => {};
  report('started');
  return {
    add: (one, other) => one + other,
    wait: () => {
      return new Promise((resolve) => {
        release = () => resolve('released');
      });
    },
    release: () => release(),
    failsWith: (how) => {
      const cause = new Error('the disk is gone');
      if (how === 'fault') throw new Fault('unreadableEntry', 'no entry', { cause });
      if (how === 'text') throw 'only text';
      throw Object.assign(new Error('full'), { code: 'SQLITE_FULL' });
    },
    notCopied: () => () => {},
    sizeOf: (bytes) => bytes.byteLength,
    dies: (how) => {
      if (how === 'exit') process.exit(3);
      queueMicrotask(() => {
        throw new Error('out of luck');
      });
    },
    stop: () => {
      if (ending === 'fails') throw new Error('the file stays open');
      if (ending === 'hangs') return new Promise(() => setInterval(() => {}, 1_000));
    },
  };
});
