/** `watch [TOKEN]`, checked. */
import type { PoolListName } from '../../client/types.ts';
import { POOL_LISTS } from '../../engine/market/poolView.ts';
import type { Values } from './options.ts';
import { BAD_URL, serverUrl } from './walletArguments.ts';

export interface WatchCommand {
  readonly name: 'watch';
  readonly url: string;
  /** Asset id, or a text to search for; null: a list. */
  readonly token: string | null;
  readonly list: PoolListName;
  /** One picture, then the end. */
  readonly once: boolean;
}

const USUAL_LIST = 'Latest';

/** The command, or what is wrong with it. */
export function parseWatch(rest: readonly string[], values: Values): WatchCommand | string {
  const [token, more] = rest;
  if (more !== undefined) return `unexpected argument: ${more}`;
  const asked = String(values.list ?? USUAL_LIST);
  const list = POOL_LISTS.find((name) => name.toLowerCase() === asked.toLowerCase());
  if (list === undefined) return `--list takes one of ${POOL_LISTS.join(', ')}`;
  if (token !== undefined && values.list !== undefined) return '--list goes without a token';
  const url = serverUrl(values);
  if (url === null) return BAD_URL;
  return { name: 'watch', url, token: token ?? null, list, once: values.once === true };
}
