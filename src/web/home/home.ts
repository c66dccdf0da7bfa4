/** The five lists and the top pool, moving as the market does. */
import type { PoolsMirror } from '../../client/index.ts';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import type { PoolList } from '../../engine/market/poolView.ts';
import { arrowKeyNavigation } from '../arrowKeyNavigation.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { ada } from '../format.ts';
import { cancelFrame, flash, nextFrame } from '../frames.ts';
import { KeyedList } from '../keyedList.ts';
import { logo } from '../logo.ts';
import type { MarketTime } from '../marketTime.ts';
import { routeHash } from '../route.ts';
import { onChange } from '../signal.ts';
import { type PoolRow, poolRow, progressOf } from './poolRow.ts';

const MAX_ROWS = 100;

const TABS: readonly (readonly [list: PoolList, name: string, empty: string])[] = [
  ['Latest', 'Latest trades', 'Nothing was traded yet.'],
  ['New', 'New', 'Nothing was launched yet.'],
  ['MCapDesc', 'Market cap', 'No token is on its curve.'],
  ['CompletedCreateOn', 'Graduated', 'No token has graduated yet.'],
  ['CompletedMCap', 'Graduated by cap', 'No token has graduated yet.'],
];
/** Each with the class of its column, which the cells of `poolRow` have too. */
const HEADINGS = [
  ['Token', 'col-token'],
  ['Market cap', 'col-cap'],
  ['Curve', 'col-progress'],
  ['Volume', 'col-volume'],
  ['Trades', 'col-trades'],
  ['Age', 'col-age'],
  ['Last trade', 'col-traded'],
] as const;

export function mountHome(
  container: HTMLElement,
  context: PageContext,
  time: MarketTime,
  first: PoolList,
): Unmount & { list(name: PoolList): void } {
  const { client } = context;
  const top = client.topPool();
  const card = topPoolCard();
  const showTop = () => card.show(top.state);
  const list = new PoolListView(context, time);
  const tabs = tabsOf();
  const heading = el('h1', { class: 'unseen' }, 'Markets');
  container.append(
    heading,
    card.element,
    el('section', { class: 'panel' }, tabs.element, list.element),
  );
  top.onChange(() => nextFrame(showTop));
  const choose = (name: PoolList) => {
    tabs.choose(name);
    list.follow(name);
  };
  choose(first);
  const unmount = () => {
    cancelFrame(showTop);
    top.close();
    list.close();
  };
  return Object.assign(unmount, { list: choose });
}

function tabsOf() {
  const links = TABS.map(([list, name]) =>
    el('a', { href: routeHash({ at: 'home', list }), role: 'tab', id: `tab-${list}` }, name),
  );
  const element = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Lists' }, ...links);
  const arrows = arrowKeyNavigation(element, '[role="tab"]', 'across');
  const choose = (chosen: PoolList) => {
    for (const [index, [list]] of TABS.entries()) {
      const link = links[index];
      if (link !== undefined) setAttribute(link, 'aria-selected', String(list === chosen));
    }
    arrows.refresh();
  };
  return { element, choose };
}

/** The mirror of one list on the screen. Another list is another mirror in the same rows. */
class PoolListView {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #rows = el('ol', { class: 'pools', 'aria-label': 'Tokens' });
  readonly #state = el('div', { class: 'list-state' });
  readonly #orderNote = el('span', { class: 'resting dim small', 'aria-hidden': 'true' });
  readonly #arrows = arrowKeyNavigation(this.#rows, 'a.pool');
  readonly #list: KeyedList<LiquidityPoolInfo, PoolRow>;
  readonly #stopTime: () => void;
  #mirror: PoolsMirror | null = null;
  #name: PoolList = 'Latest';
  /** Rows keep their order under a pointer: a click opens the row that was aimed at. */
  #isOrderKept = false;
  #order: readonly string[] = [];
  readonly #show = () => this.#draw();

  constructor(context: PageContext, time: MarketTime) {
    this.#context = context;
    this.#list = new KeyedList(this.#rows, {
      most: MAX_ROWS,
      keyOf: ({ info }) => info.asset,
      rowOf: () => poolRow(() => time.seconds.value),
      arranged: () => this.#arrows.refresh(),
    });
    const heads = HEADINGS.map(([text, column]) => el('span', { class: column }, text));
    const head = el(
      'div',
      { class: 'pools-head', 'aria-hidden': 'true' },
      ...heads,
      this.#orderNote,
    );
    this.element = el(
      'div',
      { role: 'tabpanel', 'aria-label': 'List' },
      head,
      this.#rows,
      this.#state,
    );
    this.#rows.addEventListener('pointerenter', ({ pointerType }) => {
      if (pointerType === 'mouse') this.#keepOrder(true);
    });
    this.#rows.addEventListener('pointerleave', () => this.#keepOrder(false));
    this.#stopTime = onChange(time.seconds, (now) => {
      this.#list.each((row, item) => row.tick(item, now));
    });
  }

  follow(name: PoolList): void {
    if (this.#mirror !== null && name === this.#name) return;
    this.#mirror?.close();
    this.#name = name;
    this.#order = [];
    const mirror = this.#context.client.pools(name);
    this.#mirror = mirror;
    mirror.onChange(() => nextFrame(this.#show));
    mirror.onError((error) => this.#state.replaceChildren(errorBox(error)));
    setAttribute(this.element, 'aria-labelledby', `tab-${name}`);
    nextFrame(this.#show);
  }

  close(): void {
    cancelFrame(this.#show);
    this.#stopTime();
    this.#list.close();
    this.#mirror?.close();
  }

  #keepOrder(isKept: boolean): void {
    this.#isOrderKept = isKept;
    nextFrame(this.#show);
  }

  #draw(): void {
    const mirror = this.#mirror;
    // Rows of the list before stay until the first of this one are here: no empty flicker.
    if (mirror === null || !mirror.isLoaded) return;
    const items = this.#isOrderKept ? inKeptOrder(mirror.state, this.#order) : mirror.state;
    setText(this.#orderNote, this.#isOrderKept ? 'order is kept under the pointer' : '');
    this.#order = items.map(({ info }) => info.asset);
    this.#list.show(items);
    this.#state.replaceChildren(...(items.length === 0 ? [this.#empty()] : []));
  }

  #empty(): HTMLElement {
    const words = TABS.find(([list]) => list === this.#name)?.[2] ?? '';
    const canLaunch = this.#context.network.value?.name !== 'none';
    return el(
      'div',
      { class: 'empty' },
      el('strong', {}, canLaunch ? words : 'Charts only.'),
      canLaunch
        ? 'A token starts with its launch: a name, a picture, and a curve that sets the price.'
        : 'This server has no chain, and so no launches to list. Search for the asset id of a ' +
            'token whose trades were replayed: its chart is here.',
      canLaunch
        ? el('div', {}, el('a', { class: 'button primary', href: '#/launch' }, 'Launch a token'))
        : null,
    );
  }
}

/** The items in the order from before; new ones at the end. */
function inKeptOrder(
  items: readonly LiquidityPoolInfo[],
  order: readonly string[],
): readonly LiquidityPoolInfo[] {
  const places = new Map(order.map((asset, index) => [asset, index]));
  const parseRoute = ({ info }: LiquidityPoolInfo) => places.get(info.asset) ?? order.length;
  return items.toSorted((a, b) => parseRoute(a) - parseRoute(b));
}

/** The pool with the highest market cap, above the lists. Its space is kept while there is none. */
function topPoolCard(): {
  readonly element: HTMLElement;
  show(pool: LiquidityPoolInfo | null): void;
} {
  const picture = logo();
  const name = el('strong', { class: 'cut' });
  const ticker = el('span', { class: 'dim' });
  const cap = el('span', { class: 'figure' });
  const progress = el('span', { class: 'figure' });
  const volume = el('span', { class: 'figure' });
  const trades = el('span', { class: 'figure' });
  const link = el(
    'a',
    { class: 'top-pool panel', 'aria-label': 'Top of the market' },
    el('span', { class: 'crown' }, 'Top of the market'),
    el('span', { class: 'who' }, picture.element, name, ticker),
    figure('Market cap', cap, 'col-cap'),
    figure('Curve', progress, 'col-progress'),
    figure('Volume', volume, 'col-volume'),
    figure('Trades', trades, 'col-trades'),
  );
  let shown: LiquidityPoolInfo | null = null;
  // Until it is known whether there is one.
  link.classList.add('coming');
  const showNone = () => {
    picture.element.hidden = true;
    setText(name, 'No token yet');
    setAttribute(link, 'href', null);
    setAttribute(link, 'aria-label', 'Top of the market: no token yet');
    for (const value of [cap, progress, volume, trades]) setText(value, '–');
    setText(ticker, '');
    shown = null;
  };
  return {
    element: link,
    show(pool) {
      link.classList.remove('coming');
      if (pool === null) showNone();
      if (pool === null || pool === shown) return;
      picture.element.hidden = false;
      const { info, metrics } = pool;
      picture.show(info);
      setText(name, info.name);
      setText(ticker, info.ticker);
      setAttribute(link, 'href', routeHash({ at: 'token', asset: info.asset }));
      setAttribute(link, 'aria-label', `Top of the market: ${info.name}`);
      const isChanged = setText(cap, ada(metrics.marketCap, 0));
      const filled = progressOf(pool);
      setText(progress, `${filled}%`);
      setText(volume, ada(metrics.totalVolumeAda, 0));
      setText(trades, String(metrics.totalTxCount));
      const before = shown?.info.asset === info.asset ? shown : null;
      if (isChanged && before !== null) {
        flash(cap, metrics.marketCap >= before.metrics.marketCap ? 'up' : 'down');
      }
      shown = pool;
    },
  };
}

function figure(label: string, value: HTMLElement, column: string): HTMLElement {
  return el('span', { class: `fig ${column}` }, el('span', { class: 'dim small' }, label), value);
}
