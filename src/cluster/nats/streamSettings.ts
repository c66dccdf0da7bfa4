/**
 * Settings of a stream that NATS keeps, whatever the environment of a node says later: read,
 * compared and changed. A key-value bucket and an object store are streams underneath.
 *
 * Errors: throws `SettingRefused` where NATS cannot have the setting, anything else when it gives
 * no answer.
 */
import { StartRefused } from '../../engine/runtime/marketIdentity.ts';
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

export class SettingRefused extends StartRefused {}

export interface StreamSettings {
  readonly replicas: number;
  /** Messages are deleted when they are older; 0: never. */
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
    const isClustered = cluster !== undefined && cluster !== null;
    return { replicas, maxAgeMs: max_age / NANOS_PER_MS, description, isClustered };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** A server that is alone says yes to more copies, and keeps one. */
export async function setReplicas(link: NatsLink, stream: string, replicas: number): Promise<void> {
  const found = await settingsOf(link, stream);
  if (found === null || found.replicas === replicas) return;
  if (replicas > 1 && !found.isClustered) {
    throw new SettingRefused(
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
  // It may not be longer than messages live.
  const duplicate_window = Math.min(config.duplicate_window, max_age);
  await change(link, stream, { max_age, duplicate_window }, `LEASE_MS=${maxAgeMs}`);
}

export function setDescription(link: NatsLink, stream: string, text: string): Promise<void> {
  return change(link, stream, { description: text }, 'the description of the market');
}

/** Makes an existing stream keep every entry; answers what was changed. */
export async function keepEntries(
  link: NatsLink,
  stream: string,
  limits: { readonly maxMessageBytes: number; readonly dedupeMs: number },
): Promise<readonly string[]> {
  const jsm = await manager(link);
  const { config } = await link.whileConnected(() => jsm.streams.info(stream));
  const { retention, storage, max_msg_size } = config;
  if (retention !== RetentionPolicy.Limits || storage !== StorageType.File) {
    throw new SettingRefused(
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
    // trust: the keys are those of a stream's configuration
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
    throw new SettingRefused(
      `NATS does not take ${what} for the stream ${stream}: ${error.message}`,
    );
  }
}
