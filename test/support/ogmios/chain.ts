/**
 * The chain and the mempool behind a fake Ogmios. A test writes them; sessions read what lies
 * between their cursor and the present at the moment they ask, so several forks that no session
 * read in between are one step back.
 */
import assert from 'node:assert/strict';
import type {
  ChainListener,
  ServedBlock,
  ServedChain,
  ServedPoint,
  ServedTransaction,
} from '../../../src/devnet/ogmios/served.ts';

type FakePoint = ServedPoint;
export type FakeBlock = ServedBlock & { readonly height: bigint };
export type FakeTransaction = ServedTransaction;

export class FakeChain implements ServedChain {
  readonly oldest = 1;
  readonly #blocks: FakeBlock[] = [];
  /** Id of a block → its place. */
  readonly #places = new Map<string, number>();
  readonly #listeners = new Set<ChainListener>();
  #pending: readonly FakeTransaction[] = [];
  #mempoolVersion = 0;

  get tip(): FakeBlock | null {
    return this.#blocks.at(-1) ?? null;
  }

  get length(): number {
    return this.#blocks.length;
  }

  get blocks(): readonly FakeBlock[] {
    return this.#blocks;
  }

  blockAt(place: number): FakeBlock | undefined {
    return this.#blocks[place - 1];
  }

  placeOf(point: FakePoint | 'origin'): number | undefined {
    if (point === 'origin') return 0;
    const place = this.#places.get(point.id);
    if (place === undefined) return undefined;
    return Number(this.blockAt(place)?.slot) === Number(point.slot) ? place : undefined;
  }

  extend(...blocks: readonly FakeBlock[]): void {
    this.#append(blocks);
    this.#changed();
  }

  /** Takes the newest `depth` blocks back and puts others in their place, in one step. */
  fork(depth: number, blocks: readonly FakeBlock[] = []): void {
    assert.ok(depth <= this.#blocks.length, `there are ${this.#blocks.length} blocks to take back`);
    for (const { id } of this.#blocks.splice(this.#blocks.length - depth)) this.#places.delete(id);
    for (const { shortened } of this.#listeners) shortened(this.#blocks.length);
    this.#append(blocks);
    this.#changed();
  }

  /** Sets the mempool, in the order in which it can be applied. */
  mempool(transactions: readonly FakeTransaction[]): void {
    this.#pending = transactions;
    this.#mempoolVersion += 1;
    this.#changed();
  }

  get pending(): readonly FakeTransaction[] {
    return this.#pending;
  }

  get snapshotVersion(): string {
    return `${this.#mempoolVersion} ${this.tip?.id}`;
  }

  listen(listener: ChainListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #append(blocks: readonly FakeBlock[]): void {
    for (const block of blocks) {
      assert.ok(!this.#places.has(block.id), `block ${block.id} is on the chain`);
      this.#blocks.push(block);
      this.#places.set(block.id, this.#blocks.length);
    }
  }

  #changed(): void {
    for (const { changed } of this.#listeners) changed();
  }
}
