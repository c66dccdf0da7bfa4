/**
 * A list on the screen that follows a list of items. Rows are kept by key and moved, filled anew
 * only where their item is another object, and at most `most` of them exist.
 */
export interface Row<T> {
  readonly element: HTMLElement;
  /** `before` is null when the row is new. */
  fill(item: T, before: T | null): void;
}

export interface KeyedListOptions<T, R extends Row<T>> {
  readonly most: number;
  keyOf(item: T): string;
  rowOf(): R;
}

interface Kept<T, R extends Row<T>> {
  readonly row: R;
  item: T;
}

export class KeyedList<T, R extends Row<T> = Row<T>> {
  readonly #container: HTMLElement;
  readonly #options: KeyedListOptions<T, R>;
  #rows = new Map<string, Kept<T, R>>();

  constructor(container: HTMLElement, options: KeyedListOptions<T, R>) {
    this.#container = container;
    this.#options = options;
  }

  show(items: readonly T[]): void {
    const { most, keyOf } = this.#options;
    const next = new Map<string, Kept<T, R>>();
    for (const item of items.slice(0, most)) {
      const key = keyOf(item);
      next.set(key, this.#rowFor(key, item));
    }
    for (const [key, { row }] of this.#rows) if (!next.has(key)) row.element.remove();
    this.#rows = next;
    const focused = document.activeElement;
    this.#arrange();
    // A node that is moved loses the focus.
    if (focused instanceof HTMLElement && focused !== document.activeElement) {
      if (this.#container.contains(focused)) focused.focus({ preventScroll: true });
    }
  }

  /** Every row that is shown, for what changes with time and not with items. */
  each(run: (row: R, item: T) => void): void {
    for (const { row, item } of this.#rows.values()) run(row, item);
  }

  #rowFor(key: string, item: T): Kept<T, R> {
    const known = this.#rows.get(key);
    if (known === undefined) {
      const row = this.#options.rowOf();
      row.element.dataset.key = key;
      row.fill(item, null);
      return { row, item };
    }
    if (known.item !== item) {
      known.row.fill(item, known.item);
      known.item = item;
    }
    return known;
  }

  /** Moves the fewest it can see to: a row that stands right is not touched. */
  #arrange(): void {
    let place = this.#container.firstElementChild;
    for (const { row } of this.#rows.values()) {
      if (place === row.element) {
        place = place.nextElementSibling;
        continue;
      }
      // The row at this place left for another: its follower is often the one wanted.
      if (place !== null && place.nextElementSibling === row.element) {
        const moved = place;
        place = row.element.nextElementSibling;
        this.#container.append(moved);
        continue;
      }
      this.#container.insertBefore(row.element, place);
    }
  }
}
