/** What the wallet holds: ADA, and tokens with a way to their page. */
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { routeHash } from '../route.ts';
import { shownAda, shownAmount } from '../trade/amount.ts';
import { sessionOf } from './session.ts';
import { tickersOf } from './tickers.ts';

/** A wallet may hold thousands of kinds. */
const MAX_ROWS = 100;

export function mountBalance(container: HTMLElement, context: PageContext): Unmount {
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
    const rows = tokens.slice(0, MAX_ROWS).map(([asset, amount]) => {
      const link = el('a', { href: routeHash({ at: 'token', asset }) }, tickers.of(asset));
      return el('li', {}, link, el('span', { class: 'num' }, shownAmount(amount, 0)));
    });
    const more = tokens.length - rows.length;
    if (more > 0) rows.push(el('li', { class: 'dim' }, `and ${more} more`));
    list.replaceChildren(...rows);
    const trouble = session.trouble.value;
    failure.replaceChildren(...(trouble === null ? [] : [errorBox(trouble)]));
  };
  const again = () => nextFrame(show);
  const stops = [session.balance, session.trouble, tickers.learned].map((each) =>
    each.subscribe(again),
  );
  show();
  session.refresh();
  return () => {
    for (const stop of stops) stop();
    cancelFrame(show);
  };
}
