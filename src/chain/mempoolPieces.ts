/**
 * A change of a large mempool, as entries of a bounded size: a log of several nodes takes messages
 * of at most 1 MB. What is removed comes first; only the first one is `whole`.
 */
import type { DroppedTransaction, MempoolPayload, WaitingTransaction } from '../log/entry.ts';

const MOST_CHARACTERS = 400_000;

/** At least one. */
export function inPieces(
  { kind, seenMs, whole, added, removed }: MempoolPayload,
  most = MOST_CHARACTERS,
): MempoolPayload[] {
  const pieces: MempoolPayload[] = [];
  let [addedHere, removedHere]: [WaitingTransaction[], DroppedTransaction[]] = [[], []];
  let characters = 0;
  const close = () => {
    const isWhole = whole && pieces.length === 0;
    pieces.push({ kind, seenMs, whole: isWhole, added: addedHere, removed: removedHere });
    [addedHere, removedHere] = [[], []];
    characters = 0;
  };
  const makeRoom = (each: WaitingTransaction | DroppedTransaction) => {
    const more = JSON.stringify(each).length;
    if (characters > 0 && characters + more > most) close();
    characters += more;
  };
  for (const each of removed) {
    makeRoom(each);
    removedHere.push(each);
  }
  for (const each of added) {
    makeRoom(each);
    addedHere.push(each);
  }
  close();
  return pieces;
}
