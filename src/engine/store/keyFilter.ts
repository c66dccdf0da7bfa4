/**
 * Tells of most keys that no row has them, without a look into the file. A block's fold asks for
 * each row before it writes it, and nearly all of those are new: a look at a row that is not there
 * costs as much as one at a row that is.
 *
 * A Bloom filter of all keyed tables, which grows by layers. It never forgets a key, so it may take
 * a removed one to be there; it never takes one to be absent that was added.
 */
import { KEYED_TABLES, type KeyedTable } from './rows.ts';

const FIRST_KEYS = 1 << 14;
const GROWTH = 4;
const BITS_A_KEY = 16;
const PROBES = 4;
/** Layers up to 8 MiB; with more keys than that it says nothing any more. */
const MOST_LAYERS = 5;
const BITS_A_WORD = 32;

interface Layer {
  readonly words: Uint32Array;
  readonly keys: number;
}

export class KeyFilter {
  #layers: Layer[] | null = [layerOf(FIRST_KEYS)];
  #added = 0;

  add(table: KeyedTable, key: string): void {
    const layer = this.#layers?.at(-1);
    if (this.#layers === null || layer === undefined) return;
    set(layer, hashOf(table, key));
    this.#added += 1;
    if (this.#added < layer.keys) return;
    this.#added = 0;
    if (this.#layers.length === MOST_LAYERS) this.stop();
    else this.#layers.push(layerOf(layer.keys * GROWTH));
  }

  /** From now on every key may be there. */
  stop(): void {
    this.#layers = null;
  }

  mayHave(table: KeyedTable, key: string): boolean {
    if (this.#layers === null) return true;
    const hash = hashOf(table, key);
    return this.#layers.some((layer) => has(layer, hash));
  }
}

function layerOf(keys: number): Layer {
  return { words: new Uint32Array((keys * BITS_A_KEY) / BITS_A_WORD), keys };
}

const SEEDS = new Map(
  KEYED_TABLES.map((table, index) => [table, Math.imul(index + 1, 0x9e3779b1)]),
);

/**
 * Over every character: the keys of a list differ only in their place in the chain, those of
 * holders only in a balance in their middle.
 */
function hashOf(table: KeyedTable, key: string): number {
  let hash = (SEEDS.get(table) ?? 0) ^ key.length;
  const last = key.length - 1;
  for (let at = 0; at < last; at += 2) {
    hash = Math.imul(hash ^ key.charCodeAt(at) ^ (key.charCodeAt(at + 1) << 8), 0x01000193);
    hash ^= hash >>> 15;
  }
  return mixed(key.length % 2 === 0 ? hash : hash ^ key.charCodeAt(last));
}

/** Spreads a difference in any bit over all of them. */
function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The lengths of layers are powers of two. */
function set({ words }: Layer, hash: number): void {
  const step = mixed(hash) | 1;
  for (let probe = 0, at = hash; probe < PROBES; probe += 1, at = (at + step) >>> 0) {
    const word = (at >>> 5) & (words.length - 1);
    words[word] = (words[word] ?? 0) | (1 << (at & (BITS_A_WORD - 1)));
  }
}

function has({ words }: Layer, hash: number): boolean {
  const step = mixed(hash) | 1;
  for (let probe = 0, at = hash; probe < PROBES; probe += 1, at = (at + step) >>> 0) {
    const word = words[(at >>> 5) & (words.length - 1)] ?? 0;
    if ((word & (1 << (at & (BITS_A_WORD - 1)))) === 0) return false;
  }
  return true;
}
