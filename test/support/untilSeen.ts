/**
 * Random runs are worth something when they came across what they are about. Runs `property` again
 * until every count is above 0, a few times at most; then says which never was. A property adds the
 * round to its seed: the same draws again would come across the same.
 */
import assert from 'node:assert/strict';

const MOST_ROUNDS = 8;

export async function untilSeen(
  counts: Readonly<Record<string, number>>,
  property: (round: number) => Promise<void>,
): Promise<void> {
  const unseen = () => Object.entries(counts).filter(([, count]) => count === 0);
  for (let round = 0; round === 0 || (unseen().length > 0 && round < MOST_ROUNDS); round += 1) {
    await property(round);
  }
  assert.deepEqual(unseen(), [], `all came within ${MOST_ROUNDS} rounds`);
}
