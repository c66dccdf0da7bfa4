/** What `GET /health` of Ogmios says. Source: its HTTP interface, version 6. */
import { epochAt, eraAt } from './eras.ts';
import type { JsonValue } from './json.ts';
import type { ServedNode } from './served.ts';

export interface Activity {
  readonly startTime: string;
  /** ISO 8601; when the tip was seen to change last. */
  readonly lastTipUpdate: string;
  readonly activeConnections: number;
  readonly totalConnections: number;
  readonly totalMessages: number;
}

export function health(
  { chain, facts }: ServedNode,
  activity: Activity,
  version: string,
): JsonValue {
  const { tip } = chain;
  const slot = Number(tip?.slot ?? 0);
  const { startSlot, epochSlots } = eraAt(facts.eras, slot);
  const isKnown = facts.isConnected;
  const { startTime, lastTipUpdate, ...connections } = activity;
  return {
    startTime,
    lastKnownTip: tip === null ? 'origin' : { slot: tip.slot, id: tip.id, height: tip.height },
    lastTipUpdate: isKnown ? lastTipUpdate : null,
    networkSynchronization: isKnown ? facts.synchronization : null,
    currentEra: isKnown ? (tip?.era ?? eraAt(facts.eras, slot).era) : null,
    metrics: {
      totalUnrouted: 0,
      ...connections,
      runtimeStats: { gcCpuTime: 0, cpuTime: 0, maxHeapSize: 0, currentHeapSize: 0 },
      sessionDurations: { max: 0, mean: 0, min: 0 },
    },
    connectionStatus: isKnown ? 'connected' : 'disconnected',
    currentEpoch: isKnown ? epochAt(facts.eras, slot) : null,
    slotInEpoch: isKnown ? (slot - startSlot) % epochSlots : null,
    version,
    network: facts.network,
  };
}
