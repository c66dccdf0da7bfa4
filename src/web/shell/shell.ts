/** The frame around every page: header, search, status line, notices and keys. */

import type { LiquidityPoolInfo } from '../../client/types.ts';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { NoticeKind, PageContext } from '../context.ts';
import { el, setAttribute, svg } from '../dom.ts';
import { errorText } from '../errorView.ts';
import { shortAda } from '../format.ts';
import { logo } from '../logo.ts';
import { type PageRoute, parseRoute, routeHash } from '../route.ts';
import { watch } from '../signal.ts';
import { closeTooltip } from '../tooltip.ts';
import type { StatusLine } from './status.ts';
import { themeSwitch } from './theme.ts';

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

const WAIT_MS = 150;
const MAX_SHOWN = 8;
const MAX_INPUT_CHARACTERS = 128;

/**
 * Search by name, ticker or asset id: a combobox. `/` brings the focus here, arrows choose, Enter
 * goes there, Escape leaves.
 */
class Search {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #input = el('input', {
    type: 'search',
    role: 'combobox',
    class: 'search-input',
    placeholder: 'Search name, ticker, asset id',
    'aria-label': 'Search tokens',
    'aria-expanded': 'false',
    'aria-controls': 'search-found',
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: String(MAX_INPUT_CHARACTERS),
  });
  readonly #list = el('div', { id: 'search-found', role: 'listbox', hidden: true });
  readonly #announced = el('div', { class: 'unseen', role: 'status' });
  #waiting: Timer | null = null;
  /** Counts queries: the answer to an older one is dropped. */
  #query = 0;
  #chosen = -1;

  constructor(context: PageContext) {
    this.#context = context;
    const key = el('kbd', { 'aria-hidden': 'true' }, '/');
    this.#list.setAttribute('aria-label', 'Tokens found');
    this.element = el('div', { class: 'search', role: 'search' }, this.#input, key);
    this.element.append(this.#list, this.#announced);
    this.#input.addEventListener('input', () => this.#typed());
    this.#input.addEventListener('focus', () => this.#typed());
    this.#input.addEventListener('blur', () => this.#close());
    this.#input.addEventListener('keydown', (event) => this.#key(event));
    // A press would take the focus away, and with it the list, before the click arrives.
    this.#list.addEventListener('mousedown', (event) => event.preventDefault());
    this.#list.addEventListener('click', () => this.#leave());
  }

  focus(): void {
    this.#input.focus();
    this.#input.select();
  }

  #typed(): void {
    this.#waiting?.cancel();
    const pattern = this.#input.value.trim();
    this.#query += 1;
    if (pattern === '') {
      this.#close();
      return;
    }
    const asked = this.#query;
    this.#waiting = this.#context.clock.after(WAIT_MS, () => {
      this.#ask(pattern, asked);
    });
  }

  async #ask(pattern: string, asked: number): Promise<void> {
    try {
      const { data } = await this.#context.client.pools.search({ pattern, limit: MAX_SHOWN });
      if (asked === this.#query) this.#show(pattern, data.items, data.count);
    } catch (error) {
      if (asked === this.#query) this.#open([el('p', { class: 'none' }, errorText(error))], 0);
    }
  }

  #show(pattern: string, items: readonly LiquidityPoolInfo[], count: number): void {
    // An asset id that no pool has may still have a chart: of trades that were replayed.
    const place = parseRoute(`#/token/${pattern}`);
    const byId = place.at === 'token' ? [idOption(place.asset)] : [];
    const found = items.length === 0 ? byId : items.map(optionOf);
    const none = el('p', { class: 'none' }, 'No token with this in its name or id.');
    this.#open(found.length === 0 ? [none] : found, count);
    this.#choose(0);
  }

  #open(children: readonly HTMLElement[], count: number): void {
    this.#list.replaceChildren(...children);
    this.#list.hidden = false;
    setAttribute(this.#input, 'aria-expanded', 'true');
    setAttribute(this.#input, 'aria-activedescendant', null);
    this.#chosen = -1;
    this.#announced.textContent = count === 1 ? '1 token found' : `${count} tokens found`;
  }

  #close(): void {
    this.#waiting?.cancel();
    this.#query += 1;
    this.#list.hidden = true;
    setAttribute(this.#input, 'aria-expanded', 'false');
    setAttribute(this.#input, 'aria-activedescendant', null);
  }

  #leave(): void {
    this.#input.value = '';
    this.#close();
    this.#input.blur();
  }

  #choose(index: number): void {
    const options = Array.from(this.#list.querySelectorAll<HTMLElement>('[role="option"]'));
    if (options.length === 0) return;
    this.#chosen = (index + options.length) % options.length;
    for (const [at, option] of options.entries()) {
      setAttribute(option, 'aria-selected', String(at === this.#chosen));
    }
    const chosen = options[this.#chosen];
    chosen?.scrollIntoView({ block: 'nearest' });
    setAttribute(this.#input, 'aria-activedescendant', chosen?.id ?? null);
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      event.stopPropagation();
      this.#leave();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      this.#choose(this.#chosen + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Enter') {
      const chosen = this.#list.querySelector<HTMLElement>('[aria-selected="true"]');
      if (!this.#list.hidden) chosen?.click();
    }
  }
}

function optionOf({ info, metrics }: LiquidityPoolInfo): HTMLElement {
  const picture = logo();
  picture.show(info);
  return option(
    info.asset,
    picture.element,
    el('span', { class: 'cut' }, info.name),
    el('span', { class: 'dim' }, info.ticker),
    el('span', { class: 'num dim' }, shortAda(metrics.marketCap)),
  );
}

function idOption(asset: string): HTMLElement {
  return option(asset, el('span', {}, 'Open'), el('span', { class: 'code cut' }, asset));
}

function option(asset: string, ...content: readonly HTMLElement[]): HTMLElement {
  const attributes = { role: 'option', tabindex: '-1', 'aria-selected': 'false' };
  const href = routeHash({ at: 'token', asset });
  return el('a', { href, id: `found-${asset}`, ...attributes }, ...content);
}

const STAY_MS = 6_000;
const MOST = 4;

/** Short messages at the edge, read out politely; a failure stays until it is dismissed. */
export class Toasts {
  readonly element = el('div', { class: 'toasts', role: 'log', 'aria-live': 'polite' });
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.element.setAttribute('aria-label', 'Notices');
  }

  notify(kind: NoticeKind, text: string): void {
    const close = el('button', { type: 'button', 'aria-label': 'Dismiss' }, '×');
    const toast = el('div', { class: `toast ${kind}` }, el('span', {}, text), close);
    const last = this.element.lastElementChild;
    // The same again, as when a server comes and goes, does not pile up.
    if (last?.firstElementChild?.textContent === text) last.remove();
    close.addEventListener('click', () => toast.remove());
    this.element.append(toast);
    while (this.element.childElementCount > MOST) this.element.firstElementChild?.remove();
    if (kind !== 'bad') this.#clock.after(STAY_MS, () => toast.remove());
  }

  /** Escape dismisses the newest. */
  dismiss(): boolean {
    const newest = this.element.lastElementChild;
    newest?.remove();
    return newest !== null;
  }
}
