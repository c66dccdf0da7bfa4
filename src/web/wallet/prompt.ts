/** Where a wallet is needed and none is connected: the shortest way to one. */
import type { PageContext, Unmount } from '../context.ts';
import { el } from '../dom.ts';
import { button } from '../trade/busy.ts';
import { sessionOf, startTestWallet } from './session.ts';

export function mountPrompt(container: HTMLElement, context: PageContext): Unmount {
  const session = sessionOf(context);
  const make = button('Make a test wallet', () => startTestWallet(context), { kind: 'primary' });
  const other = el('a', { class: 'button', href: '#/wallet' }, 'Connect a wallet');
  const none = el('p', { class: 'dim' }, 'This server has no chain: there is nothing to trade.');
  container.append(make, other, none);
  const show = () => {
    const network = context.network.value?.name ?? null;
    container.hidden = session.wallet.value !== null || network === null;
    make.hidden = network !== 'devnet';
    other.hidden = network === 'none';
    none.hidden = network !== 'none';
  };
  const stops = [session.wallet.subscribe(show), context.network.subscribe(show)];
  show();
  return () => {
    for (const stop of stops) stop();
  };
}
