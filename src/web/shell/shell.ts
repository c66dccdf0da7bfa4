/** The frame around every page: header, search, status line, notices and keys. */
import type { PageContext } from '../context.ts';
import { el, setAttribute, svg } from '../dom.ts';
import { type PageRoute, routeHash } from '../route.ts';
import { watch } from '../signal.ts';
import { closeTooltip } from '../tooltip.ts';
import { Search } from './search.ts';
import type { StatusLine } from './status.ts';
import { themeSwitch } from './theme.ts';
import type { Toasts } from './toasts.ts';

const PLACES: readonly (readonly [name: string, hash: string, at: readonly PageRoute['at'][]])[] = [
  ['Markets', '#/', ['home', 'token']],
  ['Launch', routeHash({ at: 'launch' }), ['launch']],
  ['Wallet', routeHash({ at: 'wallet' }), ['wallet']],
];

/** Returns the element into which pages are mounted. */
export function buildShell(
  page: HTMLElement,
  context: PageContext,
  status: StatusLine,
  toasts: Toasts,
): HTMLElement {
  const main = el('main', { id: 'main', tabindex: '-1' });
  const skip = el('button', { type: 'button', class: 'skip' }, 'Skip to the content');
  skip.addEventListener('click', () => main.focus());
  const links = PLACES.map(([name, href]) => el('a', { href }, name));
  watch(context.route, ({ at }) => {
    for (const [index, [, , places]] of PLACES.entries()) {
      const link = links[index];
      if (link !== undefined)
        setAttribute(link, 'aria-current', places.includes(at) ? 'page' : null);
    }
  });
  const search = new Search(context);
  const header = el('header', { class: 'top' }, brand());
  header.append(el('nav', { 'aria-label': 'Main' }, ...links), search.element, themeSwitch());
  page.replaceChildren(skip, header, main, status.element, toasts.element);
  listen(search, toasts);
  return main;
}

function brand(): HTMLElement {
  const mark = svg(
    'svg',
    { viewBox: '0 0 32 32', 'aria-hidden': 'true' },
    svg('rect', { width: '32', height: '32', rx: '7' }),
    svg('path', { d: 'M6 25c10 0 15-5 20-18' }),
  );
  return el(
    'a',
    { class: 'brand', href: '#/', 'aria-label': 'upcurve, home' },
    mark,
    el('span', {}, 'upcurve'),
  );
}

function listen(search: Search, toasts: Toasts): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented) return;
    if (event.key === 'Escape') {
      closeTooltip();
      // A dialog over the page takes the key for itself.
      if (document.querySelector('dialog[open]') === null) toasts.dismiss();
    } else if (event.key === '/' && !isTyping(event.target) && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null
  );
}
