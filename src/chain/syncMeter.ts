/**
 * Progress of following: our position, the node's, and the speed. Read by health, metrics and the
 * log; never part of the fold.
 */
import type { Clock } from '../engine/runtime/clock.ts';
import type { StateStore } from '../engine/store/state.ts';
import { chainTip } from './chainPoints.ts';
import type { ChainTip } from './port.ts';

export interface SyncProgress {
  /** null: before the first block. */
  readonly slot: number | null;
  /** Slot of the node's newest block; null while unknown. */
  readonly tipSlot: number | null;
  readonly blocksBehind: number | null;
  /** Share of the slots between the start of following and the node's tip; two decimals. */
  readonly percent: number | null;
  /** Over the last seconds. */
  readonly blocksPerSecond: number;
  readonly secondsLeft: number | null;
}

interface SyncMeterDeps {
  readonly store: () => StateStore;
  readonly tip: () => ChainTip | null;
  /** The node says that its chain has no block. */
  readonly isEmpty: () => boolean;
  readonly clock: Clock;
  /** First slot of following. */
  readonly startSlot: number;
}

/** A slot begins, and its block comes, within this time by a right clock. */
const USUAL_AHEAD_MS = 2_000;

/** Why no block comes. `aheadMs`: by how much the newest block's slot is after the clock. */
export function silenceMessage(silentMs: number, aheadMs: number): string {
  const what = `the chain has had no new block for ${Math.floor(silentMs / 1000)} s`;
  if (aheadMs <= USUAL_AHEAD_MS) {
    return `${what}: see the Cardano node, its disk, its peers and its clock`;
  }
  const ahead = `the newest is ${Math.ceil(aheadMs / 1000)} s ahead of this machine's clock`;
  return `${what}, and ${ahead}: a devnet makes none before that time. Set the clock right`;
}

/** Caught up, although a block or two may be in flight. */
const CLOSE_BLOCKS = 3;
/** The speed is averaged over this time. */
const WINDOW_MS = 20_000;

export class SyncMeter {
  readonly #deps: SyncMeterDeps;
  #samples: { readonly atMs: number; readonly height: number }[] = [];
  #isSynced = false;

  constructor(deps: SyncMeterDeps) {
    this.#deps = deps;
  }

  /** Has caught up once; later distance is lag. */
  get isSynced(): boolean {
    this.#isSynced ||= this.#isClose();
    return this.#isSynced;
  }

  /** Call it about once a second. */
  sample(): void {
    const atMs = this.#deps.clock.monotonicMs();
    const height = chainTip(this.#deps.store())?.height;
    if (height === undefined) return;
    this.#samples.push({ atMs, height });
    const old = this.#samples.findLastIndex((sample) => sample.atMs <= atMs - WINDOW_MS);
    this.#samples.splice(0, Math.max(0, old));
  }

  progress(): SyncProgress {
    const { store, tip, startSlot } = this.#deps;
    const [own, newest] = [chainTip(store()), tip()];
    const slot = own?.slot ?? null;
    const blocksPerSecond = this.#blocksPerSecond();
    if (newest === null) {
      const unknown = { tipSlot: null, blocksBehind: null, percent: null, secondsLeft: null };
      return { slot, blocksPerSecond, ...unknown };
    }
    const blocksBehind = own === null ? null : Math.max(0, newest.height - own.height);
    const allSlots = Math.max(1, newest.slot - startSlot);
    const doneSlots = Math.min(Math.max(0, (slot ?? startSlot) - startSlot), allSlots);
    const percent = Math.floor((doneSlots * 10_000) / allSlots) / 100;
    const isMoving = blocksBehind !== null && blocksPerSecond > 0;
    const secondsLeft = isMoving ? Math.ceil(blocksBehind / blocksPerSecond) : null;
    return { slot, tipSlot: newest.slot, blocksBehind, percent, blocksPerSecond, secondsLeft };
  }

  #isClose(): boolean {
    const { store, tip, isEmpty } = this.#deps;
    const [own, newest] = [chainTip(store()), tip()];
    if (own === null && isEmpty()) return true;
    return own !== null && newest !== null && own.height >= newest.height - CLOSE_BLOCKS;
  }

  /** Whole blocks above ten a second. */
  #blocksPerSecond(): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0;
    const pace = ((last.height - first.height) * 1000) / (last.atMs - first.atMs);
    return Math.max(0, pace < 10 ? Math.round(pace * 10) / 10 : Math.round(pace));
  }
}
