/**
 * The chain and the mempool behind a fake Ogmios. A test writes them; readers are told what lies
 * between their cursor and the present at the moment they ask, so several forks that nobody read
 * in between are one step back. Nothing is ever told out of order.
 */
import assert from 'node:assert/strict';
import type { Era } from './eras.ts';

export interface FakePoint {
  readonly slot: number | bigint;
  /** Of the block, hex. */
  readonly id: string;
}

export interface FakeTip extends FakePoint {
  readonly height: bigint;
}

export interface FakeBlock extends FakeTip {
  readonly era: Era;
  /** The JSON of `block` in a `nextBlock` answer. */
  readonly text: string;
}

export interface FakeTransaction {
  readonly id: string;
  /** The size it has in the mempool. */
  readonly bytes: number;
  /** The JSON of a transaction, all fields. */
  readonly text: string;
}

export type Step =
  | { readonly direction: 'backward'; readonly point: FakePoint | 'origin' }
  | { readonly direction: 'forward'; readonly block: FakeBlock };

export class FakeChain {
  readonly #blocks: FakeBlock[] = [];
  readonly #at = new Map<string, number>();
  readonly #readers = new Set<ChainReader>();
  readonly #watchers = new Set<() => void>();
  #waiting: readonly FakeTransaction[] = [];
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

  block(at: number): FakeBlock | undefined {
    return this.#blocks[at];
  }

  /** The position of a block on the chain; -1 is the origin, undefined: it is not on it. */
  positionOf(point: FakePoint | 'origin'): number | undefined {
    if (point === 'origin') return -1;
    const at = this.#at.get(point.id);
    if (at === undefined) return undefined;
    return Number(this.#blocks[at]?.slot) === Number(point.slot) ? at : undefined;
  }

  extend(...blocks: readonly FakeBlock[]): void {
    this.#append(blocks);
    this.#changed();
  }

  /** Takes the newest `depth` blocks back and puts others in their place, in one step. */
  fork(depth: number, blocks: readonly FakeBlock[] = []): void {
    assert.ok(depth <= this.#blocks.length, `there are ${this.#blocks.length} blocks to take back`);
    for (const { id } of this.#blocks.splice(this.#blocks.length - depth)) this.#at.delete(id);
    for (const reader of this.#readers) reader.shortened(this.#blocks.length);
    this.#append(blocks);
    this.#changed();
  }

  /** What waits, in the order in which it can be applied. */
  mempool(transactions: readonly FakeTransaction[]): void {
    this.#waiting = transactions;
    this.#mempoolVersion += 1;
    this.#changed();
  }

  get waiting(): readonly FakeTransaction[] {
    return this.#waiting;
  }

  /** Changes with the mempool and with the tip: a node makes a new snapshot for both. */
  get snapshotVersion(): string {
    return `${this.#mempoolVersion} ${this.tip?.id}`;
  }

  /** `changed` is called after every change. Answers how to end that. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  reader(): ChainReader {
    const reader = new ChainReader(this);
    this.#readers.add(reader);
    return reader;
  }

  forget(reader: ChainReader): void {
    this.#readers.delete(reader);
  }

  #append(blocks: readonly FakeBlock[]): void {
    for (const block of blocks) {
      assert.ok(!this.#at.has(block.id), `block ${block.id} is on the chain`);
      this.#at.set(block.id, this.#blocks.length);
      this.#blocks.push(block);
    }
  }

  #changed(): void {
    for (const changed of this.#watchers) changed();
  }
}

/** A cursor: where a client is, and whether it has to be told so. */
export class ChainReader {
  readonly #chain: FakeChain;
  /** Position of the block that was told last; -1 is the origin. */
  #at = -1;
  #mustGoBack = true;

  constructor(chain: FakeChain) {
    this.#chain = chain;
  }

  /** The next step is a step back to it, also where that changes nothing. */
  intersect(at: number): void {
    this.#at = at;
    this.#mustGoBack = true;
  }

  shortened(length: number): void {
    if (this.#at < length) return;
    this.#at = length - 1;
    this.#mustGoBack = true;
  }

  /** null: at the tip. */
  next(): Step | null {
    const here = this.#chain.block(this.#at);
    if (this.#mustGoBack) {
      this.#mustGoBack = false;
      const point = here === undefined ? 'origin' : { slot: here.slot, id: here.id };
      return { direction: 'backward', point };
    }
    const block = this.#chain.block(this.#at + 1);
    if (block === undefined) return null;
    this.#at += 1;
    return { direction: 'forward', block };
  }
}
