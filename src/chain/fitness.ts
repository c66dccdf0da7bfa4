/**
 * Whether a node among several has enough of the chain to lead. One whose Cardano node is a block
 * or two late may: it waits for those. One that waited in vain leaves it to others until its
 * Cardano node has what it lacked.
 */
import type { ChainTip } from './port.ts';

const CLOSE_BLOCKS = 3;

export class LeaderEligibility {
  /** Of the newest block that is applied. */
  readonly #loggedHeight: () => number;
  #neededHeight = 0;

  constructor(loggedHeight: () => number) {
    this.#loggedHeight = loggedHeight;
  }

  /** `newest` of its Cardano node; null: that does not tell. */
  isEligible(newest: ChainTip | null): boolean {
    if (newest === null) return false;
    return newest.height >= Math.max(this.#loggedHeight() - CLOSE_BLOCKS, this.#neededHeight);
  }

  steppedDown(): void {
    this.#neededHeight = this.#loggedHeight();
  }
}
