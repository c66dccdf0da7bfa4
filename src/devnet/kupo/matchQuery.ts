/**
 * Reads the path and the query string of `/matches`. Patterns: `*`, an address,
 * `payment/delegation`, `policy.asset`, `index@transaction`. Source: Kupo's manual.
 */
import { bech32 } from '@scure/base';
import { formatAddress, parseAddress, readAddress } from '../../cardano/codec/address.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import type { OutputQuery } from '../outputSearch.ts';
import type { KupoIndex } from './kupoIndex.ts';
import { pointJson } from './matchJson.ts';

/** Beside the query: exactly this address, and this asset too. */
export type Pattern = OutputQuery & {
  readonly address?: string;
  readonly also?: Pick<OutputQuery, 'policy' | 'assetName'>;
};

const BYTES_28 = /^[0-9a-f]{56}$/;
const REFERENCE = /^(\*|\d{1,5})@([0-9a-f]{64})$/;
const ASSET = /^([0-9a-f]{56})\.(\*|(?:[0-9a-f]{2}){0,32})$/;
const HASH = /^[0-9a-f]{64}$/;
const NAME = /^(?:[0-9a-f]{2}){0,32}$/;
const INDEX = /^\d{1,5}$/;
const POINT = /^(\d{1,15})(?:\.([0-9a-f]{64}))?$/;
const LONGEST = 200;

/** The body of an answer with status 400. */
interface Invalid {
  readonly hint: string;
  readonly details?: unknown;
}

interface MatchQuery {
  readonly pattern: Pattern;
  /** With datums and scripts themselves. */
  readonly isResolved: boolean;
}

export function readMatchQuery(
  text: string,
  params: URLSearchParams,
  index: KupoIndex,
): MatchQuery | Invalid {
  const pattern = readPattern(text);
  if (pattern === null) {
    return invalid(
      'Invalid pattern! An address, payment/delegation, policy.asset, index@transaction or *.',
    );
  }
  const flags = ['spent', 'unspent', 'resolve_hashes'].flatMap((name) => params.getAll(name));
  if (flags.some((value) => value !== '')) {
    return invalid('spent, unspent and resolve_hashes are flags without a value.');
  }
  if (params.has('spent') && params.has('unspent')) {
    return invalid('spent and unspent exclude each other.');
  }
  const status = params.has('unspent') ? 'unspent' : params.has('spent') ? 'spent' : undefined;
  const order = params.get('order') ?? 'most_recent_first';
  if (order !== 'most_recent_first' && order !== 'oldest_first') {
    return invalid('order is most_recent_first or oldest_first.');
  }
  const filters = readFilters(pattern, params);
  if ('hint' in filters) return filters;
  const bounds = readBounds(params, index);
  if ('hint' in bounds) return bounds;
  const oldestFirst = order === 'oldest_first';
  return {
    pattern: { ...pattern, ...bounds, ...filters, status, oldestFirst },
    isResolved: params.has('resolve_hashes'),
  };
}

function invalid(hint: string): Invalid {
  return { hint };
}

function readFilters(pattern: Pattern, params: URLSearchParams): Pattern | Invalid {
  const value = (name: string) => params.get(name) ?? undefined;
  const [txHash, index] = [value('transaction_id'), value('output_index')];
  const [policy, assetName] = [value('policy_id'), value('asset_name')];
  if (txHash !== undefined && !HASH.test(txHash)) {
    return invalid('transaction_id is 64 hex digits.');
  }
  if (policy !== undefined && !BYTES_28.test(policy)) return invalid('policy_id is 56 hex digits.');
  if (assetName !== undefined && (policy === undefined || !NAME.test(assetName))) {
    return invalid('asset_name is hex, and needs a policy_id.');
  }
  if (index !== undefined && (txHash === undefined || !INDEX.test(index))) {
    return invalid('output_index is a number, and needs a transaction_id.');
  }
  const reference = { txHash, index: index === undefined ? undefined : Number(index) };
  const asset = { policy, assetName };
  // If the pattern names another asset, the index is searched for the pattern's.
  const wanted = pattern.policy === undefined ? asset : { also: asset };
  return {
    ...(txHash === undefined ? {} : reference),
    ...(policy === undefined ? {} : wanted),
    ...(contradicts(pattern, reference) ? { made: NOTHING } : {}),
  };
}

function contradicts({ txHash, index }: Pattern, filters: Pattern): boolean {
  const differ = <T>(one: T | undefined, other: T | undefined) =>
    one !== undefined && other !== undefined && one !== other;
  return differ(txHash, filters.txHash) || differ(index, filters.index);
}

const NOTHING = [1, 0] as const;

/** Slots or points (`slot.hash`), both ends included, as heights. One lower and one upper bound. */
function readBounds(
  params: URLSearchParams,
  index: KupoIndex,
): Pick<Pattern, 'made' | 'spent'> | Invalid {
  const found: { created?: [number, number]; spent?: [number, number] } = {};
  for (const [end, side] of ['after', 'before'].entries()) {
    const names = (['created', 'spent'] as const).filter((what) => params.has(`${what}_${side}`));
    const values = names.flatMap((what) => params.getAll(`${what}_${side}`));
    if (values.length > 1) return invalid(`Only one bound may be a ${side}.`);
    const [[what], [text]] = [names, values];
    if (what === undefined || text === undefined) continue;
    const slot = readSlot(text, index);
    if (typeof slot !== 'number') return slot;
    const range = found[what] ?? [0, Number.MAX_SAFE_INTEGER];
    range[end] = end === 0 ? index.heightFrom(slot) : index.heightUpTo(slot);
    found[what] = range;
  }
  return {
    ...(found.created === undefined ? {} : { made: found.created }),
    ...(found.spent === undefined ? {} : { spent: found.spent }),
  };
}

/** A point must be on the chain. */
function readSlot(text: string, index: KupoIndex): number | Invalid {
  const [, digits, hash] = POINT.exec(text) ?? [];
  if (digits === undefined) return invalid('A bound is a slot, or slot.hash of a block.');
  const slot = Number(digits);
  if (hash === undefined) return slot;
  const ancestor = index.pointUpTo(slot);
  if (ancestor === null) return invalid('No such point is known.');
  if (ancestor.slot === slot && ancestor.hash === hash) return slot;
  const hint = `There is no block ${text}: details.ancestor is the closest one before it.`;
  return { hint, details: { ancestor: pointJson(ancestor) } };
}

/** null: no pattern. */
export function readPattern(text: string): Pattern | null {
  if (text.length > LONGEST) return null;
  if (text === '*') return {};
  const reference = REFERENCE.exec(text);
  if (reference !== null) {
    const [, index = '', txHash = ''] = reference;
    return index === '*' ? { txHash } : { txHash, index: Number(index) };
  }
  const asset = ASSET.exec(text);
  if (asset !== null) {
    const [, policy = '', assetName = ''] = asset;
    return assetName === '*' ? { policy } : { policy, assetName };
  }
  const parts = text.split('/');
  if (parts.length === 2) return credentials(parts[0] ?? '', parts[1] ?? '');
  return ofAddress(text);
}

function credentials(first: string, second: string): Pattern | null {
  const payment = credential(first);
  const stake = credential(second);
  if (payment === null || stake === null) return null;
  return { ...(payment === '*' ? {} : { payment }), ...(stake === '*' ? {} : { stake }) };
}

/** Hex of a hash or of a verification key's hash in bech32; `*`; null: none of them. */
function credential(text: string): string | null {
  if (text === '*' || BYTES_28.test(text)) return text;
  const bytes = bech32Bytes(text, /^(addr|stake|addr_shared|stake_shared)_vkh$|^script$/);
  return bytes?.length === 28 ? toHex(bytes) : null;
}

function ofAddress(text: string): Pattern | null {
  const address = /^[0-9a-f]{58,130}$/.test(text) ? readAddress(fromHex(text)) : parseAddress(text);
  if (address !== null) {
    const payment = address.payment.hash;
    if (address.stake === null) return { payment, address: formatAddress(address) };
    return { payment, stake: address.stake.hash, address: formatAddress(address) };
  }
  // A stake address: every output that delegates with it.
  const bytes = bech32Bytes(text, /^stake(_test)?$/);
  return bytes?.length === 29 ? { stake: toHex(bytes.subarray(1)) } : null;
}

function bech32Bytes(text: string, prefixes: RegExp): Uint8Array | null {
  const at = text.lastIndexOf('1');
  if (at < 1) return null;
  try {
    const { prefix, words } = bech32.decode(`${text.slice(0, at)}1${text.slice(at + 1)}`, LONGEST);
    return prefixes.test(prefix) ? bech32.fromWords(words) : null;
  } catch {
    // Not bech32: an answer, not a fault.
    return null;
  }
}
