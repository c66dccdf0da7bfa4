/**
 * Paths between nodes and the servers of NATS. A path is cut in one direction or both; meanwhile,
 * sent messages wait, as TCP repeats them.
 */
import type { Clock } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { Pipe } from './pipe.ts';

export interface Latency {
  readonly minMs: number;
  readonly maxMs: number;
}

/** `node-1`, or the name of a server. */
export type Place = string;

export class Network {
  readonly clock: Clock;
  readonly rng: Rng;
  latency: Latency;
  readonly #cuts = new Set<string>();
  /** They neither take nor say anything. */
  readonly #frozen = new Set<Place>();
  readonly #slowMs = new Map<Place, number>();
  readonly #pipes = new Set<Pipe>();
  /** Called when a path or a place changed. */
  onChange: () => void = () => {};

  constructor(clock: Clock, rng: Rng, latency: Latency) {
    this.clock = clock;
    this.rng = rng;
    this.latency = latency;
  }

  /** `clock`: of the place where it ends, so that a node that is killed or paused takes nothing. */
  pipe(from: Place, to: Place, clock = this.clock): Pipe {
    const pipe = new Pipe({
      clock,
      delayMs: () => this.delayMs(from, to),
      isOpen: () => this.isOpen(from, to),
    });
    this.#pipes.add(pipe);
    return pipe;
  }

  end(pipe: Pipe): void {
    pipe.end();
    this.#pipes.delete(pipe);
  }

  /** In whole milliseconds. */
  delayMs(from: Place, to: Place): number {
    const { minMs, maxMs } = this.latency;
    const drawn = minMs + Math.floor(this.rng.unit() * (maxMs - minMs + 1));
    return drawn + Math.max(this.#slowMs.get(from) ?? 0, this.#slowMs.get(to) ?? 0);
  }

  /** Places with a cut path, or slow ones. */
  get places(): ReadonlySet<Place> {
    const ends = [...this.#cuts].flatMap((path) => path.split('>'));
    return new Set([...ends, ...this.#slowMs.keys()]);
  }

  isCut(from: Place, to: Place): boolean {
    return this.#cuts.size > 0 && this.#cuts.has(`${from}>${to}`);
  }

  isFrozen(place: Place): boolean {
    return this.#frozen.size > 0 && this.#frozen.has(place);
  }

  isOpen(from: Place, to: Place): boolean {
    return !this.isCut(from, to) && !this.isFrozen(to);
  }

  /** One way. */
  cut(from: Place, to: Place): void {
    this.#cuts.add(`${from}>${to}`);
    this.onChange();
  }

  heal(from: Place, to: Place): void {
    if (this.#cuts.delete(`${from}>${to}`)) this.#reopen();
  }

  freeze(place: Place): void {
    this.#frozen.add(place);
    this.onChange();
  }

  thaw(place: Place): void {
    if (this.#frozen.delete(place)) this.#reopen();
  }

  /** Added to each message from or to this place. */
  slow(place: Place, extraMs: number): void {
    if (extraMs === 0) this.#slowMs.delete(place);
    else this.#slowMs.set(place, extraMs);
  }

  #reopen(): void {
    for (const pipe of this.#pipes) pipe.reopen();
    this.onChange();
  }
}
