/** When pools that have nothing to do now are run again, their own changes apart. */
import type { AssetId } from '../../engine/market/asset.ts';

export interface Pause {
  /** After the next block. */
  readonly untilBlock: boolean;
  /** In chain time: a refund is due. */
  readonly refundMs: number | null;
  /** In monotonic time: what failed may be tried again. */
  readonly retryMs: number | null;
}

export const UNTIL_BLOCK: Pause = { untilBlock: true, refundMs: null, retryMs: null };
export const UNTIL_CHANGE: Pause = { untilBlock: false, refundMs: null, retryMs: null };

export class Wakeups {
  readonly #untilBlock = new Set<AssetId>();
  readonly #refunds = new Alarms();
  readonly #retries = new Alarms();

  set(token: AssetId, { untilBlock, refundMs, retryMs }: Pause): void {
    if (untilBlock) this.#untilBlock.add(token);
    else this.#untilBlock.delete(token);
    this.#refunds.set(token, refundMs);
    this.#retries.set(token, retryMs);
  }

  /** Removes and returns the tokens that waited for a block. */
  blockCame(): AssetId[] {
    const tokens = [...this.#untilBlock];
    this.#untilBlock.clear();
    return tokens;
  }

  /** Removes and returns the tokens whose time has come. */
  due(chainMs: number, monotonicMs: number): AssetId[] {
    return [...this.#refunds.takeDue(chainMs), ...this.#retries.takeDue(monotonicMs)];
  }
}

/** Tokens, each waiting for a time. They are searched only when the earliest is due. */
class Alarms {
  readonly #times = new Map<AssetId, number>();
  /** None is due before it. */
  #firstMs = Number.POSITIVE_INFINITY;

  set(token: AssetId, atMs: number | null): void {
    this.#times.delete(token);
    if (atMs === null) return;
    this.#times.set(token, atMs);
    this.#firstMs = Math.min(this.#firstMs, atMs);
  }

  takeDue(nowMs: number): AssetId[] {
    if (nowMs < this.#firstMs) return [];
    const due: AssetId[] = [];
    this.#firstMs = Number.POSITIVE_INFINITY;
    for (const [token, atMs] of this.#times) {
      if (atMs <= nowMs) due.push(token);
      else this.#firstMs = Math.min(this.#firstMs, atMs);
    }
    for (const token of due) this.#times.delete(token);
    return due;
  }
}
