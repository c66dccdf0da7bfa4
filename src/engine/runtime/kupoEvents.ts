/** What the program says about Kupo; see events.ts. */
import type { Logger } from 'pino';
import { LATENCY_S, type Meters } from './meters.ts';

interface Health {
  readonly connected: boolean;
  readonly checkpointSlot: number | null;
  readonly nodeTipSlot: number | null;
}

export function kupoEvents(logger: Logger, { counter, gauge, histogram }: Meters) {
  const asked = counter('kupo_questions', 'Questions to Kupo', ['outcome']);
  const duration = histogram('kupo_seconds', 'Time of one question to Kupo', LATENCY_S);
  const connected = gauge('kupo_connected', 'Whether Kupo answers and has its node');
  const lag = gauge('kupo_lag_slots', 'Slots that Kupo is behind its node');
  let wasWell: boolean | null = null;
  return {
    kupoAsked(outcome: 'answered' | 'failed' | 'refused', seconds: number): void {
      asked.inc({ outcome });
      duration.observe(seconds);
    },
    /** Logged when it changes. */
    kupoHealth(health: Health | null): void {
      const isWell = health?.connected === true;
      connected.set(isWell ? 1 : 0);
      if (health !== null) lag.set((health.nodeTipSlot ?? 0) - (health.checkpointSlot ?? 0));
      if (isWell === wasWell) return;
      wasWell = isWell;
      if (isWell) logger.info({ event: 'kupoHealth', ...health }, 'Kupo answers');
      else logger.warn({ event: 'kupoHealth', ...health }, problemOf(health));
    },
  };
}

function problemOf(health: Health | null): string {
  return health === null ? 'Kupo does not answer' : 'Kupo has lost its node';
}
