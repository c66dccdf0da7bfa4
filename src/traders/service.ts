/**
 * The simulated traders as a service of a devnet: a separate thread that knows the server only by
 * its public address.
 *
 * Never: takes the server down. A thread that dies is reported and restarted, each time after a
 *        longer delay.
 */
import { Backoff } from '../engine/runtime/backoff.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';
import { Thread } from '../engine/runtime/thread.ts';
import type { TraderConfig } from './config.ts';
import type { CrowdCalls, Report, ThreadOptions } from './messages.ts';

/** Results of the traders' actions; for log and metrics. */
interface TradersObserver {
  traderActed(trader: string, action: string, txHash: string, seconds: number): void;
  /** Refused by the server, or by the trader's own check before signing. */
  traderRefused(trader: string, action: string, cause: string, message: string): void;
  /** A fault of the program in a turn, or a thread that died. */
  tradersFailed(message: string): void;
}

interface TradersOptions {
  /** Asked at the start, when the port is known. */
  readonly baseUrl: () => string;
  readonly config: TraderConfig;
  /** How lively: 1 as configured, 0 none at all. */
  readonly pace: number;
  readonly seed: number;
  readonly clock: Clock;
  readonly observer: TradersObserver;
}

/** A thread that is ended while it loads its modules may take the process with it. */
const STOP_MS = 7_000;
const AGAIN = { firstMs: 1_000, maxMs: 300_000 };

export function tradersService(options: TradersOptions): Service {
  const { clock, observer } = options;
  const task = new Task({ clock });
  let thread: Thread<CrowdCalls, Report> | null = null;

  /** Resolves when the thread has ended. */
  const runThread = async () => {
    const { config, pace, seed } = options;
    const data: ThreadOptions = { baseUrl: options.baseUrl(), config, pace, seed };
    thread = new Thread<CrowdCalls, Report>({
      script: new URL('./thread.ts', import.meta.url),
      data,
      name: "the traders' thread",
      onNews: (report) => hear(observer, report),
      onEnd: (error) => error !== null && observer.tradersFailed(String(error)),
    });
    await thread.exited;
    thread = null;
  };
  const run = async () => {
    const backoff = new Backoff(AGAIN);
    do await runThread();
    while (await task.pause(backoff.nextMs()));
  };

  return {
    name: 'traders',
    start: () => {
      if (options.pace > 0) task.start(run);
    },
    stop: async () => {
      const ended = task.stop();
      // Terminating the thread loses nothing: the chain knows what its traders did.
      await thread?.stop({ clock, ms: STOP_MS }).catch(() => {});
      await ended;
    },
  };
}

function hear(observer: TradersObserver, report: Report): void {
  if (report.kind === 'acted') {
    observer.traderActed(report.trader, report.action, report.txHash, report.seconds);
  } else if (report.kind === 'refused') {
    observer.traderRefused(report.trader, report.action, report.cause, report.message);
  } else if (report.kind === 'fault') {
    observer.tradersFailed(report.message);
  }
}
