/** The events of a run by virtual time, for the reader of a failure. */

const MAX_LINES = 4_000;

export class Timeline {
  readonly #lines: string[] = [];
  readonly #nowMs: () => number;
  /** Directory of the run's files, a new one for each run. */
  readonly #place: string;
  #hash = 0;
  #count = 0;

  constructor(nowMs: () => number, place: string) {
    this.#nowMs = nowMs;
    this.#place = place;
  }

  /** `who`: a node, `NATS`, `chain`, or empty for the script. */
  note(who: string, what: string): void {
    const line = `${timeText(this.#nowMs())}  ${who.padEnd(6)} ${what.replaceAll(this.#place, '')}`;
    this.#count += 1;
    for (const char of line) this.#hash = (Math.imul(this.#hash, 31) + char.charCodeAt(0)) | 0;
    this.#lines.push(line);
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
  }

  last(count: number): readonly string[] {
    return this.#lines.slice(-count);
  }

  /** The same for two runs in which the same happened. */
  get digest(): string {
    return `${this.#count} lines, ${(this.#hash >>> 0).toString(16)}`;
  }
}

/** `1d 02:03:04.567` */
export function timeText(ms: number): string {
  const whole = Math.floor(ms);
  const days = Math.floor(whole / 86_400_000);
  const clock = new Date(whole % 86_400_000).toISOString().slice(11, 23);
  return days === 0 ? clock : `${days}d ${clock}`;
}
