/**
 * Standard output and standard error of the process. While a bar of progress is drawn on the
 * terminal, whatever else is written takes it away first: both streams end on the same screen.
 */
import type { ProgressOutput } from './progress.ts';

interface OutputStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** To the first column, and nothing behind it. */
const CLEAR = '\r\x1b[K';

export class ProcessOutput implements ProgressOutput {
  readonly #out: OutputStream;
  readonly #error: OutputStream;
  /** Absent where standard error is not a terminal. */
  readonly draw?: (line: string) => void;
  #isDrawn = false;

  constructor(out: OutputStream, error: OutputStream) {
    this.#out = out;
    this.#error = error;
    if (error.isTTY === true) this.draw = (line) => this.#draw(line);
  }

  /** To standard output. */
  write(text: string): void {
    this.#draw('');
    this.#out.write(text);
  }

  /** To standard error. */
  print(text: string): void {
    this.#draw('');
    this.#error.write(text);
  }

  #draw(line: string): void {
    if (line === '' && !this.#isDrawn) return;
    this.#error.write(line === '' ? CLEAR : `${CLEAR}${line}\r`);
    this.#isDrawn = line !== '';
  }
}
