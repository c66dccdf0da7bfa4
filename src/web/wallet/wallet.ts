/** The wallet page: connects a wallet and shows its balance, orders and locks. */
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorBox, errorText } from '../errorView.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { routeHash } from '../route.ts';
import { onChange } from '../signal.ts';
import { shownAda, shownAmount } from '../trade/amount.ts';
import { button } from '../trade/button.ts';
import { ask } from '../trade/dialog.ts';
import type { ConnectedWallet } from './connectedWallet.ts';
import { mountConnectOptions } from './connectOptions.ts';
import { faucet } from './faucet.ts';
import { mountOwnLocks } from './locks.ts';
import { mountOwnOrders } from './orders.ts';
import { sessionOf } from './session.ts';
import { forgetSecret, keptSecret, storage } from './testWallet.ts';
import { tickersOf } from './tickers.ts';

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
    onChange(session.wallet, show),
  ];
  show();
  return () => {
    for (const stop of stops) stop();
  };
}

/** The connected wallet: its address, the faucet of a devnet, and how to disconnect. */
function mountAccount(container: HTMLElement, context: PageContext): Unmount {
  const session = sessionOf(context);
  const show = () => {
    const { value } = session.wallet;
    container.replaceChildren(...(value === null ? [] : partsOf(value, context)));
  };
  const stops = [onChange(session.wallet, show), onChange(context.network, show)];
  show();
  return () => {
    for (const stop of stops) stop();
  };
}

function partsOf(wallet: ConnectedWallet, context: PageContext): HTMLElement[] {
  const { kind, name, icon, address } = wallet;
  const picture =
    icon === null ? null : el('img', { src: icon, alt: '', width: '20', height: '20' });
  const title = el('h3', { class: 'wallet-name' }, picture, name);
  const where = el(
    'p',
    { class: 'wallet-address' },
    el('code', {}, address),
    copyButton(() => address, 'Copy', 'Copy the address'),
  );
  const isDevnet = context.network.value?.name === 'devnet';
  const parts: HTMLElement[] = [title, where];
  if (isDevnet) parts.push(faucet(context, address));
  parts.push(kind === 'test' ? testParts(context) : disconnecting(context));
  return parts;
}

function copyButton(text: () => string, label: string, describe: string): HTMLButtonElement {
  const made = button(
    label,
    async () => {
      setText(made, (await copied(text())) ? 'Copied' : 'Select it');
    },
    { describe },
  );
  made.addEventListener('blur', () => setText(made, label));
  return made;
}

/** Browsers keep the clipboard from pages that came over plain HTTP from another machine. */
async function copied(text: string): Promise<boolean> {
  const { clipboard }: { readonly clipboard?: Clipboard } = navigator;
  if (clipboard === undefined) return false;
  return clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

function disconnecting(context: PageContext): HTMLElement {
  return el(
    'div',
    {},
    button('Disconnect', () => sessionOf(context).disconnect()),
  );
}

function testParts(context: PageContext): HTMLElement {
  const secret = el('code', { class: 'secret' });
  const copy = copyButton(() => secret.textContent ?? '', 'Copy', 'Copy the secret key');
  const shown = el('div', { class: 'wallet-stack', hidden: true }, secret, el('div', {}, copy));
  const reveal = button('Show the secret key', () => {
    shown.hidden = !shown.hidden;
    setText(secret, shown.hidden ? '' : (keptSecret(storage) ?? 'It is not kept here any more.'));
    setText(reveal, shown.hidden ? 'Show the secret key' : 'Hide the secret key');
  });
  const forget = button('Forget this wallet', () => forgetTestWallet(context));
  return el(
    'div',
    { class: 'wallet-stack' },
    el(
      'p',
      { class: 'caution' },
      'A test wallet: its key is stored unprotected in this browser. Never send it real coins.',
    ),
    el('div', { class: 'buttons' }, reveal, forget, disconnectButton(context)),
    shown,
  );
}

function disconnectButton(context: PageContext): HTMLButtonElement {
  return button('Disconnect', () => sessionOf(context).disconnect());
}

async function forgetTestWallet(context: PageContext): Promise<void> {
  await ask({
    title: 'Forget the test wallet',
    content: [
      el(
        'p',
        {},
        'Its key is removed from this browser. Without a copy of the key its coins, orders and ' +
          'locks are lost for good.',
      ),
    ],
    confirm: 'Forget it',
    leave: 'Keep it',
    async run() {
      forgetSecret(storage);
      sessionOf(context).disconnect();
      return true;
    },
    late: (error) => context.notify('bad', errorText(error)),
  });
}

/** A wallet may hold thousands of kinds. */
const MAX_ROWS = 100;

/** The wallet's balance: ADA, and tokens with links to their pages. */
function mountBalance(container: HTMLElement, context: PageContext): Unmount {
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
    onChange(each, again),
  );
  show();
  session.refresh();
  return () => {
    for (const stop of stops) stop();
    cancelFrame(show);
  };
}
