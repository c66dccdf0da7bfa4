/**
 * Patterns of Kupo's `/matches/<pattern>`: `*`, an address, `payment/delegation`, `policy.asset`,
 * `index@transaction`. Source: the section on patterns of Kupo's manual.
 */
import { bech32 } from '@scure/base';
import { formatAddress, parseAddress, readAddress } from '../../cardano/codec/address.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import type { OutputQuery } from '../outputSearch.ts';

/** Beside the query: exactly this address, and this asset too. */
export type Pattern = OutputQuery & {
  readonly address?: string;
  readonly also?: Pick<OutputQuery, 'policy' | 'assetName'>;
};

const BYTES_28 = /^[0-9a-f]{56}$/;
const REFERENCE = /^(\*|\d{1,5})@([0-9a-f]{64})$/;
const ASSET = /^([0-9a-f]{56})\.(\*|(?:[0-9a-f]{2}){0,32})$/;
const LONGEST = 200;

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
