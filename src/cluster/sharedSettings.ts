/**
 * Settings that live in NATS, compared at the start of each node: copies of the streams, lifetime
 * of the lease, limits of the log. They are what the most demanding of the living nodes asks for,
 * so a value is raised by the first node that starts with it and lowered by the last.
 */
import type { Announcement } from './nats/announcements.ts';
import type { NatsLink } from './nats/connection.ts';
import { keepEntries, setMaxAge, setReplicas, settingsOf } from './nats/streamSettings.ts';

export interface SharedSettingsObserver {
  /** NATS had another value. */
  settingChanged(setting: string, stream: string, from: string, to: string): void;
  /** Another living node has another value; the larger one holds. */
  settingDiffers(setting: string, own: number, node: string, theirs: number): void;
}

export interface SharedSettings {
  readonly leaseMs: number;
  readonly replicas: number;
}

export interface SharedStreams {
  readonly log: string;
  /** Whose values live as long as the lease. */
  readonly nodes: string;
  /** Of snapshots and logos. */
  readonly files: readonly string[];
}

const ENVIRONMENT = { leaseMs: 'LEASE_MS', replicas: 'NATS_REPLICAS' } as const;

export function streamsOf(market: string): SharedStreams {
  const files = [`OBJ_${market}-files`, `OBJ_${market}-images`];
  return { log: market, nodes: `KV_${market}-nodes`, files };
}

/** Throws `SettingRefused` where NATS cannot have them. */
export async function settleSettings(
  link: NatsLink,
  streams: SharedStreams,
  limits: Parameters<typeof keepEntries>[2],
  own: SharedSettings,
  others: readonly Announcement[],
  observer: SharedSettingsObserver,
): Promise<void> {
  for (const name of await keepEntries(link, streams.log, limits)) {
    observer.settingChanged(name, streams.log, 'another value', 'what the log needs');
  }
  const replicas = agreed('replicas', own, others, observer);
  for (const stream of [streams.log, streams.nodes, ...streams.files]) {
    const found = await settingsOf(link, stream);
    if (found === null || !isToBeSet(found.replicas, replicas)) continue;
    await setReplicas(link, stream, replicas.value);
    observer.settingChanged('NATS_REPLICAS', stream, `${found.replicas}`, `${replicas.value}`);
  }
  const lease = agreed('leaseMs', own, others, observer);
  const found = await settingsOf(link, streams.nodes);
  if (found === null || !isToBeSet(found.maxAgeMs, lease)) return;
  await setMaxAge(link, streams.nodes, lease.value);
  observer.settingChanged('LEASE_MS', streams.nodes, `${found.maxAgeMs}`, `${lease.value}`);
}

interface Agreed {
  readonly value: number;
  /** All living nodes have said what they ask for. */
  readonly isComplete: boolean;
}

function isToBeSet(found: number, { value, isComplete }: Agreed): boolean {
  return found < value || (found > value && isComplete);
}

function agreed(
  setting: keyof SharedSettings,
  own: SharedSettings,
  others: readonly Announcement[],
  observer: SharedSettingsObserver,
): Agreed {
  const mine = own[setting];
  const leaders = others.filter(({ reader }) => reader !== true);
  let value = mine;
  for (const other of leaders) {
    const theirs = other[setting] ?? mine;
    if (theirs === mine) continue;
    observer.settingDiffers(ENVIRONMENT[setting], mine, other.node, theirs);
    value = Math.max(value, theirs);
  }
  return { value, isComplete: leaders.every((other) => other[setting] !== undefined) };
}
