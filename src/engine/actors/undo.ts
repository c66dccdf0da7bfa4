/** What a rollback puts back: of each row the value it had, the oldest image wins. */
import { assert } from '../runtime/assert.ts';
import type { RowImage } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { isPermanent } from './pairIds.ts';

/** Rows as they were after entry `toSeq`. Everything must be committed. */
export function imagesBefore(toSeq: number, store: StateStore): RowImage[] {
  assert(
    toSeq >= store.horizonSeq,
    `a rollback to ${toSeq} is within HORIZON_BLOCKS: set it as high as when it was written`,
  );
  const images = new Map<string, RowImage>();
  for (const image of store.imagesAfter(toSeq)) {
    if (!isPermanent(image)) images.set(`${image.table}\t${image.key}`, image);
  }
  return [...images.values()];
}
