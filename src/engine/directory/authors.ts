/** How much each author launched, by payment key. Authors that no launch names are not kept. */
import type { PoolRecord } from '../store/records.ts';

/** Counts for one author, over all tokens. */
export interface AuthorCounts {
  readonly launches: number;
  readonly graduated: number;
  /** Entry that last changed them, or a later one. */
  readonly changedSeq: number;
}

type Launch = Pick<PoolRecord, 'author' | 'graduatedMs'>;

export class Authors {
  readonly #byKey = new Map<string, AuthorCounts>();

  of(pkh: string): AuthorCounts | null {
    return this.#byKey.get(pkh) ?? null;
  }

  /** A pool changed with entry `seq`; null: it is not there. */
  change(before: Launch | null, after: Launch | null, seq: number): void {
    const isSame = before?.author.pkh === after?.author.pkh;
    if (isSame && isGraduated(before) === isGraduated(after)) return;
    if (before !== null) this.#add(before, -1, seq);
    if (after !== null) this.#add(after, 1, seq);
  }

  #add(launch: Launch, by: 1 | -1, changedSeq: number): void {
    const { pkh } = launch.author;
    if (pkh === '') return;
    const known = this.#byKey.get(pkh);
    const launches = (known?.launches ?? 0) + by;
    const graduated = (known?.graduated ?? 0) + (isGraduated(launch) ? by : 0);
    if (launches === 0) this.#byKey.delete(pkh);
    else this.#byKey.set(pkh, { launches, graduated, changedSeq });
  }
}

function isGraduated(launch: Launch | null): boolean {
  return launch !== null && launch.graduatedMs !== null;
}
