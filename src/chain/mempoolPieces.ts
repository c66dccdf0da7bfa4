/**
 * A change of a large mempool, as entries of a bounded size: a log of several nodes takes messages
 * of at most 1 MB. What goes comes first; only the first one is `whole`, all but the last one say
 * that `more` follows. Together they are the one change that they were.
 */
import type {
  DroppedTransaction,
  MempoolPayload,
  WaitingTransaction,
} from '../engine/log/entry.ts';

const MOST_CHARACTERS = 400_000;

/** At least one. Where the change is `whole`, it says what is `absent`. */
export function inPieces(change: MempoolPayload, most = MOST_CHARACTERS): MempoolPayload[] {
  const { kind, seenMs, whole } = change;
  const pieces: MempoolPayload[] = [];
  let piece = new Piece();
  const close = (more: { readonly more?: true }) => {
    const isWhole = whole && pieces.length === 0;
    const { absent, removed, added } = piece;
    const names = change.absent === undefined ? {} : { absent };
    pieces.push({ kind, seenMs, whole: isWhole, added, removed, ...names, ...more });
    piece = new Piece();
  };
  const makeRoom = (each: WaitingTransaction | DroppedTransaction | string) => {
    const characters = JSON.stringify(each).length;
    if (piece.characters > 0 && piece.characters + characters > most) close({ more: true });
    piece.characters += characters;
  };
  for (const id of change.absent ?? []) {
    makeRoom(id);
    piece.absent.push(id);
  }
  for (const each of change.removed) {
    makeRoom(each);
    piece.removed.push(each);
  }
  for (const each of change.added) {
    makeRoom(each);
    piece.added.push(each);
  }
  close({});
  return pieces;
}

class Piece {
  readonly absent: string[] = [];
  readonly removed: DroppedTransaction[] = [];
  readonly added: WaitingTransaction[] = [];
  characters = 0;
}

/** Pieces put together again, in the order of the log. */
export class Pieced {
  #change: MempoolPayload | null = null;

  /** The change that is whole now; null: more follows. */
  take(piece: MempoolPayload): MempoolPayload | null {
    const before = this.#change;
    // What begins with another one had no end: whoever wrote it was replaced.
    const isNext = before !== null && !piece.whole;
    const whole = isNext ? joined(before, piece) : piece;
    this.#change = piece.more === true ? whole : null;
    return piece.more === true ? null : whole;
  }

  /** What came of a change whose end will not come: true as far as it goes, not all there is. */
  giveUp(): MempoolPayload | null {
    const change = this.#change;
    this.#change = null;
    return change === null ? null : { ...change, whole: false };
  }
}

function joined(before: MempoolPayload, { added, removed }: MempoolPayload): MempoolPayload {
  return {
    ...before,
    added: [...before.added, ...added],
    removed: [...before.removed, ...removed],
  };
}
