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
export function splitMempool(change: MempoolPayload, most = MOST_CHARACTERS): MempoolPayload[] {
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
