/**
 * Loaded into every thread of a program before it starts (`--import`). Each thread reports its heap
 * to the main thread; the main thread sends the heaps of all threads to the parent that asks.
 */
import { getHeapStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

/** A heap of one thread, in bytes: what objects take, and what V8 has taken of the system. */
export interface IsolateHeap {
  readonly thread: string;
  readonly usedBytes: number;
  readonly totalBytes: number;
}

const EVERY_MS = 5_000;
const channel = new BroadcastChannel('upcurve bench heaps');

function heapOf(thread: string): IsolateHeap {
  const { used_heap_size: usedBytes, total_heap_size: totalBytes } = getHeapStatistics();
  return { thread, usedBytes, totalBytes };
}

if (isMainThread) {
  const heaps = new Map<string, IsolateHeap>();
  channel.onmessage = (event: unknown) => {
    // trust: sent below
    const { data } = event as { readonly data: IsolateHeap };
    heaps.set(data.thread, data);
  };
  channel.unref();
  process.on('message', () => process.send?.([heapOf('main'), ...heaps.values()]));
  // Being asked keeps no program alive.
  process.channel?.unref();
} else {
  const name = (process.argv[1] ?? '').split('/').slice(-2).join('/');
  const tell = () => channel.postMessage(heapOf(name));
  channel.unref();
  setInterval(tell, EVERY_MS).unref();
}
