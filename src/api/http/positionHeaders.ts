/** The X-Position, X-Slot and X-Block-Hash header lines, made once per position. */
import { formatPosition, type Position } from '../../engine/runtime/position.ts';
import type { NodeView } from '../gateway/port.ts';

export class PositionHeaders {
  readonly #nodeView: NodeView;
  #position: Position | null = null;
  #hash: string | null = null;
  #lines = '';

  constructor(nodeView: NodeView) {
    this.#nodeView = nodeView;
  }

  now(): string {
    const applied = this.#nodeView.applied();
    const tip = this.#nodeView.tip();
    const same = this.#position?.seq === applied.seq && this.#position.epoch === applied.epoch;
    if (same && this.#hash === tip.hash) return this.#lines;
    this.#position = { epoch: applied.epoch, seq: applied.seq };
    this.#hash = tip.hash;
    this.#lines = `\r\nX-Position: ${formatPosition(applied)}`;
    if (tip.slot !== null) this.#lines += `\r\nX-Slot: ${tip.slot}`;
    if (tip.hash !== null) this.#lines += `\r\nX-Block-Hash: ${tip.hash}`;
    return this.#lines;
  }
}
