/**
 * The life cycle: services start in the order given and stop in reverse.
 *
 * Assumes: a `start` that throws has cleaned up after itself; only those before it are stopped.
 * Never:   waits for ever. All stops together have one deadline; after that, the remaining services
 *          are asked to stop, but not waited for, and reported.
 */
import type { Clock } from './clock.ts';

export interface Service {
  readonly name: string;
  start(): Promise<void> | void;
  /** Called once, after a successful start. Earlier requests to it must be complete or given up. */
  stop(): Promise<void> | void;
}

/** A service that did not stop well: it threw, or missed the deadline. */
interface StopFault {
  readonly service: string;
  readonly error: unknown;
}

interface Running {
  /** Stops everything; a second call gives the same result. */
  stop(): Promise<readonly StopFault[]>;
}

interface StopLimits {
  readonly clock: Clock;
  /** For all stops together. */
  readonly stopDeadlineMs: number;
}

/** Starts all services, or stops the started ones and throws the error of the start that failed. */
export async function runServices(
  services: readonly Service[],
  limits: StopLimits,
): Promise<Running> {
  const started: Service[] = [];
  for (const service of services) {
    try {
      await service.start();
    } catch (error) {
      await stopAll(started, limits);
      throw new Error(`service ${service.name} did not start`, { cause: error });
    }
    started.push(service);
  }
  let stopping: Promise<readonly StopFault[]> | undefined;
  return {
    stop() {
      stopping ??= stopAll(started, limits);
      return stopping;
    },
  };
}

async function stopAll(
  started: readonly Service[],
  { clock, stopDeadlineMs }: StopLimits,
): Promise<readonly StopFault[]> {
  const faults: StopFault[] = [];
  let expire = () => {};
  const expired = new Promise<'expired'>((resolve) => {
    expire = () => resolve('expired');
  });
  const timer = clock.after(stopDeadlineMs, expire);
  for (const service of started.toReversed()) {
    const outcome = await Promise.race([stopOne(service), expired]);
    if (outcome === 'stopped') continue;
    const late = new Error(`not stopped after ${stopDeadlineMs} ms`);
    faults.push({ service: service.name, error: outcome === 'expired' ? late : outcome.error });
  }
  timer.cancel();
  return faults;
}

/** Never rejects: an error is an outcome, also after the caller stopped waiting for it. */
async function stopOne(service: Service): Promise<'stopped' | { readonly error: unknown }> {
  try {
    await service.stop();
    return 'stopped';
  } catch (error) {
    return { error };
  }
}
