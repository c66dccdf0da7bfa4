/**
 * Threads whose results can wait a little leave the processor to the threads that sockets and
 * requests wait for. It matters where there are fewer cores than busy threads, and costs nothing
 * elsewhere.
 */
import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';

/** Linux: a link to the thread that reads it. */
const OWN_THREAD = '/proc/thread-self';
/** About a tenth of a core that other threads want too; a whole core if it is idle. */
const MORE_NICE = 10;
const MAX_NICE = 19;

/** Lowers the calling thread's priority, for good. Best effort: only promptness depends on it. */
export function lowerPriority(): void {
  try {
    const threadId = Number(basename(readlinkSync(OWN_THREAD)));
    setPriority(threadId, Math.min(MAX_NICE, getPriority(threadId) + MORE_NICE));
  } catch {
    // Not Linux, or a sandbox that refuses it.
  }
}
