/**
 * Entries that fit by their number and their hash and cannot be applied, such as a block that the
 * state has already: who may publish into the log of several nodes can write one, again and again.
 * It ends no node. A node goes back to the state before it and waits, as at an entry that cannot be
 * read, until the leader begins an epoch without it.
 */
import { ENTRY_VERSION, type SealedEntry } from '../log/entry.ts';
import { Fault, isFault } from '../runtime/assert.ts';
import { messageOf } from '../runtime/errors.ts';
import { isDamage } from '../store/damage.ts';
import { isRefusal } from './committer.ts';

export class UnfitEntries {
  readonly #isShared: () => boolean;
  #last: { readonly hash: string; readonly reason: string } | null = null;

  /** `isShared`: others write the log, too. Else every error is this program's. */
  constructor(isShared: () => boolean) {
    this.#isShared = isShared;
  }

  /** Why this entry was not applied before; null: it was never tried. */
  reasonOf(sealed: SealedEntry | undefined): string | null {
    return sealed !== undefined && sealed.hash === this.#last?.hash ? this.#last.reason : null;
  }

  /**
   * The error to throw where `error` came of applying this entry: `unfitEntry` if that is its
   * fault.
   */
  refuse({ entry: { seq, version }, hash }: SealedEntry, error: unknown): unknown {
    // Entries of other versions were not checked for texts that cannot be parsed.
    const isOwnText = error instanceof SyntaxError && version !== ENTRY_VERSION;
    const isDamaged = isDamage(error) && !isOwnText;
    const isOther = isDamaged || isRefusal(error) || isFault(error, 'interrupted');
    if (!this.#isShared() || isOther) return error;
    const reason = `entry ${seq} cannot be applied: ${messageOf(error)}`;
    this.#last = { hash, reason };
    return new Fault('unfitEntry', reason, { cause: error });
  }
}
