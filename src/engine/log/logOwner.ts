/**
 * The log's file is open in one place, which waits for its disk: in a thread, so that the process
 * serves meanwhile, or in the caller, for commands that serve no requests (`inlineLogFile`).
 *
 * Guarantees: calls are answered in their order, each by what `LogFile` returns or throws. When a
 * thread dies, its waiting calls reject, and the next call starts another thread: entries that were
 * committed without an answer are found in the file.
 */
import { Fault } from '../runtime/assert.ts';
import { type Caller, type Handlers, RestartedThread } from '../runtime/thread.ts';
import { LogFile, type LogFileOptions } from './logFile.ts';

type FileCalls = Pick<
  LogFile,
  'span' | 'append' | 'read' | 'epochs' | 'forget' | 'restart' | 'structureFault'
>;

export interface LogCalls extends FileCalls {
  /** Closes the file. */
  stop(): void;
}

export interface LogOwner extends Caller<FileCalls> {
  close(): Promise<void>;
}

/** `threadLogFile` or `inlineLogFile`; a simulation hands in a slow or a failing one. */
export type OpenLogFile = (options: LogFileOptions) => LogOwner;

/** The file is opened by the first call, so that a refusal of the disk rejects that call. */
export function logCalls(options: LogFileOptions): Handlers<LogCalls> {
  let opened: LogFile | null = null;
  const file = () => {
    opened ??= new LogFile(options);
    return opened;
  };
  return {
    span: () => file().span(),
    append: (...values) => file().append(...values),
    read: (...values) => file().read(...values),
    epochs: () => file().epochs(),
    forget: (...values) => file().forget(...values),
    restart: (...values) => file().restart(...values),
    structureFault: () => file().structureFault(),
    stop: () => {
      opened?.close();
      opened = null;
    },
  };
}

export function inlineLogFile(options: LogFileOptions): LogOwner {
  const calls = logCalls(options);
  let isClosed = false;
  return {
    async call(name, values) {
      if (isClosed) throw new Fault('threadEnded', 'the log is closed');
      return await calls[name](...values);
    },
    async close() {
      isClosed = true;
      await calls.stop();
    },
  };
}

export function threadLogFile(data: LogFileOptions): LogOwner {
  const script = new URL('./logThread.ts', import.meta.url);
  const thread = new RestartedThread<LogCalls>({ script, data, name: "the log's thread" });
  return {
    call: (name, values) => thread.call(name, values),
    // Acknowledged entries are in the file, even if the thread ends badly.
    close: () => thread.stop().catch(() => {}),
  };
}
