/**
 * Finds the address that limits count by: the peer, or, behind a trusted proxy, the rightmost
 * untrusted entry of X-Forwarded-For. An IPv6 client owns a whole /64, so the /64 is its key; an
 * IPv4-mapped IPv6 address counts as IPv4.
 */
import { BlockList, isIP } from 'node:net';
import type { ApiKey } from './apiKeys.ts';
import type { HttpResponse } from './server.ts';

export interface Caller {
  readonly address: string;
  /** The name under which its limits are counted. */
  readonly key: string;
  /** From this machine, and without an API key. */
  readonly loopback: boolean;
  /** null: it presented none. */
  readonly apiKey: ApiKey | null;
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const CIDR = /^(.+)\/(\d{1,3})$/;
const KNOWN_PEERS = 1024;

export class Callers {
  readonly #trusted: BlockList | null;
  /** Peers by their raw bytes: a connection sends many requests, and text costs more than this. */
  readonly #peers = new Map<number, string>();
  #open = 0;
  /** The peer of every open connection, where they all have the same one. */
  #sole: Caller | null = null;

  constructor(trustedProxies: readonly string[]) {
    this.#trusted = trustedProxies.length === 0 ? null : blockList(trustedProxies);
  }

  /**
   * A connection opened. Asking the library for the address costs a third of a small answer, so
   * requests do not ask while all connections come from one peer, such as a proxy.
   */
  opened(res: HttpResponse): void {
    const peer = this.#peer(res);
    if (this.#open === 0) this.#sole = peer;
    else if (this.#sole?.address !== peer.address) this.#sole = null;
    this.#open += 1;
  }

  /** A connection closed, or became a socket. */
  closed(): void {
    this.#open = Math.max(0, this.#open - 1);
  }

  of(res: HttpResponse, forwardedFor: string): Caller {
    const peer = this.#sole ?? this.#peer(res);
    return this.#trusted === null ? peer : callerOf(this.#origin(peer.address, forwardedFor));
  }

  #peer(res: HttpResponse): Caller {
    return callerOf(this.#text(new Uint8Array(res.getRemoteAddress())));
  }

  #text(bytes: Uint8Array): string {
    if (bytes.length !== 4) return ipv6Text(bytes);
    const number = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    const known = this.#peers.get(number);
    if (known !== undefined) return known;
    if (this.#peers.size >= KNOWN_PEERS) this.#peers.clear();
    const text = bytes.join('.');
    this.#peers.set(number, text);
    return text;
  }

  #origin(peer: string, forwardedFor: string): string {
    if (!this.#isTrusted(peer)) return peer;
    let origin = peer;
    for (const entry of forwardedFor.split(',').reverse()) {
      const address = plain(entry.trim());
      // A trusted proxy writes no garbage, so whatever sent it is the origin.
      if (isIP(address) === 0) return origin;
      origin = address;
      if (!this.#isTrusted(address)) return origin;
    }
    return origin;
  }

  #isTrusted(address: string): boolean {
    return this.#trusted?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') ?? false;
  }
}

/**
 * The caller behind a literal address. Any other text, such as the name of a host, is not loopback.
 */
export function callerOf(address: string): Caller {
  const family = isIP(address);
  if (family !== 6) {
    const loopback = family === 4 && address.startsWith('127.');
    return { address, key: address, loopback, apiKey: null };
  }
  const groups = expand(address);
  if (isMapped(groups)) return callerOf(dotted(groups));
  const loopback = groups.slice(0, 7).every((group) => group === 0) && groups[7] === 1;
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return { address, key: `${network.join(':')}::/64`, loopback, apiKey: null };
}

/** A caller who presented a key: no address begins as `key` here does. */
export function withApiKey({ address }: Caller, apiKey: ApiKey): Caller {
  return { address, key: `key ${apiKey.name}`, loopback: false, apiKey };
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const match = CIDR.exec(range);
    const address = plain(match?.[1] ?? range);
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (match === null) list.addAddress(address, family);
    else list.addSubnet(address, Number(match[2]), family);
  }
  return list;
}

/** Without port, brackets and zone; a mapped address as the IPv4 it is. */
function plain(entry: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? entry;
  const bare = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(bracketed)?.[1] ?? bracketed;
  const unzoned = bare.split('%')[0] ?? bare;
  return MAPPED.exec(unzoned)?.[1] ?? unzoned;
}

function ipv6Text(bytes: Uint8Array): string {
  const groups = Array.from(
    { length: 8 },
    (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0),
  );
  return isMapped(groups) ? dotted(groups) : groups.map((group) => group.toString(16)).join(':');
}

/** Whether these eight groups are an IPv4 address in IPv6, `::ffff:0:0/96`. */
function isMapped(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}

/** The IPv4 address in the last two groups. */
function dotted(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** The last part may be an IPv4 address: `::ffff:10.0.0.1`. */
function groupsOf(part: string): number[] {
  if (!part.includes('.')) return [Number.parseInt(part, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

function expand(address: string): number[] {
  const [left = '', right] = address.split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':').flatMap(groupsOf));
  const head = read(left);
  if (right === undefined) return head;
  const tail = read(right);
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}
