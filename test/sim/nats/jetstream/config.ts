/** The settings of a stream: a server's defaults, and its refusals. */
import { type ApiError, apiErrors } from './apiError.ts';

export interface StreamConfig {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly description?: string;
  readonly retention: string;
  readonly storage: string;
  readonly discard: 'old' | 'new';
  readonly num_replicas: number;
  readonly max_consumers: number;
  readonly max_msgs: number;
  readonly max_bytes: number;
  /** In nanoseconds, as the two below. */
  readonly max_age: number;
  readonly duplicate_window: number;
  readonly max_msgs_per_subject: number;
  readonly max_msg_size: number;
  readonly allow_direct: boolean;
  readonly mirror_direct: boolean;
  readonly sealed: boolean;
  readonly deny_delete: boolean;
  readonly deny_purge: boolean;
  readonly allow_rollup_hdrs: boolean;
  readonly allow_msg_ttl?: boolean;
}

export const NANOS_PER_MS = 1_000_000;
const WINDOW_NANOS = 120_000 * NANOS_PER_MS;

const DEFAULTS = {
  retention: 'limits',
  max_consumers: -1,
  max_msgs: -1,
  max_bytes: -1,
  max_age: 0,
  max_msgs_per_subject: -1,
  max_msg_size: -1,
  discard: 'old',
  storage: 'file',
  num_replicas: 1,
  allow_direct: false,
  mirror_direct: false,
  sealed: false,
  deny_delete: false,
  deny_purge: false,
  allow_rollup_hdrs: false,
} as const;

/** 0 means no limit where a limit can be. */
const LIMITS = ['max_msgs', 'max_bytes', 'max_msgs_per_subject', 'max_msg_size', 'max_consumers'];

export function completed(wanted: Partial<StreamConfig> & { name: string }): StreamConfig {
  const given = Object.entries(wanted).filter(
    ([key, value]) => value !== undefined && !(LIMITS.includes(key) && value === 0),
  );
  const { max_age = 0, subjects = [wanted.name] } = wanted;
  const window = max_age > 0 ? Math.min(max_age, WINDOW_NANOS) : WINDOW_NANOS;
  // trust: the fields come from the request; missing ones have a default
  const config = {
    ...DEFAULTS,
    duplicate_window: 0,
    ...Object.fromEntries(given),
    subjects,
    name: wanted.name,
  } as StreamConfig;
  const { duplicate_window, num_replicas } = config;
  return {
    ...config,
    duplicate_window: duplicate_window === 0 ? window : duplicate_window,
    num_replicas: num_replicas === 0 ? 1 : num_replicas,
  };
}

/** Reasons for which servers refuse a new or changed stream. */
export function refusalOf({ max_age, duplicate_window }: StreamConfig): ApiError | null {
  const isTooLong = max_age > 0 && duplicate_window > max_age;
  return isTooLong ? apiErrors.badConfig('duplicates window can not be larger then max age') : null;
}

export function refusalOfChange(from: StreamConfig, to: StreamConfig): ApiError | null {
  if (from.storage !== to.storage) {
    return apiErrors.badConfig('stream configuration update can not change storage type');
  }
  if (from.retention !== to.retention) {
    return apiErrors.badConfig('stream configuration update can not change retention policy');
  }
  return refusalOf(to);
}

/** Whether one subject can fit both patterns. */
export function overlaps(one: string, other: string): boolean {
  const [left, right] = [one.split('.'), other.split('.')];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const [a, b] = [left[index], right[index]];
    if (a === '>' || b === '>') return a !== undefined && b !== undefined;
    if (a === undefined || b === undefined) return false;
    if (a !== b && a !== '*' && b !== '*') return false;
  }
  return true;
}
