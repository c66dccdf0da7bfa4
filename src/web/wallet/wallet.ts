/** The place of the wallet: connecting one, what it holds, its orders and its locks. */
import type { PageContext, Unmount } from '../context.ts';
import { el } from '../dom.ts';
import { mountAccount } from './account.ts';
import { mountBalance } from './balance.ts';
import { mountConnectOptions } from './connectOptions.ts';
import { mountOwnLocks } from './locks.ts';
import { mountOwnOrders } from './orders.ts';
import { sessionOf } from './session.ts';

export function mountWallet(container: HTMLElement, context: PageContext): Unmount {
  const session = sessionOf(context);
  const inside = () => el('div', { class: 'inside' });
  const [choices, identity] = [inside(), inside()];
  const [holdings, orders, locks] = [inside(), inside(), inside()];
  const panel = (title: string, ...content: readonly HTMLElement[]) => {
    const header = el('header', {}, el('h2', {}, title));
    return el('section', { class: 'panel', 'aria-label': title }, header, ...content);
  };
  const mine = el(
    'div',
    { class: 'wallet-mine' },
    panel('Balance', holdings),
    panel('Orders', orders),
    panel('Locks', locks),
  );
  container.append(
    el('h1', {}, 'Wallet'),
    el('div', { class: 'wallet-columns' }, panel('Connection', choices, identity), mine),
  );
  const show = () => {
    const isConnected = session.wallet.value !== null;
    choices.hidden = isConnected;
    identity.hidden = !isConnected;
    mine.hidden = !isConnected;
  };
  const stops = [
    mountConnectOptions(choices, context),
    mountAccount(identity, context),
    mountBalance(holdings, context),
    mountOwnOrders(orders, context, null),
    mountOwnLocks(locks, context),
    session.wallet.subscribe(show),
  ];
  show();
  return () => {
    for (const stop of stops) stop();
  };
}
