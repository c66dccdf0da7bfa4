/** Orders of a mirror stand in the order that HTTP has, whatever blocks come and go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { merged } from '../../src/client/mirrors/orders.ts';
import type { ApiOrder } from '../../src/client/types.ts';

/** Blocks of one second: a chain of short slots, of which rows tell the second only. */
const BLOCKS_A_SECOND = 3;

interface Placed {
  readonly id: string;
  readonly block: number;
  readonly index: number;
}

type Step =
  | { readonly kind: 'block'; readonly orders: number }
  | { readonly kind: 'status'; readonly which: number }
  /** Undoes blocks; their orders return in another order, in as many blocks or fewer. */
  | {
      readonly kind: 'fork';
      readonly depth: number;
      readonly blocks: number;
      readonly turn: number;
    }
  | { readonly kind: 'frame' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('block' as const), orders: fc.nat(4) }),
  fc.record({ kind: fc.constant('status' as const), which: fc.nat(50) }),
  fc.record({
    kind: fc.constant('fork' as const),
    depth: fc.integer({ min: 1, max: 4 }),
    blocks: fc.integer({ min: 0, max: 4 }),
    turn: fc.nat(5),
  }),
  fc.record({ kind: fc.constant('frame' as const) }),
);

/** A chain and a server: each frame names the orders that changed since the frame before. */
class Chain {
  blocks: Placed[][] = [];
  #touched = new Set<string>();
  readonly #filled = new Set<string>();
  #made = 0;

  run(step: Exclude<Step, { readonly kind: 'frame' }>): void {
    if (step.kind === 'block')
      this.#extend(Array.from({ length: step.orders }, () => this.#next()));
    else if (step.kind === 'status') this.#fill(step.which);
    else this.#fork(step.depth, step.blocks, step.turn);
  }

  /** As HTTP lists them. */
  ledger(): ApiOrder[] {
    return this.#newestFirst().map((placed) => this.#rowOf(placed));
  }

  frame() {
    const listed = this.#newestFirst();
    const there = new Set(listed.map(({ id }) => id));
    const ledger = listed
      .filter(({ id }) => this.#touched.has(id))
      .map((each) => this.#rowOf(each));
    const removed = [...this.#touched].filter((id) => !there.has(id));
    this.#touched = new Set();
    return { ledger, mempool: [], removed, count: listed.length };
  }

  #next(): string {
    this.#made += 1;
    return `${this.#made}`;
  }

  #extend(ids: readonly string[]): void {
    const block = this.blocks.length;
    this.blocks.push(ids.map((id, index) => ({ id, block, index })));
    for (const id of ids) this.#touched.add(id);
  }

  #fill(which: number): void {
    const all = this.blocks.flat();
    const chosen = all[which % Math.max(1, all.length)];
    if (chosen === undefined) return;
    this.#filled.add(chosen.id);
    this.#touched.add(chosen.id);
  }

  #fork(depth: number, blocks: number, turn: number): void {
    const undone = this.blocks.splice(-depth).flat();
    for (const { id } of undone) this.#touched.add(id);
    const ids = undone.map(({ id }) => id);
    const turned = [...ids.slice(turn), ...ids.slice(0, turn)];
    const share = Math.ceil(turned.length / Math.max(1, blocks));
    for (let made = 0; made < blocks; made += 1) {
      this.#extend(turned.slice(made * share, (made + 1) * share));
    }
  }

  #newestFirst(): Placed[] {
    return this.blocks.flat().sort((a, b) => b.block - a.block || b.index - a.index);
  }

  #rowOf({ id, block }: Placed): ApiOrder {
    const status = this.#filled.has(id) ? 'Evaluated' : 'Pending';
    const timestamp = Math.floor(block / BLOCKS_A_SECOND);
    // A row of which the code under test reads only the id, the second and the status.
    return { entityId: id, timestamp, status } as ApiOrder;
  }
}

test('orders stand as HTTP lists them, through blocks of one second and rollbacks', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const chain = new Chain();
      let known: ReturnType<typeof merged> & { readonly count: number } = {
        ...{ ledger: [], mempool: [], count: 0 },
      };
      for (const each of [...steps, { kind: 'frame' } as const]) {
        if (each.kind !== 'frame') {
          chain.run(each);
          continue;
        }
        const frame = chain.frame();
        known = { ...merged(known, frame), count: frame.count };
        assert.deepEqual(known.ledger, chain.ledger());
      }
    }),
    { numRuns: 500 },
  );
});
