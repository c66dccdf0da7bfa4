/** Arguments of `conform`, checked. */
import { parseDurationMs } from '../amounts.ts';
import { serverOf } from '../load/command.ts';
import type { Values } from '../options.ts';

export interface ConformCommand {
  readonly name: 'conform';
  readonly url: string;
  /** Whether faucet and forks of a devnet may be used. */
  readonly mayChange: boolean;
  /** How long a change of the market is waited for. */
  readonly waitMs: number;
  /** Where to write the badge; null: nowhere. */
  readonly badge: string | null;
}

const WAIT = '20s';

/** A string is an error message. */
export function parseConform(
  [url, more]: readonly string[],
  { devnet, wait, badge }: Values,
): ConformCommand | string {
  if (url === undefined) return 'conform takes the URL of a server: conform http://127.0.0.1:8080';
  if (more !== undefined) return `unexpected argument: ${more}`;
  const base = serverOf(url);
  if (base === null) return `${url} is no http(s) URL of a server`;
  const waitMs = parseDurationMs(String(wait ?? WAIT));
  if (waitMs === null) return '--wait takes a duration such as 20s';
  const file = typeof badge === 'string' ? badge : null;
  return { name: 'conform', url: base, mayChange: devnet === true, waitMs, badge: file };
}
