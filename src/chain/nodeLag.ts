/**
 * Where our node is while it is behind what other nodes wrote, or on a fork that is shorter. What
 * is in the log stays as it is until our node has the same again, or another chain as long: a node
 * leaves its chain for none that is shorter, so one that does is only late.
 */
import type { PointRecord } from '../engine/store/records.ts';
import type { StateStore } from '../engine/store/state.ts';
import { chainTip, findPoint } from './chainPoints.ts';
import type { Block } from './port.ts';

export class NodeLagGuard {
  #isOn = false;
  /** The newest block that our node and the fold share, as far as is known; null: the start. */
  #at: PointRecord | null = null;

  get isActive(): boolean {
    return this.#isOn;
  }

  get sharedPoint(): PointRecord | null {
    return this.#at;
  }

  /** Our node is there, or went back to there. */
  start(at: PointRecord | null): void {
    this.#isOn = true;
    this.#at = at;
  }

  end(): void {
    this.#isOn = false;
    this.#at = null;
  }

  /** What our node's next block says: it is late still, has caught up, or has another chain. */
  check({ point, height }: Block, store: StateStore): 'late' | 'same' | 'other' {
    const tip = chainTip(store);
    if (tip === null || point.hash === tip.hash) return 'same';
    if (height >= tip.height) return 'other';
    this.#at = findPoint(store, point) ?? this.#at;
    return 'late';
  }
}
