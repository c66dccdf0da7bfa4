/** What the wallet holds: ADA, and tokens with a way to their page. */
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { failureOf } from '../failure.ts';
import { forget, nextFrame } from '../frames.ts';
import { hashOf } from '../route.ts';
import { shownAda, shownAmount } from '../trade/amount.ts';
import { sessionOf } from './session.ts';
import { tickersOf } from './tickers.ts';

/** A wallet may hold thousands of kinds. */
const MOST_ROWS = 100;

export function mountHoldings(container: HTMLElement, context: PageContext): Unmount {
  const session = sessionOf(context);
  const tickers = tickersOf(context);
  const ada = el('p', { class: 'balance', 'aria-live': 'polite' });
  const list = el('ul', { class: 'holdings' });
  const failure = el('div');
  container.append(ada, list, failure);
  const show = () => {
    const held = session.balance.value;
    setText(ada, held === null ? '…' : shownAda(held.lovelace));
    const tokens = held === null ? [] : [...held.assets].sort(([a], [b]) => (a < b ? -1 : 1));
    const rows = tokens.slice(0, MOST_ROWS).map(([asset, amount]) => {
      const link = el('a', { href: hashOf({ at: 'token', asset }) }, tickers.of(asset));
      return el('li', {}, link, el('span', { class: 'num' }, shownAmount(amount, 0)));
    });
    const more = tokens.length - rows.length;
    if (more > 0) rows.push(el('li', { class: 'dim' }, `and ${more} more`));
    list.replaceChildren(...rows);
    const trouble = session.trouble.value;
    failure.replaceChildren(...(trouble === null ? [] : [failureOf(trouble)]));
  };
  const again = () => nextFrame(show);
  const stops = [session.balance, session.trouble, tickers.learned].map((each) =>
    each.subscribe(again),
  );
  show();
  session.refresh();
  return () => {
    for (const stop of stops) stop();
    forget(show);
  };
}
