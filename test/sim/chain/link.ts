/**
 * The network between one node and its chain: two servers (Ogmios, Kupo), two directions each. A
 * message that is on its way when a direction is cut arrives; later messages are held, in order,
 * and arrive once it is healed, as TCP repeats lost bytes.
 */
import type { SimProcess, VirtualTime } from '../machine/virtualTime.ts';

export type Server = 'ogmios' | 'kupo';
export type Direction = 'toServer' | 'toNode';

const LATENCY_MS = 1;

/** One direction to one server: its delay, and whether it is cut. */
class Lane {
  slowMs = 0;
  #isCut = false;
  #held: (() => void)[] = [];

  get delayMs(): number {
    return LATENCY_MS + this.slowMs;
  }

  /** Now, or once the lane is healed. */
  whenWhole(send: () => void): void {
    if (this.#isCut) this.#held.push(send);
    else send();
  }

  cut(): void {
    this.#isCut = true;
  }

  heal(): void {
    this.#isCut = false;
    this.slowMs = 0;
    for (const send of this.#held.splice(0)) send();
  }
}

/** Messages from one end of a connection to the other, in order. */
export class Pipe {
  readonly #time: VirtualTime;
  readonly #lane: Lane;
  readonly #to: SimProcess;
  /** An event takes the oldest: equal times need no comparison of fractions. */
  readonly #queue: (() => void)[] = [];
  #lastMs = 0;

  constructor(time: VirtualTime, lane: Lane, to: SimProcess) {
    this.#time = time;
    this.#lane = lane;
    this.#to = to;
  }

  /** `run` is an event of the other end. */
  send(run: () => void): void {
    this.#queue.push(run);
    this.#lane.whenWhole(() => {
      const { nowMs } = this.#time;
      this.#lastMs = Math.max(this.#lastMs, nowMs + this.#lane.delayMs);
      this.#time.at(this.#to, this.#lastMs - nowMs, () => this.#queue.shift()?.());
    });
  }
}

/** All of one node. */
export class ChainLink {
  readonly #lanes: Readonly<Record<Server, Readonly<Record<Direction, Lane>>>> = {
    ogmios: { toServer: new Lane(), toNode: new Lane() },
    kupo: { toServer: new Lane(), toNode: new Lane() },
  };

  lane(server: Server, direction: Direction): Lane {
    return this.#lanes[server][direction];
  }

  /** The lanes of both servers, in both directions unless one is named. */
  lanes(direction?: Direction): Lane[] {
    const directions = direction === undefined ? (['toServer', 'toNode'] as const) : [direction];
    return directions.flatMap((each) => [this.#lanes.ogmios[each], this.#lanes.kupo[each]]);
  }
}
