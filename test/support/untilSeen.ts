/**
 * A random run is worth something only if it met the cases that it is about. Runs `property` again
 * until every count is above 0, a few times at most; then says which never was. Each round draws
 * other input (`seedOf`): the same draws again would come across the same.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';

const MAX_ROUNDS = 8;

/** For `fc.assert`: the seed of the run and the round; nothing where each round draws a seed. */
export function seedOf(round: number): { readonly seed?: number } {
  const { seed } = fc.readConfigureGlobal();
  return seed === undefined ? {} : { seed: seed + round };
}

export async function untilSeen(
  counts: Readonly<Record<string, number>>,
  property: (round: number) => Promise<void>,
): Promise<void> {
  const unseen = () => Object.entries(counts).filter(([, count]) => count === 0);
  for (let round = 0; round === 0 || (unseen().length > 0 && round < MAX_ROUNDS); round += 1) {
    await property(round);
  }
  assert.deepEqual(unseen(), [], `all came within ${MAX_ROUNDS} rounds`);
}
