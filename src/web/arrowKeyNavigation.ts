/**
 * Arrow keys inside a list, and one tab stop: the item that had the focus last, else the chosen
 * one, else the first. `refresh` after rows came or went, or another is chosen.
 */
const MOVES: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_at, last) => last,
};
const SIDEWAYS: Readonly<Record<string, string>> = {
  ArrowRight: 'ArrowDown',
  ArrowLeft: 'ArrowUp',
};

interface ArrowKeyNavigation {
  refresh(): void;
}

function isChosen({ ariaSelected, ariaChecked }: HTMLElement): boolean {
  return ariaSelected === 'true' || ariaChecked === 'true';
}

export function arrowKeyNavigation(
  container: HTMLElement,
  selector: string,
  direction: 'down' | 'across' = 'down',
): ArrowKeyNavigation {
  let current: HTMLElement | null = null;
  const all = () => Array.from(container.querySelectorAll<HTMLElement>(selector));
  const refresh = () => {
    const items = all();
    const isThere = current !== null && container.contains(current);
    const kept = isThere ? current : (items.find(isChosen) ?? items[0]);
    for (const item of items) {
      const index = item === kept ? 0 : -1;
      if (item.tabIndex !== index) item.tabIndex = index;
    }
  };
  container.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement) || !target.matches(selector) || target === current) return;
    current = target;
    refresh();
  });
  container.addEventListener('keydown', (event) => {
    const key = direction === 'across' ? (SIDEWAYS[event.key] ?? '') : event.key;
    const move = MOVES[key === '' ? event.key : key];
    const items = all();
    const focused = document.activeElement;
    const at = focused instanceof HTMLElement ? items.indexOf(focused) : -1;
    if (move === undefined || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    items[move(at, items.length - 1)]?.focus();
  });
  return { refresh };
}
