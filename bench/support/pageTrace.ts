/**
 * The work of a page's main thread, from the browser's own trace: each task with its wall time and
 * processor time, and the parts of long tasks. Memory, nodes and listeners after a forced
 * collection.
 */
import type { CDPSession, Page } from 'playwright-core';

export interface Task {
  readonly wallMs: number;
  /** Time of the thread itself: time spent waiting for a core does not count. */
  readonly cpuMs: number;
  /** For a long task: the time that each function spent itself, without its callees; most first. */
  readonly parts: readonly Part[];
}

export interface Part {
  /** As the trace calls it; of a call of ours with the function and its file. */
  readonly name: string;
  readonly wallMs: number;
  readonly cpuMs: number;
}

export interface Held {
  readonly heapMib: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** As `Trace Event Format` has it; times in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: {
    readonly name?: string;
    readonly data?: { readonly functionName?: string; readonly url?: string };
  };
}

const TASK = 'ThreadControllerImpl::RunTask';
const CATEGORIES = ['toplevel', 'devtools.timeline', 'v8'];
/** Longer tasks are looked into. */
const LONG_US = 50_000;
/** The report adds shorter parts of a task to the task itself. */
const MIN_PART_US = 500;

export class PageTrace {
  readonly #session: CDPSession;
  #events: TraceEvent[] = [];

  private constructor(session: CDPSession) {
    this.#session = session;
    session.on('Tracing.dataCollected', ({ value }) => {
      // trust: the browser writes trace events
      for (const event of value as unknown as readonly TraceEvent[]) {
        const isPart = event.ph === 'X' && (event.dur ?? 0) >= MIN_PART_US;
        if (event.name === TASK || event.ph === 'M' || isPart) this.#events.push(event);
      }
    });
  }

  static async of(page: Page): Promise<PageTrace> {
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.enable');
    return new PageTrace(session);
  }

  async begin(): Promise<void> {
    this.#events = [];
    const traceConfig = { includedCategories: CATEGORIES, excludedCategories: ['*'] };
    await this.#session.send('Tracing.start', { traceConfig, transferMode: 'ReportEvents' });
  }

  /** Events of the busiest main thread: the browser has other, idle ones. */
  async end(): Promise<readonly Task[]> {
    const over = new Promise((resolve) => this.#session.once('Tracing.tracingComplete', resolve));
    await this.#session.send('Tracing.end');
    await over;
    const mains = this.#events.filter(
      ({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain',
    );
    const threads = mains.map(({ pid, tid }) =>
      this.#events.filter((event) => event.pid === pid && event.tid === tid),
    );
    const busyUs = (events: readonly TraceEvent[]) =>
      events.reduce((sum, { name, dur = 0 }) => sum + (name === TASK ? dur : 0), 0);
    const [busiest = []] = threads.toSorted((a, b) => busyUs(b) - busyUs(a));
    const parts = busiest.filter(({ name }) => name !== TASK);
    return busiest.flatMap((event) => (event.name === TASK ? [taskOf(event, parts)] : []));
  }

  /** Memory of the page after everything collectable was collected. */
  async held(): Promise<Held> {
    await this.#session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.#session.send('Runtime.getHeapUsage');
    const { nodes, jsEventListeners } = await this.#session.send('Memory.getDOMCounters');
    return { heapMib: usedSize / 2 ** 20, nodes, listeners: jsEventListeners };
  }
}

/** Where the browser did not note the thread's time it was no more than the time on the wall. */
function taskOf(task: TraceEvent, parts: readonly TraceEvent[]): Task {
  const { ts, dur = 0, tdur = dur } = task;
  const isLong = dur > LONG_US;
  const inside = isLong ? parts.filter((part) => part.ts >= ts && part.ts < ts + dur) : [];
  return { wallMs: dur / 1000, cpuMs: tdur / 1000, parts: isLong ? ownTimes(task, inside) : [] };
}

/** Nested events, each without the events inside it; events of one name are added up. */
function ownTimes(task: TraceEvent, inside: readonly TraceEvent[]): Part[] {
  const own = new Map<string, { wallMs: number; cpuMs: number }>();
  const add = (event: TraceEvent, sign: 1 | -1, by: TraceEvent) => {
    const name = nameOf(event);
    const { dur = 0, tdur = dur } = by;
    const sum = own.get(name) ?? { wallMs: 0, cpuMs: 0 };
    sum.wallMs += (sign * dur) / 1000;
    sum.cpuMs += (sign * tdur) / 1000;
    own.set(name, sum);
  };
  const open: TraceEvent[] = [];
  const ordered = inside.toSorted((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0));
  for (const event of [task, ...ordered]) {
    while (open.length > 0 && endOf(open.at(-1)) <= event.ts) open.pop();
    const outer = open.at(-1);
    if (outer !== undefined) add(outer, -1, event);
    add(event, 1, event);
    open.push(event);
  }
  const all = Array.from(own, ([name, sum]) => ({ name, ...sum }));
  return all.sort((a, b) => b.wallMs - a.wallMs);
}

function endOf(event: TraceEvent | undefined): number {
  return event === undefined ? 0 : event.ts + (event.dur ?? 0);
}

function nameOf({ name, args }: TraceEvent): string {
  const { functionName, url } = args?.data ?? {};
  if (url === undefined || url === '') return name === TASK ? 'the task itself' : name;
  const file = url.slice(url.lastIndexOf('/') + 1);
  const called = functionName === undefined ? '' : `${functionName || 'a function'} of `;
  return `${name} ${called}${file}`;
}
