/** The seqs at which something changed, ascending; it forgets the oldest. */

const REMEMBERED = 4_096;

export class ChangeLog {
  #seqs: number[] = [];
  /** Up to here nothing is known. */
  #floorSeq: number;

  constructor(floorSeq: number) {
    this.#floorSeq = floorSeq;
  }

  add(seq: number): void {
    if (this.#seqs.at(-1) === seq) return;
    this.#seqs.push(seq);
    if (this.#seqs.length < 2 * REMEMBERED) return;
    const forgotten = this.#seqs.splice(0, REMEMBERED);
    this.#floorSeq = forgotten.at(-1) ?? this.#floorSeq;
  }

  /** False only if surely nothing changed in (fromSeq, toSeq]. */
  between(fromSeq: number, toSeq: number): boolean {
    if (fromSeq >= toSeq) return false;
    if (fromSeq < this.#floorSeq) return true;
    // Callers ask about recent entries.
    for (let index = this.#seqs.length - 1; index >= 0; index -= 1) {
      const seq = this.#seqs[index] ?? 0;
      if (seq <= fromSeq) return false;
      if (seq <= toSeq) return true;
    }
    return false;
  }
}
