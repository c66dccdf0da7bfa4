/**
 * Who has the log's file open and waits for its disk: a thread, where a process serves meanwhile;
 * the caller itself in a command that serves no one (`inlineLogFile`).
 *
 * Guarantees: questions are answered in their order, each by what `LogFile` says or throws. When a
 * thread dies, what it had in hand rejects, and the next question starts another thread: what was
 * committed without an answer is found in the file.
 */
import { Worker } from 'node:worker_threads';
import { Fault } from '../runtime/assert.ts';
import { LogFile, type LogFileOptions } from './logFile.ts';

type Questions = Pick<
  LogFile,
  'span' | 'append' | 'read' | 'epochs' | 'forget' | 'restart' | 'structureFault'
>;

export type Question = keyof Questions;

export interface LogOwner {
  ask<Q extends Question>(
    what: Q,
    ...values: Parameters<Questions[Q]>
  ): Promise<ReturnType<Questions[Q]>>;
  close(): Promise<void>;
}

/** `threadLogFile` or `inlineLogFile`; a simulation hands in a slow or a failing one. */
export type OpenLogFile = (options: LogFileOptions) => LogOwner;

/** null: close the file. */
export type LogQuestion = { readonly what: Question; readonly values: readonly unknown[] } | null;

export type LogAnswer = { readonly value: unknown } | { readonly refused: Refusal };

export interface Refusal {
  readonly message: string;
  /** Of SQLite or the file system; empty: none. */
  readonly code: string;
  readonly isUnreadable: boolean;
}

export function inlineLogFile(options: LogFileOptions): LogOwner {
  let file: LogFile | null = null;
  let isClosed = false;
  return {
    async ask(what, ...values) {
      if (isClosed) throw closedError();
      file ??= new LogFile(options);
      return answer(file, what, values);
    },
    async close() {
      isClosed = true;
      file?.close();
      file = null;
    },
  };
}

export function answer<Q extends Question>(
  file: LogFile,
  what: Q,
  values: readonly unknown[],
): ReturnType<Questions[Q]> {
  // trust: `ask` takes the parameters of that method
  const method = file[what] as (...some: readonly unknown[]) => ReturnType<Questions[Q]>;
  return method.apply(file, [...values]);
}

export function threadLogFile(options: LogFileOptions): LogOwner {
  let thread: LogThread | null = null;
  let isClosed = false;
  return {
    async ask(what, ...values) {
      if (isClosed) throw closedError();
      if (thread === null || thread.isDead) thread = new LogThread(options);
      // trust: what that method returned in the thread
      return (await thread.ask({ what, values })) as ReturnType<Questions[typeof what]>;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await thread?.end();
    },
  };
}

/** It keeps nothing: more room for young objects costs memory and saves nothing. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16 };

class LogThread {
  isDead = false;
  readonly #worker: Worker;
  /** The thread answers in order. */
  readonly #waiting: PromiseWithResolvers<unknown>[] = [];

  constructor(options: LogFileOptions) {
    const script = new URL('./logThread.ts', import.meta.url);
    this.#worker = new Worker(script, { workerData: options, resourceLimits: RESOURCE_LIMITS });
    // The thread keeps the process alive only while it has something to do.
    this.#worker.unref();
    this.#worker.on('message', (said: LogAnswer) => {
      if (this.#waiting.length === 1) this.#worker.unref();
      const asked = this.#waiting.shift();
      if ('refused' in said) asked?.reject(errorOf(said.refused));
      else asked?.resolve(said.value);
    });
    this.#worker.on('error', (error) => this.#died(String(error)));
    this.#worker.on('exit', (code) => this.#died(`the log's thread ended with code ${code}`));
  }

  ask(question: LogQuestion): Promise<unknown> {
    const asked = Promise.withResolvers<unknown>();
    this.#waiting.push(asked);
    this.#worker.ref();
    this.#worker.postMessage(question);
    return asked.promise;
  }

  async end(): Promise<void> {
    // What is acknowledged is in the file, whatever becomes of its end.
    if (!this.isDead) await this.ask(null).catch(() => {});
    await this.#worker.terminate();
  }

  #died(message: string): void {
    this.isDead = true;
    for (const { reject } of this.#waiting.splice(0)) reject(withCode(message, 'WRITER_DIED'));
  }
}

export function refusalOf(error: unknown): Refusal {
  const isUnreadable = error instanceof Fault && error.kind === 'unreadableEntry';
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return { message, code, isUnreadable };
}

function errorOf({ message, code, isUnreadable }: Refusal): Error {
  if (isUnreadable) return new Fault('unreadableEntry', message);
  return code === '' ? new Error(message) : withCode(message, code);
}

function closedError(): Error {
  return withCode('the log is closed', 'WRITER_CLOSED');
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
