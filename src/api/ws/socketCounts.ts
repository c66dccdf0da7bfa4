import type { Caller } from '../gateway/address.ts';
import type { GatewayOptions } from '../gateway/options.ts';

/** Open sockets and event streams by caller: together they have one limit. */
export class SocketCounts {
  readonly #counts = new Map<string, number>();

  of(caller: string): number {
    return this.#counts.get(caller) ?? 0;
  }

  add(caller: string, change: 1 | -1): void {
    const count = this.of(caller) + change;
    if (count > 0) this.#counts.set(caller, count);
    else this.#counts.delete(caller);
  }
}

/** Whether one more fits into the limit of this caller. */
export function mayOpen(
  { key, loopback, apiKey }: Caller,
  counts: SocketCounts,
  { limitLoopback, maxSocketsPerAddress }: GatewayOptions,
): boolean {
  if (apiKey !== null) return counts.of(key) < apiKey.limits.sockets;
  if (loopback && !limitLoopback) return true;
  return counts.of(key) < maxSocketsPerAddress;
}

export function tooManyOf({ apiKey }: Caller): string {
  const whose = apiKey === null ? 'from this address' : 'with this API key';
  return `too many connections ${whose}: close one, or put subscriptions into one`;
}
