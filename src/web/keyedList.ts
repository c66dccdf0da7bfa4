/**
 * A list on the screen that follows a list of items. Rows are kept by key and moved, and filled
 * only where their item is another object; at most `most` of them exist.
 *
 * Where much has changed it is written over several frames, from the top on, so that no single one
 * is long. It ends with the newest items, whatever changed meanwhile.
 */
import { cancelFrame, nextFrame } from './frames.ts';

export interface Row<T> {
  readonly element: HTMLElement;
  /** `before` is null when the row is new. */
  fill(item: T, before: T | null): void;
}

interface KeyedListOptions<T, R extends Row<T>> {
  readonly most: number;
  keyOf(item: T): string;
  rowOf(): R;
  /** Rows came, went or moved. */
  arranged?(): void;
}

interface Kept<T, R extends Row<T>> {
  readonly row: R;
  item: T;
}

/** Rows that are made, filled or moved in one frame: as many as are in sight, more or less. */
const ROWS_PER_FRAME = 20;

export class KeyedList<T, R extends Row<T> = Row<T>> {
  readonly #container: HTMLElement;
  readonly #options: KeyedListOptions<T, R>;
  readonly #rows = new Map<string, Kept<T, R>>();
  #items: readonly T[] = [];
  /** Rows before this index are right, as of when they were passed; null: all are right. */
  #at: number | null = null;
  /** Items have changed since the first index was passed. */
  #isOutdated = false;
  readonly #continue = () => this.#step();

  constructor(container: HTMLElement, options: KeyedListOptions<T, R>) {
    this.#container = container;
    this.#options = options;
  }

  show(items: readonly T[]): void {
    this.#items = items.slice(0, this.#options.most);
    this.#drop();
    if (this.#at === null) {
      this.#at = 0;
      this.#step();
    } else this.#isOutdated = true;
  }

  /** Every row that is shown, for what changes with time and not with items. */
  each(run: (row: R, item: T) => void): void {
    for (const { row, item } of this.#rows.values()) run(row, item);
  }

  /** Stops writing. */
  close(): void {
    cancelFrame(this.#continue);
  }

  #drop(): void {
    const keys = new Set(this.#items.map((item) => this.#options.keyOf(item)));
    for (const [key, { row }] of this.#rows) {
      if (keys.has(key)) continue;
      row.element.remove();
      this.#rows.delete(key);
    }
  }

  #step(): void {
    const focused = document.activeElement;
    this.#arrange();
    // A node that is moved loses the focus.
    if (focused instanceof HTMLElement && focused !== document.activeElement) {
      if (this.#container.contains(focused)) focused.focus({ preventScroll: true });
    }
    if ((this.#at ?? 0) >= this.#items.length) {
      this.#at = this.#isOutdated ? 0 : null;
      this.#isOutdated = false;
    }
    if (this.#at !== null) nextFrame(this.#continue);
    this.#options.arranged?.();
  }

  /** Moves few rows: one that is in its place is not touched. */
  #arrange(): void {
    let at = this.#at ?? 0;
    let touched = 0;
    let next = this.#container.children[at] ?? null;
    for (const item of this.#items.slice(at)) {
      if (touched >= ROWS_PER_FRAME) break;
      at += 1;
      const { row, isTouched } = this.#rowFor(item);
      const { element } = row;
      if (isTouched) touched += 1;
      if (next === element) {
        next = next.nextElementSibling;
        continue;
      }
      if (!isTouched) touched += 1;
      // The row at this place left for another: its follower is often the one wanted.
      if (next !== null && next.nextElementSibling === element) {
        const moved = next;
        next = element.nextElementSibling;
        this.#container.append(moved);
        continue;
      }
      this.#container.insertBefore(element, next);
    }
    this.#at = at;
  }

  #rowFor(item: T): { readonly row: R; readonly isTouched: boolean } {
    const key = this.#options.keyOf(item);
    const known = this.#rows.get(key);
    if (known === undefined) {
      const row = this.#options.rowOf();
      row.element.dataset.key = key;
      row.fill(item, null);
      this.#rows.set(key, { row, item });
      return { row, isTouched: true };
    }
    const { row, item: before } = known;
    if (before === item) return { row, isTouched: false };
    row.fill(item, before);
    known.item = item;
    return { row, isTouched: true };
  }
}
