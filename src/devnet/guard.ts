/**
 * Keeps pages of other sites away from a devnet's ports: a browser sends the page's Origin, and a
 * name that was rebound to this machine as Host.
 */
import type { IncomingHttpHeaders } from 'node:http';

export interface Guard {
  /** Host names, without a port, under which other programs may reach it beside loopback. */
  readonly hosts: readonly string[];
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** Why a request is refused; null: it is not. */
export function isForeign(headers: IncomingHttpHeaders, { hosts }: Guard): string | null {
  const known = [...LOOPBACK, ...hosts.map(nameOf)];
  const { host = '', origin } = headers;
  if (!known.includes(nameOf(host))) {
    return `Host ${host} is not this devnet's: use 127.0.0.1, or start it with --allow-host`;
  }
  if (origin === undefined) return null;
  const isKnown = known.includes(nameOf(origin.replace(/^https?:\/\//, '')));
  return isKnown ? null : `Origin ${origin} may not use this devnet`;
}

/** `[::1]:1337` → `[::1]`. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}
