/** Faults of deliveries to a node: a share is dropped or doubled, or what streams push is late. */
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import type { Place } from './network.ts';
import type { Packet } from './packet.ts';

export class DeliveryFaults {
  readonly dropped = new Map<Place, number>();
  readonly doubled = new Map<Place, number>();
  readonly lateMs = new Map<Place, number>();
  readonly #rng: Rng;

  constructor(rng: Rng) {
    this.#rng = rng;
  }

  get places(): readonly Place[] {
    return [this.dropped, this.doubled, this.lateMs].flatMap((map) => [...map.keys()]);
  }

  heal(node: Place): void {
    for (const map of [this.dropped, this.doubled, this.lateMs]) map.delete(node);
  }

  /** How often a message is delivered. */
  copies(node: Place): number {
    const dropped = this.dropped.get(node) ?? 0;
    if (dropped > 0 && this.#rng.unit() < dropped) return 0;
    const doubled = this.doubled.get(node) ?? 0;
    return doubled > 0 && this.#rng.unit() < doubled ? 2 : 1;
  }

  /** A message that a consumer delivers names the subject of its acknowledgement. */
  lateBy(node: Place, { reply }: Packet): number {
    return reply.startsWith('$JS.ACK.') ? (this.lateMs.get(node) ?? 0) : 0;
  }
}
