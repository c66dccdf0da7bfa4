/** API keys from the file of the settings: read at the start, and again when it is asked for. */
import { ApiKeys, type KeyLimits } from '../../api/gateway/apiKeys.ts';
import { Fault } from '../../engine/runtime/assert.ts';
import type { Events } from '../../engine/runtime/events.ts';
import { readApiKeys } from '../settings/apiKeysFile.ts';
import type { Settings } from '../settings/table.ts';
import type { AppDeps } from './appDeps.ts';
import { gatewayOptionsOf } from './gatewayOptions.ts';

/** Throws `startRefused` where the file cannot be used. */
export function loadApiKeys(settings: Settings): ApiKeys {
  const { API_KEYS_FILE: file } = settings;
  if (file === undefined) return new ApiKeys();
  const keys = readApiKeys(file, defaultLimits(settings));
  if (typeof keys !== 'string') return new ApiKeys(keys);
  throw new Fault('startRefused', `API_KEYS_FILE=${file} cannot be used: ${keys}`);
}

/** On each reload takes the keys that the file has then; a bad file changes nothing. */
export function reloadApiKeys(
  apiKeys: ApiKeys,
  { settings, onReload }: Pick<AppDeps, 'settings' | 'onReload'>,
  events: Pick<Events, 'apiKeysRead' | 'apiKeysRefused'>,
): void {
  const { API_KEYS_FILE: file } = settings;
  if (file === undefined) return;
  onReload?.(() => {
    const keys = readApiKeys(file, defaultLimits(settings));
    if (typeof keys === 'string') events.apiKeysRefused(file, keys);
    else events.apiKeysRead(file, keys.length, apiKeys.replace(keys));
  });
}

/** Limits of one address: a key without a limit has these. */
function defaultLimits(settings: Settings): KeyLimits {
  const { reads, builds, launches, maxSocketsPerAddress } = gatewayOptionsOf(settings);
  return { read: reads, build: builds, launch: launches, sockets: maxSocketsPerAddress };
}
