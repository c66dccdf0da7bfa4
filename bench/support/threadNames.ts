/**
 * Loaded into every thread of a process before its program (`--import`): a thread sends its number
 * and its task to the main thread, so that `threadTimes` can name it. Linux only.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

interface Told {
  readonly thread: string;
  readonly file: string;
}

const TICK_MS = 10;
const names = new Map<string, string>();
const channel = new BroadcastChannel('upcurve bench threads');

if (isMainThread) {
  names.set(numberOf(readlinkSync('/proc/thread-self')), 'main');
  channel.onmessage = (event: unknown) => {
    // trust: sent below
    const { thread, file } = (event as { readonly data: Told }).data;
    names.set(thread, nameOf(file));
  };
  channel.unref();
} else {
  const thread = numberOf(readlinkSync('/proc/thread-self'));
  channel.postMessage({ thread, file: process.argv[1] ?? '' });
  channel.close();
}

function numberOf(link: string): string {
  return link.split('/').at(-1) ?? '';
}

function nameOf(file: string): string {
  if (file.includes('/devnet/')) return 'ledger';
  if (file.includes('piscina')) return 'builder';
  if (file.includes('/store/')) return 'store';
  return file;
}

/** User and system time so far of each named thread that lives; garbage collection is apart. */
export function threadTimes(): Record<string, number> {
  const times: Record<string, number> = {};
  for (const [thread, name] of names) {
    times[name] = (times[name] ?? 0) + timeOf(thread);
  }
  return times;
}

function timeOf(thread: string): number {
  try {
    const text = readFileSync(`/proc/self/task/${thread}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    // The thread has ended, so its time is no longer reported.
    return 0;
  }
}
