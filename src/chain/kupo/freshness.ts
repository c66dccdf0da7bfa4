/**
 * Whether Kupo has come as far as the tip that is served. It is read back from Kupo, not concluded
 * from what its headers say: they name a block a moment before its outputs can be read.
 */
import type { Point } from '../port.ts';
import { type KupoAnswer, KupoError } from './client.ts';
import { readCheckpoint } from './matches.ts';

type Ask = (path: string, signal: AbortSignal) => Promise<KupoAnswer>;

export class TipCheck {
  readonly #ask: Ask;
  /** A tip that Kupo had, and what it named as its own newest block then. */
  #seen: { readonly tipHash: string; readonly newest: string | null } | null = null;
  #looking: { readonly tipHash: string; readonly done: Promise<void> } | null = null;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Throws `NoAnswer` while Kupo does not have `tip`; asked once for all who wait for it. */
  async reached(tip: Point, signal: AbortSignal): Promise<void> {
    if (this.#seen?.tipHash === tip.hash) return;
    if (this.#looking?.tipHash !== tip.hash) {
      const done = this.#look(tip, signal).finally(() => {
        if (this.#looking?.done === done) this.#looking = null;
      });
      this.#looking = { tipHash: tip.hash, done };
    }
    await this.#looking.done;
  }

  /** Throws `NoAnswer` where Kupo may have left `tip` before it gave these answers. */
  async kept(tip: Point, answers: readonly KupoAnswer[], signal: AbortSignal): Promise<void> {
    if (answers.some(({ checkpointSlot }) => checkpointSlot < tip.slot)) {
      this.#seen = null;
      throw new KupoError(`it went back behind slot ${tip.slot}`);
    }
    const isAsSeen = ({ checkpointHash }: KupoAnswer) =>
      this.#seen?.tipHash === tip.hash && this.#seen.newest === checkpointHash;
    if (!answers.every(isAsSeen)) await this.#look(tip, signal);
  }

  async #look(tip: Point, signal: AbortSignal): Promise<void> {
    const { body, checkpointSlot, checkpointHash } = await this.#ask(
      `/checkpoints/${tip.slot}?strict`,
      signal,
    );
    const hash = readCheckpoint(body);
    if (hash === tip.hash) {
      this.#seen = { tipHash: tip.hash, newest: checkpointHash };
      return;
    }
    this.#seen = null;
    if (checkpointSlot < tip.slot) {
      throw new KupoError(`it is at slot ${checkpointSlot}, the tip at ${tip.slot}`);
    }
    throw new KupoError(`it does not have the block of slot ${tip.slot}`);
  }
}
