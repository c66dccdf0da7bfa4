/**
 * Addresses: payment part, optional stake part, network. Source: CIP-19; checked with its vectors.
 * Text is bech32; Byron addresses are recognised only to be refused.
 */
import { base58, bech32 } from '@scure/base';
import { fromHex, joined, toHex } from './hex.ts';
import { remembered } from './remembered.ts';

export interface Credential {
  readonly kind: 'key' | 'script';
  /** 28 bytes, hex. */
  readonly hash: string;
}

export interface Address {
  readonly network: 'mainnet' | 'testnet';
  readonly payment: Credential;
  readonly stake: Credential | null;
  /** Whether the stake part is a pointer to a certificate; `stake` is null then. */
  readonly pointer: boolean;
}

const LONGEST_TEXT = 1000;
/** A Byron address is a CBOR array of two. */
const BYRON_HEAD = 0x82;
const HASH_BYTES = 28;
/** More than a pointer takes. */
const LONGEST_BYTES = 64;
const BASE_TYPES = 4;
const POINTER_TYPES = 6;
const ENTERPRISE_TYPES = 8;

/** Addresses come again and again, and bech32 is slow. */
const MAX_KNOWN = 4_096;

/** null if the text is not a Shelley payment address with an intact checksum. */
export const parseAddress = remembered(decodeAddress, MAX_KNOWN);

function decodeAddress(text: string): Address | null {
  if (text.length > LONGEST_TEXT || !/^addr(_test)?1/.test(text)) return null;
  try {
    const { prefix, words } = bech32.decode(narrow(text), LONGEST_TEXT);
    const address = readAddress(bech32.fromWords(words));
    const expected = prefix === 'addr' ? 'mainnet' : 'testnet';
    return address?.network === expected ? address : null;
  } catch {
    // Not bech32: an answer, not a fault.
    return null;
  }
}

/** The library wants to see that a separator is there. */
function narrow(text: string): `${string}1${string}` {
  const at = text.lastIndexOf('1');
  return `${text.slice(0, at)}1${text.slice(at + 1)}`;
}

/** null for Byron addresses, reward addresses and malformed bytes. */
export function readAddress(bytes: Uint8Array): Address | null {
  const head = bytes[0];
  if (head === undefined || bytes.length < 1 + HASH_BYTES) return null;
  const type = head >> 4;
  if (type >= ENTERPRISE_TYPES || (head & 15) > 1) return null;
  const network = (head & 15) === 1 ? 'mainnet' : 'testnet';
  const part = (from: number, script: boolean): Credential => ({
    kind: script ? 'script' : 'key',
    hash: toHex(bytes.subarray(from, from + HASH_BYTES)),
  });
  const payment = part(1, type % 2 === 1);
  if (type < BASE_TYPES) {
    if (bytes.length !== 1 + 2 * HASH_BYTES) return null;
    return { network, payment, stake: part(1 + HASH_BYTES, type >= 2), pointer: false };
  }
  if (type < POINTER_TYPES) return { network, payment, stake: null, pointer: true };
  if (bytes.length !== 1 + HASH_BYTES) return null;
  return { network, payment, stake: null, pointer: false };
}

/** Base or enterprise address as bytes; pointers are never written. */
export function addressBytes({ network, payment, stake }: Address): Uint8Array {
  const scripts = (payment.kind === 'script' ? 1 : 0) + (stake?.kind === 'script' ? 2 : 0);
  const type = stake === null ? POINTER_TYPES + scripts : scripts;
  const head = (type << 4) | (network === 'mainnet' ? 1 : 0);
  const text = payment.hash + (stake?.hash ?? '');
  return joined([Uint8Array.of(head), fromHex(text)]);
}

export function formatAddress(address: Address): string {
  return addressText(addressBytes(address));
}

/** Text of an address by its bytes in hex. */
const textOfHex = remembered((hex) => encodedText(fromHex(hex)), MAX_KNOWN);

/** Bytes of an address of any kind as text; Byron addresses (no bech32) and nonsense as hex. */
export function addressText(bytes: Uint8Array): string {
  return textOfHex(toHex(bytes)) ?? '';
}

function encodedText(bytes: Uint8Array): string {
  const head = bytes[0] ?? 0;
  if (head >> 4 >= ENTERPRISE_TYPES || bytes.length > LONGEST_BYTES) return toHex(bytes);
  const prefix = (head & 15) === 1 ? 'addr' : 'addr_test';
  return bech32.encode(prefix, bech32.toWords(bytes), LONGEST_TEXT);
}

/** Bytes of a payment address in whatever text servers write it; Byron's is base58. null: none. */
export function bytesOfAddressText(text: string): Uint8Array | null {
  const bytes = text.length > LONGEST_TEXT ? null : decodedText(text);
  if (bytes === null || bytes.length < 1 + HASH_BYTES) return null;
  const [head = 0] = bytes;
  return head === BYRON_HEAD || head >> 4 < ENTERPRISE_TYPES ? bytes : null;
}

function decodedText(text: string): Uint8Array | null {
  if (/^(?:[0-9a-f]{2})+$/.test(text)) return fromHex(text);
  try {
    if (!/^addr(_test)?1/.test(text)) return base58.decode(text);
    return bech32.fromWords(bech32.decode(narrow(text), LONGEST_TEXT).words);
  } catch {
    // Neither alphabet, or a wrong checksum: an answer, not a fault.
    return null;
  }
}

/** A user's address: base or enterprise, of keys alone, of this network; all else is refused. */
export function parseKeyAddress(text: string, network: Address['network']): Address | null {
  const address = parseAddress(text);
  if (address === null || address.pointer || address.network !== network) return null;
  return address.payment.kind === 'key' && address.stake?.kind !== 'script' ? address : null;
}

/**
 * The reason why a text is not a user's address, of this network or of any, and which format is
 * wanted.
 */
export function keyAddressProblem(text: string, network: Address['network'] | null): string {
  const where = network === null ? '' : ` of ${network}`;
  const wanted = `send a base or enterprise key address${where} in bech32 (addr…)`;
  return `${kindOfText(text, network)}: ${wanted}.`;
}

function kindOfText(text: string, network: Address['network'] | null): string {
  const address = parseAddress(text);
  if (address === null) {
    const isHex = /^([0-9a-f]{2})+$/i.test(text) && bytesOfAddressText(text.toLowerCase()) !== null;
    if (isHex) return 'This is an address in hex, as CIP-30 gives it';
    return bytesOfAddressText(text) === null ? 'This is no address' : 'This is a Byron address';
  }
  const isOther = network !== null && address.network !== network;
  if (isOther) return `This is an address of ${address.network}`;
  return address.pointer ? 'This is a pointer address' : 'This is the address of a script';
}

export function scriptAddress(
  network: Address['network'],
  hash: string,
  stake: Credential | null,
): string {
  return formatAddress({ network, payment: { kind: 'script', hash }, stake, pointer: false });
}
