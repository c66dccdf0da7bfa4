/**
 * The HTTP ports of a devnet. Requests from pages of other sites are refused: a browser sends the
 * page's Origin, and a name that was rebound to this machine as Host.
 */

import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemCode } from '../engine/runtime/errors.ts';

export interface Guard {
  /** Host names, without a port, under which other programs may reach it beside loopback. */
  readonly hosts: readonly string[];
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses it: stop that one, or choose another port',
  EACCES: 'this user may not use it: choose one above 1023',
  EADDRNOTAVAIL: 'it is no address of this machine: choose another HOST',
};

/** Longer than the pause of a client that thinks between two requests. */
const KEEP_ALIVE_MS = 65_000;

export class LocalHttpServer {
  readonly http: Server;

  constructor(handle: RequestListener, requestMs: number) {
    this.http = createServer(handle);
    this.http.requestTimeout = requestMs;
    this.http.keepAliveTimeout = KEEP_ALIVE_MS;
  }

  get port(): number {
    // trust: a server that listens on TCP has such an address
    return (this.http.address() as AddressInfo).port;
  }

  /** Rejects with what to do where the port cannot be opened. */
  async listen(
    what: string,
    { host, port }: { readonly host: string; readonly port: number },
  ): Promise<void> {
    const listening = Promise.withResolvers<void>();
    this.http.once('error', listening.reject);
    this.http.listen(port, host, listening.resolve);
    try {
      await listening.promise;
    } catch (error) {
      const reason = REASONS[systemCode(error) ?? ''] ?? String(error);
      throw new Error(`the devnet's ${what} cannot listen on ${host}:${port}: ${reason}`);
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.http.close(resolve));
    this.http.closeAllConnections();
    await closed;
  }
}

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
