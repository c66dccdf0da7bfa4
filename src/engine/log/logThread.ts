/** The thread that owns the log's file. */
import { serveThread } from '../runtime/thread.ts';
import type { LogFileOptions } from './logFile.ts';
import { type LogCalls, logCalls } from './logOwner.ts';

await serveThread<LogFileOptions, LogCalls>(logCalls);
