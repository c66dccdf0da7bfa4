/** A hub over virtual time, with sources whose answers the test sets. */
import Type, { type TSchema } from 'typebox';
import { createHub } from '../../../src/api/topics/hub.ts';
import { type Recipient, type Source, topic } from '../../../src/api/topics/port.ts';
import type { Clock } from '../../../src/engine/runtime/clock.ts';
import { silentObserver } from '../silentObserver.ts';

/** Virtual time: each turn of the loop takes the time that the test sets. */
export class VirtualClock implements Clock {
  ms = 1_000;
  /** Length of the longest turn so far. */
  longestTurnMs = 0;
  readonly #due: { atMs: number; order: number; run: () => void }[] = [];
  #order = 0;

  nowMs = () => Math.floor(this.ms);
  monotonicMs = () => this.ms;
  soon = (run: () => void) => this.after(0, run);

  after(delayMs: number, run: () => void) {
    const entry = { atMs: this.ms + delayMs, order: this.#order++, run };
    this.#due.push(entry);
    const cancel = () => {
      const at = this.#due.indexOf(entry);
      if (at >= 0) this.#due.splice(at, 1);
    };
    return { cancel };
  }

  /** Runs everything that is due until that time. */
  advance(ms: number): void {
    const untilMs = this.ms + ms;
    for (;;) {
      this.#due.sort((a, b) => a.atMs - b.atMs || a.order - b.order);
      const next = this.#due[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#due.shift();
      this.ms = Math.max(this.ms, next.atMs);
      const startMs = this.ms;
      next.run();
      this.longestTurnMs = Math.max(this.longestTurnMs, this.ms - startMs);
    }
    this.ms = Math.max(this.ms, untilMs);
  }
}

/** In place of a channel: sent to one socket alone. */
export const DIRECTLY = 'directly';

export function world() {
  const clock = new VirtualClock();
  const applied = { epoch: '1-a', seq: 5 };
  const sent: { atMs: number; channel: string; frame: Record<string, unknown> }[] = [];
  const cost = { ms: 0 };
  const take = (channel: string, bytes: Uint8Array) => {
    sent.push({ atMs: clock.ms, channel, frame: JSON.parse(Buffer.from(bytes).toString()) });
    clock.ms += cost.ms;
  };
  const hub = createHub({
    nodeView: { applied: () => applied },
    clock,
    observer: silentObserver,
    publish: take,
  });
  const socket = (): Recipient => {
    const held: Uint8Array[] = [];
    return {
      keepFrame: (builder, head) => held.push(Uint8Array.from(builder.frame(head))),
      deliver: () => {
        for (const frame of held.splice(0)) take(DIRECTLY, frame);
      },
    };
  };
  const changed = new Map<string, number>();
  /** If set, replaces the answer of the source `a`. */
  const instead: { answer: ((seq: number) => ReturnType<Source['since']>) | null } = {
    answer: null,
  };
  /** Milliseconds of work that a source does before it is asked, by its name. */
  const toPrepare = new Map<string, number>();
  const ends: string[] = [];
  const asked: string[] = [];
  const source = (name: string): Source => ({
    key: name,
    tags: [name],
    prepare: (isOver) => workThrough(clock, toPrepare, name, isOver),
    snapshot: () => ({ name }),
    since(seq) {
      asked.push(`${name} since ${seq}`);
      if (name === 'a' && instead.answer !== null) return instead.answer(seq);
      const at = changed.get(name) ?? 0;
      return at > seq ? [{ event: 'Update', seq: at, data: { name } }] : [];
    },
  });
  const topicAt = (cadenceMs: number) =>
    topic<string, TSchema, TSchema, Record<string, TSchema>>({
      name: 'T',
      summary: '',
      cadenceMs,
      data: Type.Unknown(),
      update: Type.Unknown(),
      open: () => source('x'),
    });
  const join = (name: string, cadenceMs: number, requestId = 'r') =>
    hub.join({
      topic: topicAt(cadenceMs),
      source: source(name),
      cadenceMs,
      requestId,
      encoding: 'json',
      to: socket(),
      ended: ({ cause }) => void ends.push(`${requestId} ${cause}`),
    });
  const change = (...names: string[]) => {
    applied.seq += 1;
    for (const name of names) changed.set(name, applied.seq);
    hub.applied(names);
  };
  return { clock, hub, sent, cost, asked, join, change, applied, instead, toPrepare, ends };
}

/** Work of a source, a millisecond at a time, until `isOver`. True: nothing is left. */
export function workThrough(
  clock: VirtualClock,
  left: Map<string, number>,
  name: string,
  isOver: () => boolean,
): boolean {
  for (let ms = left.get(name) ?? 0; ms > 0; ms -= 1) {
    if (isOver()) return false;
    clock.ms += 1;
    left.set(name, ms - 1);
  }
  return true;
}
