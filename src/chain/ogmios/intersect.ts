/** The newest block that we and the node have in common, without asking for thousands at once. */
import type { Point } from '../port.ts';
import { readPoint } from './blockJson.ts';
import type { NodeConnection } from './connection.ts';
import { NodeRefusal } from './fault.ts';

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
