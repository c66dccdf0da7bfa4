/**
 * How far something long is, on standard error. A terminal gets a bar that is drawn over itself and
 * is gone at the end; elsewhere a line every ten seconds says the same, for logs.
 */
import type { Clock } from '../../engine/runtime/clock.ts';

/** Standard error, from `ProcessOutput`. */
export interface ProgressOutput {
  print(text: string): void;
  /** On a terminal: draws a line over the last one; '' takes it away. */
  readonly draw?: (line: string) => void;
}

const DRAW_EVERY_MS = 100;
const TELL_EVERY_MS = 10_000;
const CELLS = 30;

export class Progress {
  readonly #what: string;
  readonly #clock: Clock;
  readonly #output: ProgressOutput;
  readonly #startMs: number;
  #nextMs: number;

  /** `what` begins the line: `replay`. */
  constructor(what: string, clock: Clock, output: ProgressOutput) {
    this.#what = what;
    this.#clock = clock;
    this.#output = output;
    this.#startMs = clock.monotonicMs();
    this.#nextMs = this.#startMs + this.#everyMs();
  }

  /** As often as one likes; `secondsLeft`, where it is known better than from the time so far. */
  show(done: number, all: number, secondsLeft: number | null = null): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextMs || all <= 0) return;
    this.#nextMs = nowMs + this.#everyMs();
    const share = Math.min(1, done / all);
    const percent = `${Math.floor(share * 100)} %`;
    const left = leftText(secondsLeft ?? secondsLeftOf(share, nowMs - this.#startMs));
    const { draw } = this.#output;
    if (draw === undefined) {
      this.#output.print(`${this.#what}: ${percent}${left}\n`);
      return;
    }
    const full = Math.floor(share * CELLS);
    const bar = '█'.repeat(full) + '░'.repeat(CELLS - full);
    draw(`${this.#what} ${bar} ${percent}${left}`);
  }

  /** Takes the bar away. */
  end(): void {
    this.#output.draw?.('');
  }

  #everyMs(): number {
    return this.#output.draw === undefined ? TELL_EVERY_MS : DRAW_EVERY_MS;
  }
}

/** At the speed so far; null while that says nothing. */
function secondsLeftOf(share: number, passedMs: number): number | null {
  return share === 0 ? null : Math.ceil((passedMs * (1 - share)) / share / 1000);
}

function leftText(seconds: number | null): string {
  if (seconds === null) return '';
  const minutes = Math.floor(seconds / 60);
  return `, ${minutes}:${String(seconds % 60).padStart(2, '0')} left`;
}
