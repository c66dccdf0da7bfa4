/**
 * The inside of a bench's process: named functions its parent may call, over the IPC channel.
 * `processes.ts` is the outside.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/**
 * The functions that a process offers to its parent; inputs and answers pass through structured
 * clone.
 */
export type Offers = Readonly<Record<string, (input: never) => unknown>>;

export interface Question {
  readonly number: number;
  readonly name: string;
  readonly input: unknown;
}

export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly number: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly number: number; readonly reason: string };

/** Answers questions until the parent lets go. */
export function offer(offers: Offers): void {
  const send = (reply: Reply) => process.send?.(reply);
  // trust: the parent's `Process.ask` sends nothing else, with the input that `name` takes
  process.on('message', async ({ number, name, input }: Question) => {
    try {
      const run = offers[name] as ((input: unknown) => unknown) | undefined;
      if (run === undefined) throw new Error(`nothing is offered under ${name}`);
      send({ kind: 'answer', number, value: await run(input) });
    } catch (error) {
      send({ kind: 'failure', number, reason: String(error) });
    }
  });
  process.on('disconnect', () => process.exit());
  send({ kind: 'ready' });
}

export interface Usage {
  readonly wallMs: number;
  /** User and system time of every thread. */
  readonly cpuUs: number;
  readonly loopDelayP99Ms: number;
  /** How long the loop was not waiting. */
  readonly loopBusyMs: number;
}

/** Measures this process from one `begin` to the next `end`. */
export function usageOffers() {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let startMs = 0;
  let startCpu = process.cpuUsage();
  let startLoop = performance.eventLoopUtilization();
  delay.enable();
  return {
    begin(): void {
      delay.reset();
      startMs = performance.now();
      startCpu = process.cpuUsage();
      startLoop = performance.eventLoopUtilization();
    },
    end(): Usage {
      const { user, system } = process.cpuUsage(startCpu);
      const wallMs = performance.now() - startMs;
      const loopDelayP99Ms = delay.percentile(99) / 1e6;
      const { active: loopBusyMs } = performance.eventLoopUtilization(startLoop);
      return { wallMs, cpuUs: user + system, loopDelayP99Ms, loopBusyMs };
    },
  };
}

/**
 * Watches the turns of the event loop, from `watchTurns` to `longestTurnMs`: the CPU that the main
 * thread took in one, but no more than it lasted: the system counts CPU in steps of 4 ms, and other
 * programs work meanwhile.
 */
export function turnOffers() {
  let isWatching = false;
  let longestMs = 0;
  let before = { ms: 0, cpuUs: 0 };
  const now = () => {
    const { user, system } = process.threadCpuUsage();
    return { ms: performance.now(), cpuUs: user + system };
  };
  const turn = () => {
    const after = now();
    const turnMs = Math.min(after.ms - before.ms, (after.cpuUs - before.cpuUs) / 1000);
    longestMs = Math.max(longestMs, turnMs);
    before = after;
    if (isWatching) setImmediate(turn);
  };
  return {
    watchTurns(): void {
      longestMs = 0;
      before = now();
      isWatching = true;
      setImmediate(turn);
    },
    longestTurnMs(): number {
      isWatching = false;
      return longestMs;
    },
  };
}
