/**
 * Lists of the tokens that are within bounds. Clients choose bounds freely, so a few lists are
 * kept, those that were asked for last; one that is being made is kept until it is made, so that
 * requests with ever other filters do not take it away from each other.
 */
import { LRUCache } from 'lru-cache';
import type { Ranking } from './rankings.ts';

const MOST_KEPT = 4;
/** A page asks again within seconds; what changed until then is all that is looked at. */
const UNASKED_MS = 60_000;
const MOST_MADE = 4;
/** Who asked for a list that is being made is gone when it does not ask during so many calls. */
const LEFT_CALLS = 1_000;

interface Making {
  readonly list: Ranking;
  lastCall: number;
}

export class FilteredLists {
  readonly #kept = new LRUCache<string, Ranking>({
    max: MOST_KEPT,
    ttl: UNASKED_MS,
    dispose: (list) => list.close(),
  });
  readonly #making = new Map<string, Making>();
  #calls = 0;

  /** What `refresh` is done with. null: it is not, or another list comes first; call again. */
  list(name: string, make: () => Ranking, refresh: (list: Ranking) => boolean): Ranking | null {
    const kept = this.#kept.get(name);
    if (kept !== undefined) return refresh(kept) ? kept : null;
    this.#calls += 1;
    const making = this.#making.get(name) ?? this.#begin(name, make);
    if (making === null) return null;
    making.lastCall = this.#calls;
    if (!refresh(making.list)) return null;
    this.#making.delete(name);
    this.#kept.set(name, making.list);
    return making.list;
  }

  /** Drops what no client asks for. */
  purge(): void {
    this.#kept.purgeStale();
  }

  clear(): void {
    this.#kept.clear();
    for (const { list } of this.#making.values()) list.close();
    this.#making.clear();
  }

  #begin(name: string, make: () => Ranking): Making | null {
    if (this.#making.size >= MOST_MADE) this.#dropLeft();
    if (this.#making.size >= MOST_MADE) return null;
    const making = { list: make(), lastCall: this.#calls };
    this.#making.set(name, making);
    return making;
  }

  #dropLeft(): void {
    for (const [name, { list, lastCall }] of this.#making) {
      if (lastCall > this.#calls - LEFT_CALLS) continue;
      list.close();
      this.#making.delete(name);
    }
  }
}
