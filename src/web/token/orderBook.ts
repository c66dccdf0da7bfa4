/** Open orders by their worst price, sellers above and buyers below the price of the pool. */
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { short, shortPrice } from '../format.ts';
import { cancelFrame, nextFrame } from '../frames.ts';

/** Of each side; the nearest to the spot price. */
const LEVELS = 4;

type Level = readonly [price: string, tokens: string];

export function mountOrderBook(
  container: HTMLElement,
  { client }: PageContext,
  asset: string,
): Unmount {
  const mirror = client.orderBook(asset);
  const asks = Array.from({ length: LEVELS }, () => levelRow('ask'));
  const bids = Array.from({ length: LEVELS }, () => levelRow('bid'));
  const spot = el('li', { class: 'spot' });
  const rows = el('ol', { class: 'book', 'aria-label': 'Open orders by price' });
  // Counted from the spot price outwards, so the sellers are reversed.
  rows.append(...asks.map(({ element }) => element).reverse(), spot);
  rows.append(...bids.map(({ element }) => element));
  const side = el('span', { class: 'side' });
  const note = el('div', {});
  const heads = ['Worst price', 'Tokens'].map((text) => el('span', {}, text));
  const head = el('div', { class: 'book-head', 'aria-hidden': 'true' }, ...heads);
  container.append(el('header', {}, el('h2', {}, 'Open orders by price'), side), head, rows, note);
  const show = () => {
    const book = mirror.state;
    const sellers = book?.asks ?? [];
    const buyers = book?.bids ?? [];
    const most = largest([...sellers.slice(0, LEVELS), ...buyers.slice(0, LEVELS)]);
    for (const [index, row] of asks.entries()) row.show(sellers[index], most);
    for (const [index, row] of bids.entries()) row.show(buyers[index], most);
    // Orders come and go with the blocks: words take the place of a row, and nothing jumps.
    if (sellers.length === 0) asks[0]?.say('no open sells');
    if (buyers.length === 0) bids[0]?.say('no open buys');
    setText(spot, book === null ? '' : `Pool ${shortPrice(book.spot)}`);
    setText(side, `${sellers.length} ask, ${buyers.length} bid`);
    note.replaceChildren();
  };
  mirror.onChange(() => nextFrame(show));
  mirror.onError((error) => note.replaceChildren(errorBox(error)));
  return () => {
    cancelFrame(show);
    mirror.close();
  };
}

function largest(levels: readonly Level[]): bigint {
  return levels.reduce((most, [, tokens]) => (BigInt(tokens) > most ? BigInt(tokens) : most), 1n);
}

function levelRow(kind: 'ask' | 'bid') {
  const colour = kind === 'ask' ? 'down' : 'up';
  const price = el('span', {});
  const tokens = el('span', { class: 'num' });
  const element = el('li', { class: `level ${kind}` }, price, tokens);
  return {
    element,
    say(words: string) {
      setText(price, words);
      price.className = 'dim';
    },
    show(level: Level | undefined, most: bigint) {
      price.className = colour;
      setText(price, level === undefined ? '' : shortPrice(level[0]));
      setText(tokens, level === undefined ? '' : short(level[1]));
      setAttribute(element, 'title', level === undefined ? null : `${level[0]} ADA a token`);
      const share = level === undefined ? 0n : (BigInt(level[1]) * 100n) / most;
      element.style.setProperty('--depth', `${share}%`);
    },
  };
}
