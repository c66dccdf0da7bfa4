/**
 * The newest blocks received from the node, as many as a fork can roll back, each with its matches
 * of the filter, so that they can be undone. And the newest block in common with a node.
 */
import type { RefText } from '../../engine/market/events.ts';
import type { Point } from '../port.ts';
import type { NodeConnection } from './connection.ts';
import { NodeRefusal } from './fault.ts';
import type { FilterMatch } from './transactionFilter.ts';
import { readPoint } from './transactionJson.ts';

export interface RecentBlock {
  readonly hash: string;
  /** null: a block between epochs of Byron, which is not reported and is no point. */
  readonly slot: number | null;
  readonly height: number;
  /** Ids of its reported transactions. */
  readonly ids: readonly string[];
  readonly matches: readonly FilterMatch[];
}

/** The longest fork, and the block before it. */
const KEPT = 2_161;

export class RecentBlocks {
  readonly #forget: (refs: readonly RefText[]) => void;
  /** Oldest first. */
  #blocks: RecentBlock[] = [];
  readonly #ids = new Set<string>();
  /** The block before the oldest; null: there is none. */
  #base: Point | null;
  /** Known points before `#base`, newest first: a node may share one of them. */
  #older: readonly Point[];

  /** `forget` is called with outputs whose spending or removal is final. */
  constructor(
    base: Point | null,
    older: readonly Point[],
    forget: (refs: readonly RefText[]) => void,
  ) {
    this.#base = base;
    this.#older = older;
    this.#forget = forget;
  }

  /** Hash of the newest block, with or without a slot; null before the first block. */
  get newestHash(): string | null {
    return this.#blocks.at(-1)?.hash ?? this.#base?.hash ?? null;
  }

  /** Candidates for a common block, newest first. */
  points(): (Point | null)[] {
    const points: (Point | null)[] = [];
    for (const { hash, slot } of this.#blocks) if (slot !== null) points.push({ hash, slot });
    points.reverse();
    points.push(this.#base, ...this.#older);
    return points;
  }

  /** Whether one of these blocks contains this transaction. */
  holds(id: string): boolean {
    return this.#ids.has(id);
  }

  add(block: RecentBlock): void {
    this.#blocks.push(block);
    for (const id of block.ids) this.#ids.add(id);
    if (this.#blocks.length <= KEPT + KEPT / 8) return;
    for (const settled of this.#blocks.splice(0, this.#blocks.length - KEPT)) {
      for (const id of settled.ids) this.#ids.delete(id);
      for (const { spent } of settled.matches) this.#forget(spent);
      const { hash, slot } = settled;
      if (slot !== null) this.#base = { hash, slot };
    }
    this.#older = [];
  }

  /**
   * Removes the blocks above `hash`. Returns the newest remaining block with a slot, where
   * followers continue; undefined: the block is older than all blocks here.
   */
  backTo(hash: string | null): Point | null | undefined {
    const at = this.#blocks.findLastIndex((block) => block.hash === hash);
    if (at < 0 && hash !== (this.#base?.hash ?? null)) return undefined;
    for (const { ids, matches } of this.#blocks.splice(at + 1)) {
      for (const id of ids) this.#ids.delete(id);
      for (const { made } of matches) this.#forget(made);
    }
    const told = this.#blocks.findLast(({ slot }) => slot !== null);
    return told === undefined ? this.#base : { hash: told.hash, slot: Number(told.slot) };
  }
}

const INTERSECTION_NOT_FOUND = 1000;
/** The newest points are all candidates, older ones at growing distances. */
const DENSE = 16;
const MAX_AT_ONCE = 64;

type Place = Point | null;

/** `points` newest first, null is the origin. undefined: none is on the node's chain. */
export async function intersect(
  connection: NodeConnection,
  points: readonly Place[],
): Promise<Place | undefined> {
  let candidates = points;
  for (;;) {
    const asked = thinned(candidates);
    const found = await firstOf(connection, asked);
    if (found === undefined) return candidates === points ? undefined : candidates.at(-1);
    const at = asked.findIndex((point) => point?.hash === found?.hash);
    const newer = at > 0 ? candidates.indexOf(asked[at - 1] ?? null) : -1;
    const here = candidates.indexOf(asked[at] ?? null);
    if (here - newer <= 1) return found;
    // Narrows down to the points between a missing and a present one.
    candidates = candidates.slice(newer + 1, here + 1);
  }
}

function thinned(points: readonly Place[]): Place[] {
  if (points.length <= MAX_AT_ONCE) return [...points];
  const kept = points.slice(0, DENSE);
  const growth = (points.length / DENSE) ** (1 / (MAX_AT_ONCE - DENSE - 1));
  for (let at = DENSE; at < points.length - 1; at = Math.ceil((at + 1) * growth)) {
    kept.push(points[at] ?? null);
  }
  return [...kept, points.at(-1) ?? null];
}

async function firstOf(
  connection: NodeConnection,
  points: readonly Place[],
): Promise<Place | undefined> {
  try {
    const asked = points.map((point) =>
      point === null ? ('origin' as const) : { slot: point.slot, id: point.hash },
    );
    return readPoint(await connection.findIntersection(asked), 'the intersection');
  } catch (error) {
    if (error instanceof NodeRefusal && error.code === INTERSECTION_NOT_FOUND) return undefined;
    throw error;
  }
}
