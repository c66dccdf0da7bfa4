/** The registry of metrics: one per app, never the global one, so that tests do not meet in it. */
import { collectDefaultMetrics, Registry } from 'prom-client';

export function createRegistry(): Registry {
  return new Registry();
}

/** Adds the process's own: CPU, memory, garbage collection, delay of the event loop. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 10 });
}
