/**
 * Draws cards in a separate process, one at a time. The process starts with the first card, ends
 * after a minute without one, and is killed where one takes too long.
 *
 * Never: waits for a process that ended: its card is refused, and the next one starts another.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Service } from '../../engine/runtime/service.ts';
import type { RenderAnswer, RenderRequest } from './renderProcess.ts';

const PROGRAM = new URL('./renderProcess.ts', import.meta.url);
/** With the start of the process, on a machine that is busy. */
const MAX_MS = 10_000;
const IDLE_MS = 60_000;
/**
 * Cards that wait: further ones are refused, because a crawler may ask for the cards of a whole
 * market.
 */
const MAX_PENDING = 16;
const HEAP_MIB = 128;

interface Pending {
  readonly request: RenderRequest;
  readonly settle: (answer: Uint8Array | Failure) => void;
}

export class CardRenderer implements Service {
  readonly name = 'pictures';
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;
  readonly #program: URL;
  #child: ChildProcess | null = null;
  #timer: Timer | null = null;
  /** The first one is being drawn. */
  readonly #pending: Pending[] = [];
  #lastId = 0;
  #isStopping = false;

  /** `failed` hears of a process that could not be started. */
  constructor(clock: Clock, failed: (error: unknown) => void, program = PROGRAM) {
    this.#clock = clock;
    this.#failed = failed;
    this.#program = program;
  }

  /** Process that draws; null: there is none now. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  render(card: Omit<RenderRequest, 'id'>): Promise<Uint8Array | Failure> {
    if (this.#isStopping || this.#pending.length >= MAX_PENDING) {
      const message = 'Too many pictures are being drawn; ask again in a few seconds.';
      return Promise.resolve(new Failure('OVERLOADED', message, { retryAfterSeconds: 5 }));
    }
    this.#lastId += 1;
    const request = { ...card, id: this.#lastId };
    return new Promise((settle) => {
      this.#pending.push({ request, settle });
      if (this.#pending.length === 1) this.#drawNext();
    });
  }

  /** The process starts with the first card. */
  start(): void {}

  /** Cards that wait are refused. */
  stop(): void {
    this.#isStopping = true;
    this.#timer?.cancel();
    this.#child?.kill('SIGKILL');
  }

  #drawNext(): void {
    this.#timer?.cancel();
    const [next] = this.#pending;
    const isIdle = next === undefined;
    const child = isIdle ? this.#child : (this.#child ?? this.#start());
    this.#timer = this.#clock.after(isIdle ? IDLE_MS : MAX_MS, () => child?.kill('SIGKILL'));
    // Without a channel the process could not be started: its `error` event settles the card.
    if (next !== undefined && child?.connected === true) child.send(next.request);
  }

  #start(): ChildProcess {
    const execArgv = ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MIB}`];
    const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const;
    const child = fork(this.#program, {
      execArgv,
      serialization: 'advanced',
      stdio: [...stdio],
      // No setting of the server, and nothing secret, concerns it.
      env: {},
    });
    child.on('message', (message) => {
      const { id, png } = message as RenderAnswer; // trust: renderProcess.ts sends it
      if (this.#pending[0]?.request.id === id) this.#settle(png);
    });
    child.on('error', (error) => {
      this.#failed(error);
      this.#ended(child);
    });
    child.on('exit', () => this.#ended(child));
    // The server ends without waiting for it.
    child.unref();
    child.channel?.unref();
    this.#child = child;
    return child;
  }

  #ended(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = null;
    this.#timer?.cancel();
    if (this.#pending.length === 0) return;
    const message = 'The picture could not be drawn; ask again.';
    const failure = new Failure('OVERLOADED', message, { retryAfterSeconds: 5 });
    if (this.#isStopping) for (const { settle } of this.#pending.splice(0)) settle(failure);
    else this.#settle(failure);
  }

  #settle(answer: Uint8Array | Failure): void {
    this.#pending.shift()?.settle(answer);
    this.#drawNext();
  }
}
