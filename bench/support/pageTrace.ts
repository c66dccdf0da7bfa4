/**
 * What the main thread of a page does, as the browser's own trace has it: each task with its time
 * on the wall and its time on a processor. Memory after a forced collection.
 */
import type { CDPSession, Page } from 'playwright-core';

export interface Task {
  readonly wallMs: number;
  /** Time of the thread itself: what it waited for a core is not in it. */
  readonly cpuMs: number;
}

/** As `Trace Event Format` has it; times in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const TASK = 'ThreadControllerImpl::RunTask';

export class PageTrace {
  readonly #session: CDPSession;
  #events: TraceEvent[] = [];

  private constructor(session: CDPSession) {
    this.#session = session;
    session.on('Tracing.dataCollected', ({ value }) => {
      // trust: the browser writes trace events
      for (const event of value as unknown as readonly TraceEvent[]) {
        if (event.name === TASK || event.ph === 'M') this.#events.push(event);
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
    const traceConfig = { includedCategories: ['toplevel'], excludedCategories: ['*'] };
    await this.#session.send('Tracing.start', { traceConfig, transferMode: 'ReportEvents' });
  }

  /** Of the main thread that had the most to do: the browser has other, idle ones. */
  async end(): Promise<readonly Task[]> {
    const over = new Promise((resolve) => this.#session.once('Tracing.tracingComplete', resolve));
    await this.#session.send('Tracing.end');
    await over;
    const mains = this.#events.filter(
      ({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain',
    );
    const threads = mains.map(({ pid, tid }) =>
      this.#events.filter((event) => event.name === TASK && event.pid === pid && event.tid === tid),
    );
    const busyUs = (events: readonly TraceEvent[]) =>
      events.reduce((sum, { dur = 0 }) => sum + dur, 0);
    const [busiest = []] = threads.toSorted((a, b) => busyUs(b) - busyUs(a));
    // Where the browser did not note the thread's time it was no more than the time on the wall.
    return busiest.map(({ dur = 0, tdur = dur }) => ({ wallMs: dur / 1000, cpuMs: tdur / 1000 }));
  }

  async heapMib(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.#session.send('Runtime.getHeapUsage');
    return usedSize / 2 ** 20;
  }
}
