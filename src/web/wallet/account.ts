/** The connected wallet: its address, the faucet of a devnet, and how to disconnect. */
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorText } from '../errorView.ts';
import { button } from '../trade/button.ts';
import { ask } from '../trade/dialog.ts';
import type { ConnectedWallet } from './connectedWallet.ts';
import { faucet } from './faucet.ts';
import { sessionOf } from './session.ts';
import { forgetSecret, keptSecret, storage } from './testWallet.ts';

export function mountAccount(container: HTMLElement, context: PageContext): Unmount {
  const session = sessionOf(context);
  const show = () => {
    const { value } = session.wallet;
    container.replaceChildren(...(value === null ? [] : partsOf(value, context)));
  };
  const stops = [session.wallet.subscribe(show), context.network.subscribe(show)];
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
