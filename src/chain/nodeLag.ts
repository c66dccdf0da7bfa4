/**
 * Our Cardano node may be behind the log, which another node wrote, or on a shorter fork. Cardano
 * nodes never switch to a shorter chain. So the log stays unchanged until our node has the same
 * chain again, or a fork of at least that length (`NodeLagGuard`). Until then this node does not
 * lead (`LeaderEligibility`).
 */
import type { PointRecord } from '../engine/store/records.ts';
import type { StateStore } from '../engine/store/state.ts';
import { chainTip, findPoint } from './chainPoints.ts';
import type { Block, ChainTip } from './port.ts';

export class NodeLagGuard {
  #isActive = false;
  /** The newest block known to be both in our node's chain and in the fold; null: the start. */
  #sharedPoint: PointRecord | null = null;

  get isActive(): boolean {
    return this.#isActive;
  }

  get sharedPoint(): PointRecord | null {
    return this.#sharedPoint;
  }

  /** Our node is at `sharedPoint`, or went back to it. */
  start(sharedPoint: PointRecord | null): void {
    this.#isActive = true;
    this.#sharedPoint = sharedPoint;
  }

  stopMeasuring(): void {
    this.#isActive = false;
    this.#sharedPoint = null;
  }

  /** By its next block, our node is still behind, has caught up, or has another chain. */
  check({ point, height }: Block, store: StateStore): 'behind' | 'same' | 'other' {
    const tip = chainTip(store);
    if (tip === null || point.hash === tip.hash) return 'same';
    if (height >= tip.height) return 'other';
    this.#sharedPoint = findPoint(store, point) ?? this.#sharedPoint;
    return 'behind';
  }
}

/** A leader waits for so few missing blocks. */
const MAX_MISSING_BLOCKS = 3;

export class LeaderEligibility {
  /** Height of the newest applied block. */
  readonly #loggedHeight: () => number;
  #neededHeight = 0;

  constructor(loggedHeight: () => number) {
    this.#loggedHeight = loggedHeight;
  }

  /** `newest` block of our Cardano node; null: unknown. */
  isEligible(newest: ChainTip | null): boolean {
    if (newest === null) return false;
    const minHeight = this.#loggedHeight() - MAX_MISSING_BLOCKS;
    return newest.height >= Math.max(minHeight, this.#neededHeight);
  }

  /** Our Cardano node lagged for too long: not eligible until it has every block logged so far. */
  steppedDown(): void {
    this.#neededHeight = this.#loggedHeight();
  }
}
