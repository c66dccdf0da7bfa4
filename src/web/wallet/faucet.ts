/** Coins of a devnet for the asking, and word of their arrival. */
import type { PageContext } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { button } from '../trade/button.ts';
import { sessionOf } from './session.ts';

/** The most that one visit gives. */
const FAUCET_ADA = 10_000;

export function faucet(context: PageContext, address: string): HTMLElement {
  const session = sessionOf(context);
  const failure = el('div', { class: 'faucet-failure' });
  const state = el('p', { class: 'hint', role: 'status' }, 'Coins of this devnet, worth nothing.');
  const ada = FAUCET_ADA.toLocaleString('en');
  const give = button(`Get ${ada} ADA`, async () => {
    failure.replaceChildren();
    try {
      const { data } = await context.client.devnet.faucet({ address, ada: FAUCET_ADA });
      setText(state, 'Sent; they are yours when a block has them.');
      const came = await session.follow(data.txHash);
      setText(state, came ? `${ada} ADA arrived.` : 'Not seen in a block yet.');
    } catch (error) {
      failure.replaceChildren(errorBox(error));
    }
  });
  return el('div', { class: 'wallet-stack' }, el('div', {}, give), state, failure);
}
