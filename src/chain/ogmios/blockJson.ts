/** Blocks as Ogmios writes them, of every era. Source: its schema, cardano.json. */
import { countOf, hexOf, type JsonObject, listOf, objectOf, textOf } from './json.ts';

export interface BlockHeader {
  readonly hash: string;
  /** Of the block before; 'genesis' where there is none (Byron: a hash of its own). */
  readonly ancestor: string;
  readonly height: number;
  /** null: a block between epochs of Byron, which has none. */
  readonly slot: number | null;
  readonly era: string;
}

const HASH_BYTES = 32;

/** Throws `Unreadable`. */
export function readHeader(block: JsonObject): BlockHeader {
  const hash = hexOf(block.id, 'block.id', HASH_BYTES);
  const what = `block ${hash}`;
  return {
    hash,
    ancestor: textOf(block.ancestor, `${what}: ancestor`),
    height: countOf(block.height, `${what}: height`),
    slot: block.type === 'ebb' ? null : countOf(block.slot, `${what}: slot`),
    era: textOf(block.era, `${what}: era`),
  };
}

export interface ListedTransaction {
  readonly id: string;
  readonly fields: JsonObject;
}

export function transactionsOf(block: JsonObject, { hash }: BlockHeader): ListedTransaction[] {
  const what = `block ${hash}: transaction`;
  return listOf(block.transactions, `${what}s`).map((value, at) => {
    const fields = objectOf(value, `${what} ${at}`);
    return { id: hexOf(fields.id, `${what} ${at}: id`, HASH_BYTES), fields };
  });
}

/** null: the origin. */
export function readPoint(value: unknown, what: string): { slot: number; hash: string } | null {
  if (value === 'origin') return null;
  const { slot, id } = objectOf(value, what);
  return { slot: countOf(slot, `${what}.slot`), hash: hexOf(id, `${what}.id`, HASH_BYTES) };
}

/** null: the chain has no block. */
export function readTip(value: unknown) {
  const point = readPoint(value, 'tip');
  if (point === null) return null;
  return { ...point, height: countOf(objectOf(value, 'tip').height, 'tip.height') };
}
