/**
 * Replacements for a node's threads, in the simulation's thread: each takes time between a
 * question, its effect and its answer, so that a kill or the thread's death may come in between.
 */

import { evaluate } from '../../../src/cardano/ledger/scalus.ts';
import { assemble } from '../../../src/cardano/transactions/assemble.ts';
import type {
  BuilderThreads,
  StartBuilders,
} from '../../../src/cardano/transactions/builderThreads.ts';
import type { ChainAccess, OpenSocket, TextSocket } from '../../../src/chain/access.ts';
import { OgmiosClient } from '../../../src/chain/ogmios/ogmiosClient.ts';
import type { OgmiosThread, StartOgmiosThread } from '../../../src/chain/ogmios/ogmiosThread.ts';
import {
  inlineLogFile,
  type LogOwner,
  type OpenLogFile,
} from '../../../src/engine/log/logOwner.ts';
import { Fault } from '../../../src/engine/runtime/assert.ts';
import type { Clock } from '../../../src/engine/runtime/clock.ts';
import {
  inlineWriter,
  type OpenWriter,
  type StateWriter,
} from '../../../src/engine/store/stateWriter.ts';
import type { SimProcess, VirtualTime } from '../machine/virtualTime.ts';

/** `writer`: of the log, and of the state. */
export type ThreadName = 'ogmios' | 'writer' | 'builder';

interface HostPlace {
  readonly time: VirtualTime;
  readonly process: SimProcess;
  readonly clock: Clock;
  /** null: this run has none. */
  readonly chain: ChainAccess | null;
}

/** A message to a thread, or from it. */
const MESSAGE_MS = 0.05;
const APPEND_MS = 0.5;
const WRITE_MS = 1;
const BUILD_MS = 15;

/** Answers in order, each some time after its effect. Once it has died it answers nothing. */
class InlineThread {
  isDead = false;
  readonly #place: HostPlace;
  readonly #waiting = new Set<(error: Error) => void>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: HostPlace) {
    this.#place = place;
  }

  ask<T>(work: () => Promise<T> | T, effectMs: number): Promise<T> {
    const answered = Promise.withResolvers<T>();
    this.#waiting.add(answered.reject);
    const run = async () => {
      await this.#pass(effectMs);
      if (this.isDead) return;
      const outcome = await settle(work);
      await this.#pass(MESSAGE_MS);
      if (this.isDead) return;
      this.#waiting.delete(answered.reject);
      if ('error' in outcome) answered.reject(outcome.error);
      else answered.resolve(outcome.value);
    };
    this.#last = this.#last.then(run);
    return answered.promise;
  }

  die(error: Error): void {
    this.isDead = true;
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  #pass(ms: number): Promise<void> {
    const { time, process } = this.#place;
    return new Promise((resolve) => void time.at(process, ms, resolve));
  }
}

async function settle<T>(work: () => Promise<T> | T): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

export class InlineHost {
  readonly #place: HostPlace;
  readonly #writers = new Set<InlineThread>();
  readonly #builders = new Set<InlineThread>();
  readonly #readers = new Set<InlineReader>();

  constructor(place: HostPlace) {
    this.#place = place;
  }

  readonly logFile: OpenLogFile = (options) => {
    let open: { thread: InlineThread; file: LogOwner } | null = null;
    let isClosed = false;
    return {
      call: async (name, values) => {
        if (isClosed) throw new Fault('threadEnded', 'the log is closed');
        if (open === null || open.thread.isDead) {
          await open?.file.close();
          const thread = new InlineThread(this.#place);
          this.#writers.add(thread);
          open = { thread, file: inlineLogFile(options) };
        }
        const { thread, file } = open;
        return thread.ask(() => file.call(name, values), APPEND_MS);
      },
      close: async () => {
        if (isClosed) return;
        isClosed = true;
        const { thread, file } = open ?? {};
        if (thread?.isDead === false) await thread.ask(() => file?.close(), APPEND_MS);
        else await file?.close();
      },
    };
  };

  readonly stateWriter: OpenWriter = (options) => {
    let open: { thread: InlineThread; writer: StateWriter } | null = null;
    let isClosed = false;
    const ask = async (work: (writer: StateWriter) => Promise<void>) => {
      if (isClosed) throw new Fault('threadEnded', 'the state file is closed');
      if (open === null || open.thread.isDead) {
        await open?.writer.close();
        const thread = new InlineThread(this.#place);
        this.#writers.add(thread);
        open = { thread, writer: inlineWriter(options) };
      }
      const { thread, writer } = open;
      await thread.ask(() => work(writer), WRITE_MS);
    };
    return {
      write: (batch) => ask((writer) => writer.write(batch)),
      copy: (to) => ask((writer) => writer.copy(to)),
      close: async () => {
        if (isClosed) return;
        if (open !== null) await ask((writer) => writer.close());
        isClosed = true;
      },
    };
  };

  readonly builderThreads: StartBuilders = (terms): BuilderThreads => {
    let thread = new InlineThread(this.#place);
    this.#builders.add(thread);
    const rules = {
      parameters: terms.parameters,
      evaluate: (...[transaction, utxos]: Parameters<Evaluate>) =>
        evaluate(transaction, utxos, terms),
    };
    return {
      run: (plan, options) => {
        if (thread.isDead) {
          thread = new InlineThread(this.#place);
          this.#builders.add(thread);
        }
        const built = thread.ask(() => (plan === null ? null : assemble(plan, rules)), BUILD_MS);
        return options === undefined ? built : untilAborted(built, options.signal);
      },
      close: async () => {},
    };
  };

  readonly nodeReader: StartOgmiosThread = (options, { onNews, onEnd }) => {
    const { time, process, clock, chain } = this.#place;
    const thread = new InlineReader(clock, chain, (error) => {
      this.#readers.delete(thread);
      onEnd(error);
    });
    this.#readers.add(thread);
    const pass = (run: () => void) => {
      time.at(process, MESSAGE_MS, () => {
        if (!thread.isDead) run();
      });
    };
    const reader = new OgmiosClient(options, {
      clock: thread.clock,
      openSocket: thread.openSocket,
      report: (news) => {
        const copy = structuredClone(news);
        if (!thread.isDead) pass(() => onNews(copy));
      },
    });
    reader.start().catch((error: unknown) => {
      thread.die(error instanceof Error ? error : new Error(String(error)));
    });
    const call: OgmiosThread['call'] = (name, values) => {
      const copy = structuredClone(values);
      const answered = thread.waitsFor<Awaited<ReturnType<OgmiosThread['call']>>>();
      pass(async () => {
        const outcome = await settle(async () => await reader.calls[name](...copy));
        pass(() => {
          if ('error' in outcome) answered.reject(outcome.error);
          else answered.resolve(structuredClone(outcome.value));
        });
      });
      // trust: the handler of that name has answered
      return answered.promise as ReturnType<typeof call>;
    };
    const stop = async () => {
      if (!thread.isDead) await call('stop', []).catch(() => {});
      thread.die(null);
    };
    return { call, stop };
  };

  /** As when a thread runs out of memory, or throws. */
  killThread(which: ThreadName): void {
    const error = new Fault('threadEnded', `the ${which} thread died`);
    if (which === 'ogmios') for (const reader of [...this.#readers]) reader.die(error);
    else {
      const threads = which === 'writer' ? this.#writers : this.#builders;
      for (const thread of threads) thread.die(error);
      threads.clear();
    }
  }
}

type Evaluate = Parameters<typeof assemble>[1]['evaluate'];

/** The reader's timers and sockets end with it, like a thread's. */
class InlineReader {
  isDead = false;
  readonly clock: Clock;
  readonly openSocket: OpenSocket;
  readonly #sockets = new Set<TextSocket>();
  readonly #ended: (error: Error | null) => void;
  readonly #waiting = new Set<(error: Error) => void>();

  constructor(clock: Clock, chain: ChainAccess | null, ended: (error: Error | null) => void) {
    this.#ended = ended;
    const alive = (run: () => void) => () => {
      if (!this.isDead) run();
    };
    this.clock = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, run) => clock.after(delayMs, alive(run)),
      soon: (run) => clock.soon(alive(run)),
    };
    this.openSocket = (url, listener, options) => {
      if (chain === null) throw new Error('this simulation has no chain');
      const socket = chain.openSocket(
        url,
        {
          opened: alive(() => listener.opened()),
          received: (text) => this.isDead || listener.received(text),
          failed: (error) => this.isDead || listener.failed(error),
          closed: (code, reason) => {
            this.#sockets.delete(socket);
            if (!this.isDead) listener.closed(code, reason);
          },
        },
        options,
      );
      this.#sockets.add(socket);
      return socket;
    };
  }

  /** An answer; it rejects when the thread ends before. */
  waitsFor<T>(): PromiseWithResolvers<T> {
    const answered = Promise.withResolvers<T>();
    const rejects = (error: Error) => answered.reject(error);
    this.#waiting.add(rejects);
    if (this.isDead) rejects(new Fault('threadEnded', 'the thread has ended'));
    const forget = () => this.#waiting.delete(rejects);
    answered.promise.then(forget, forget);
    return answered;
  }

  /** null: it was stopped. */
  die(cause: Error | null): void {
    if (this.isDead) return;
    this.isDead = true;
    for (const socket of this.#sockets) socket.terminate();
    const error = new Fault('threadEnded', 'the thread has ended', { cause });
    for (const reject of this.#waiting) reject(error);
    this.#ended(cause);
  }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
