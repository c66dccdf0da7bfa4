/** Where a wallet is needed: the shortest way to one, and on a devnet to its first coins. */
import type { PageContext, Unmount } from '../context.ts';
import { el } from '../dom.ts';
import { onChange } from '../signal.ts';
import { button } from '../trade/button.ts';
import { faucet } from './faucet.ts';
import { sessionOf, startTestWallet } from './session.ts';

export function mountPrompt(container: HTMLElement, context: PageContext): Unmount {
  const session = sessionOf(context);
  const make = button('Make a test wallet', () => startTestWallet(context), { kind: 'primary' });
  const other = el('a', { class: 'button', href: '#/wallet' }, 'Connect a wallet');
  const none = el('p', { class: 'dim' }, 'This server has no chain: there is nothing to trade.');
  const coins = el('div', {});
  container.append(make, other, none, coins);
  let address: string | null = null;
  const show = () => {
    const network = context.network.value?.name ?? null;
    const wallet = session.wallet.value;
    const hasNone = session.balance.value?.lovelace === 0n && !session.hasHadCoins;
    const isPoor = wallet !== null && hasNone;
    const wantsCoins = isPoor && network === 'devnet';
    container.hidden = network === null || (wallet !== null && !wantsCoins);
    make.hidden = network !== 'devnet' || wallet !== null;
    other.hidden = network === 'none' || wallet !== null;
    // Made once for a wallet: it reports when its coins have arrived.
    if (wantsCoins && wallet.address !== address) {
      address = wallet.address;
      coins.replaceChildren(faucet(context, address));
    }
    none.hidden = network !== 'none';
    coins.hidden = !wantsCoins;
  };
  const stops = [session.wallet, session.balance, context.network].map((each) =>
    onChange<unknown>(each, show),
  );
  show();
  return () => {
    for (const stop of stops) stop();
  };
}
