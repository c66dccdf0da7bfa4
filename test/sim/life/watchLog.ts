/**
 * Rules of the log that hold always, beside the order of its entries (watch.ts):
 *
 * - an entry has the number of its message, and lies behind a message that is an entry;
 * - the log starts again only after it lost something;
 * - it starts again from the newest state that a living node has, readers aside.
 */
import type { Entry } from '../../../src/engine/log/entry.ts';
import { epochNumber } from '../../../src/engine/runtime/position.ts';
import type { Life } from './life.ts';
import { MARKET } from './steps/nats.ts';

/** A node that was held up may begin the log once more, some leases after the loss. */
const MAX_AFTER_LOSS_MS = 60_000;
const MAX_AFTER_LOSS_LEASES = 10;

interface Reached {
  readonly epoch: string;
  readonly seq: number;
  readonly sinceMs: number;
}

export class LogRules {
  readonly #life: Life;
  /** Losses that the last new beginning of the log explains. */
  #explained = 0;
  /** Seq of the last message that was no entry; 0: none. */
  #unreadable = 0;
  /** By name: where a node was two leases ago or before, while nothing held it up. */
  readonly #reached = new Map<string, Reached[]>();

  constructor(life: Life) {
    this.#life = life;
  }

  /** `entry`: what the message holds; null: the message is unreadable. */
  stored(stream: string, seq: number, subject: string, entry: Entry | null): void {
    if (stream !== MARKET || subject.endsWith('.notice')) return;
    if (this.#unreadable >= seq) this.#unreadable = 0;
    if (entry === null) {
      this.#unreadable = seq;
      return;
    }
    if (entry.payload.kind === 'epoch') this.#began(entry);
    else if (entry.seq !== seq) this.#broken(`message ${seq} is entry ${entry.seq}`);
    else if (this.#unreadable === seq - 1) {
      this.#broken(`entry ${seq} lies behind no entry`);
    }
  }

  /** Call it again and again. */
  look(nowMs: number): void {
    const { nodes, living } = this.#life;
    for (const node of nodes) {
      const { name, app } = node;
      // A reader has no part in it: it can begin no log, and none waits for it.
      const isReader = app?.chain?.roles?.isReader === true;
      if (app === null || isReader || !living.includes(node) || this.#isHeldUp(name)) {
        this.#reached.delete(name);
        continue;
      }
      const before = this.#reached.get(name) ?? [];
      const kept = before.findLastIndex(({ sinceMs }) => sinceMs <= nowMs - this.#patienceMs);
      const own = { ...app.node.applied(), sinceMs: nowMs };
      this.#reached.set(name, [...before.slice(Math.max(0, kept)), own]);
    }
  }

  get #patienceMs(): number {
    return 2 * this.#life.leaseMs + 1_000;
  }

  #isHeldUp(name: string): boolean {
    return this.#life.heldUp.has(name) || this.#life.cut.has(name);
  }

  #began({ epoch, payload }: Entry): void {
    if (payload.kind !== 'epoch' || payload.reason !== 'log lost') return;
    const { losses, deps } = this.#life;
    const nowMs = deps.clock.monotonicMs();
    const maxMs = MAX_AFTER_LOSS_MS + MAX_AFTER_LOSS_LEASES * this.#life.leaseMs;
    if (losses === this.#explained && nowMs > this.#life.lossMs + maxMs) {
      this.#broken(`epoch ${epoch} begins the log again, which lost nothing`);
    }
    this.#explained = losses;
    this.#compareBase(epoch, payload.base?.seq ?? 0, nowMs);
  }

  #compareBase(epoch: string, base: number, nowMs: number): void {
    for (const [name, places] of this.#reached) {
      const settled = places.findLast(({ sinceMs }) => sinceMs <= nowMs - this.#patienceMs);
      if (settled === undefined || epochNumber(settled.epoch) !== epochNumber(epoch) - 1) continue;
      if (settled.seq <= base) continue;
      this.#broken(`epoch ${epoch} begins at ${base}, and ${name} was at ${settled.seq} before`);
    }
  }

  #broken(why: string): void {
    this.#life.deps.broken('log', why);
  }
}
