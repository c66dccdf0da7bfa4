/**
 * The newest blocks as they came from the node, as many as a chain may take back, with what each
 * did to what is looked for, so that it can be undone.
 */
import type { RefText } from '../../engine/market/events.ts';
import type { Point } from '../port.ts';
import type { NodeConnection } from './connection.ts';
import { NodeRefusal } from './fault.ts';
import type { FilterMatch } from './transactionFilter.ts';
import { readPoint } from './transactionJson.ts';

export interface RecentBlock {
  readonly hash: string;
  /** null: a block between epochs of Byron; nobody is told of it, and it is no point to go to. */
  readonly slot: number | null;
  readonly height: number;
  /** Of its transactions that were told. */
  readonly ids: readonly string[];
  readonly matches: readonly FilterMatch[];
}

/** What a chain may take back, and the block that it goes back to. */
const KEPT = 2_161;

export class RecentBlocks {
  readonly #forget: (refs: readonly RefText[]) => void;
  /** Oldest first. */
  #blocks: RecentBlock[] = [];
  readonly #ids = new Set<string>();
  /** The block before the oldest; null: there is none. */
  #base: Point | null;
  /** Points that were known before, newest first: where a node may still agree with us. */
  #older: readonly Point[];

  /** `forget` is called with outputs that are spent or unmade for good. */
  constructor(
    base: Point | null,
    older: readonly Point[],
    forget: (refs: readonly RefText[]) => void,
  ) {
    this.#base = base;
    this.#older = older;
    this.#forget = forget;
  }

  /** Of the newest block, boundaries included; null: before the first. */
  get newestHash(): string | null {
    return this.#blocks.at(-1)?.hash ?? this.#base?.hash ?? null;
  }

  /** Points to find a common block by, newest first. */
  points(): (Point | null)[] {
    const points: (Point | null)[] = [];
    for (const { hash, slot } of this.#blocks) if (slot !== null) points.push({ hash, slot });
    points.reverse();
    points.push(this.#base, ...this.#older);
    return points;
  }

  /** Whether a transaction that was told is in one of the blocks. */
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
   * Takes back what is above a block. Answers the newest block that is told of and left, which is
   * what readers go back to; undefined: the block lies before all that is known here.
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
/** The newest ones are asked for one by one, older ones at growing distances. */
const DENSE = 16;
const MOST_AT_ONCE = 64;

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
    // Between what it does not have and what it has.
    candidates = candidates.slice(newer + 1, here + 1);
  }
}

function thinned(points: readonly Place[]): Place[] {
  if (points.length <= MOST_AT_ONCE) return [...points];
  const kept = points.slice(0, DENSE);
  const growth = (points.length / DENSE) ** (1 / (MOST_AT_ONCE - DENSE - 1));
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
