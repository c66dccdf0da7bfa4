/**
 * The content id of a logo, as the server computes it: CIDv1, raw leaves of 262,144 bytes; several
 * leaves hang under one dag-pb node. Own code, because the client is small and the server's library
 * is not; the tests compare the two. Source: IPIP-499, the UnixFS and dag-pb specifications.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { base32nopad } from '@scure/base';
import { joined } from '../../cardano/codec/hex.ts';

const CHUNK_BYTES = 262_144;
/** Leaves of one node: a logo has at most 20. */
const MAX_LEAVES = 174;
const RAW = 0x55;
const DAG_PB = 0x70;
const FILE = 2;

/** Throws `RangeError` above 45 MB, which no logo has. */
export function contentIdOf(bytes: Uint8Array): string {
  const count = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  if (count > MAX_LEAVES) throw new RangeError('a logo is smaller');
  const chunks = Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  );
  const leaves = chunks.map((chunk) => ({ id: idOf(RAW, chunk), bytes: chunk.length }));
  const [only] = leaves;
  const id = only !== undefined && count === 1 ? only.id : idOf(DAG_PB, node(leaves, bytes.length));
  return `b${base32nopad.encode(id).toLowerCase()}`;
}

/** Version 1, the codec, and a SHA-256 of 32 bytes. */
function idOf(codec: number, block: Uint8Array): Uint8Array {
  return joined([Uint8Array.of(1, codec, 0x12, 32), sha256(block)]);
}

interface Leaf {
  readonly id: Uint8Array;
  readonly bytes: number;
}

/** Links first, then the description of the file: so dag-pb orders them. */
function node(leaves: readonly Leaf[], fileBytes: number): Uint8Array {
  const links = leaves.map(({ id, bytes }) => {
    const link = joined([field(1, id), field(2, new Uint8Array()), number(3, bytes)]);
    return field(2, link);
  });
  const sizes = leaves.map(({ bytes }) => number(4, bytes));
  const file = joined([number(1, FILE), number(3, fileBytes), ...sizes]);
  return joined([...links, field(1, file)]);
}

/** Protocol buffers: a field of bytes, and a field of a number. */
function field(key: number, content: Uint8Array): Uint8Array {
  return joined([Uint8Array.of((key << 3) | 2), varint(content.length), content]);
}

function number(key: number, value: number): Uint8Array {
  return joined([Uint8Array.of(key << 3), varint(value)]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  return Uint8Array.of(...bytes, left);
}
