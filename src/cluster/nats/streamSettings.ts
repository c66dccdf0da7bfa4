/**
 * Settings of streams. NATS keeps settings, even if the environment of a node changes later. A
 * key-value bucket and an object store are streams underneath.
 *
 * Each node compares them at its start: copies of the streams, lifetime of the lease, limits of the
 * log. The largest value among the living nodes holds: a node that starts with a larger one raises
 * the setting, and the last node with that value lowers it. An announcement never raises it: its
 * node did that at its own start, and a false one could ask for a value that NATS refuses.
 *
 * Errors: throws `startRefused` where NATS cannot have the setting, anything else when it gives
 * no answer.
 */
import { Fault } from '../../engine/runtime/assert.ts';
import type { Announcement } from './announcements.ts';
import { type NatsLink, nanos } from './connection.ts';
import {
  DiscardPolicy,
  isMissing,
  JetStreamApiError,
  manager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from './stream.ts';

interface StreamSettings {
  readonly replicas: number;
  /** Age at which messages are deleted; 0: never. */
  readonly maxAgeMs: number;
  readonly description: string;
  /** Several servers keep the stream. */
  readonly isClustered: boolean;
}

const NANOS_PER_MS = 1_000_000;

/** null: there is no such stream. */
export async function settingsOf(link: NatsLink, stream: string): Promise<StreamSettings | null> {
  const jsm = await manager(link);
  try {
    const { config, cluster } = await link.whileConnected(() => jsm.streams.info(stream));
    const { num_replicas: replicas, max_age, description = '' } = config;
    // A single server of 2.10 or later names itself as the leader, but no cluster.
    const isClustered = cluster?.name !== undefined;
    return { replicas, maxAgeMs: max_age / NANOS_PER_MS, description, isClustered };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** A single server accepts a larger number and keeps one copy: here that is refused. */
async function setReplicas(
  link: NatsLink,
  stream: string,
  replicas: number,
  found: StreamSettings,
): Promise<void> {
  if (replicas > 1 && !found.isClustered) {
    throw new Fault(
      'startRefused',
      `NATS_REPLICAS=${replicas}, but the stream ${stream} has ${found.replicas} and this NATS ` +
        `is a single server. Set NATS_REPLICAS=${found.replicas}, or run ${replicas} servers as ` +
        'a cluster',
    );
  }
  await change(link, stream, { num_replicas: replicas }, `NATS_REPLICAS=${replicas}`);
}

export async function setMaxAge(link: NatsLink, stream: string, maxAgeMs: number): Promise<void> {
  const jsm = await manager(link);
  const { config } = await link.whileConnected(() => jsm.streams.info(stream));
  const max_age = nanos(maxAgeMs);
  if (config.max_age === max_age) return;
  // The window may not be longer than messages live.
  const duplicate_window = Math.min(config.duplicate_window, max_age);
  await change(link, stream, { max_age, duplicate_window }, `LEASE_MS=${maxAgeMs}`);
}

export function setDescription(link: NatsLink, stream: string, text: string): Promise<void> {
  return change(link, stream, { description: text }, 'the description of the market');
}

interface LogLimits {
  readonly maxMessageBytes: number;
  readonly dedupeMs: number;
}

/** Makes an existing stream keep every entry; answers what was changed. */
async function keepEntries(
  link: NatsLink,
  stream: string,
  limits: LogLimits,
): Promise<readonly string[]> {
  const jsm = await manager(link);
  const { config } = await link.whileConnected(() => jsm.streams.info(stream));
  const { retention, storage, max_msg_size } = config;
  if (retention !== RetentionPolicy.Limits || storage !== StorageType.File) {
    throw new Fault(
      'startRefused',
      `the stream ${stream} has retention "${retention}" and storage "${storage}": it would lose ` +
        'entries, and NATS cannot change that. Set another MARKET_NAME, or remove the stream: ' +
        'nodes that have the market begin it again',
    );
  }
  const isLarge = max_msg_size < 0 || max_msg_size >= limits.maxMessageBytes;
  const wanted: Partial<StreamConfig> = {
    max_age: 0,
    max_msgs_per_subject: -1,
    discard: DiscardPolicy.New,
    duplicate_window: nanos(limits.dedupeMs),
    max_msg_size: isLarge ? max_msg_size : limits.maxMessageBytes,
  };
  const differing = Object.entries(wanted).filter(
    // trust: the keys come from a stream's configuration
    ([key, value]) => config[key as keyof StreamConfig] !== value,
  );
  if (differing.length === 0) return [];
  const names = differing.map(([key]) => key);
  await change(link, stream, Object.fromEntries(differing), names.join(', '));
  return names;
}

async function change(
  link: NatsLink,
  stream: string,
  wanted: Partial<StreamConfig>,
  what: string,
): Promise<void> {
  const jsm = await manager(link);
  try {
    await link.whileConnected(() => jsm.streams.update(stream, wanted));
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    throw new Fault(
      'startRefused',
      `NATS does not take ${what} for the stream ${stream}: ${error.message}`,
    );
  }
}

interface SharedSettingsObserver {
  /** NATS had another value. */
  settingChanged(setting: string, stream: string, from: string, to: string): void;
  /** Another living node has another value; the larger one holds. */
  settingDiffers(setting: string, own: number, node: string, theirs: number): void;
}

export interface SharedSettings {
  readonly leaseMs: number;
  readonly replicas: number;
}

const ENVIRONMENT = { leaseMs: 'LEASE_MS', replicas: 'NATS_REPLICAS' } as const;

/** The streams of a market: the log, values that expire with the lease, and stored files. */
export function streamsOf(market: string) {
  const kept = [`OBJ_${market}-files`, `OBJ_${market}-images`, `KV_${market}-webhooks`];
  return { log: market, nodes: `KV_${market}-nodes`, kept };
}

/** Throws `startRefused` where NATS cannot have them. */
export async function settleSettings(
  link: NatsLink,
  streams: ReturnType<typeof streamsOf>,
  limits: LogLimits,
  own: SharedSettings,
  others: readonly Announcement[],
  observer: SharedSettingsObserver,
): Promise<void> {
  for (const name of await keepEntries(link, streams.log, limits)) {
    observer.settingChanged(name, streams.log, 'another value', 'what the log needs');
  }
  const copies = wanted('replicas', own, others, observer);
  for (const stream of [streams.log, streams.nodes, ...streams.kept]) {
    const found = await settingsOf(link, stream);
    const to = found === null ? null : changeFrom(found.replicas, copies);
    if (found === null || to === null) continue;
    await setReplicas(link, stream, to, found);
    observer.settingChanged('NATS_REPLICAS', stream, `${found.replicas}`, `${to}`);
  }
  const lease = wanted('leaseMs', own, others, observer);
  const found = await settingsOf(link, streams.nodes);
  const to = found === null ? null : changeFrom(found.maxAgeMs, lease);
  if (found === null || to === null) return;
  await setMaxAge(link, streams.nodes, to);
  observer.settingChanged('LEASE_MS', streams.nodes, `${found.maxAgeMs}`, `${to}`);
}

interface Wanted {
  readonly own: number;
  /** Among the living nodes, this one included; null: not all of them have announced theirs. */
  readonly largest: number | null;
}

/** null: it stays. */
function changeFrom(found: number, { own, largest }: Wanted): number | null {
  if (found < own) return own;
  return largest !== null && found > largest ? largest : null;
}

function wanted(
  setting: keyof SharedSettings,
  settings: SharedSettings,
  others: readonly Announcement[],
  observer: SharedSettingsObserver,
): Wanted {
  const own = settings[setting];
  const leaders = others.filter(({ reader }) => reader !== true);
  let largest: number | null = own;
  for (const { node, [setting]: theirs } of leaders) {
    if (theirs !== undefined && theirs !== own) {
      observer.settingDiffers(ENVIRONMENT[setting], own, node, theirs);
    }
    largest = largest === null || theirs === undefined ? null : Math.max(largest, theirs);
  }
  return { own, largest };
}
