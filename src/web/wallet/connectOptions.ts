/** Ways to connect a wallet, as this network and this browser offer them. */
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { onChange } from '../signal.ts';
import { button } from '../trade/button.ts';
import { textField } from '../trade/field.ts';
import { type Extension, extensionsIn } from './cip30.ts';
import { connectExtension, testWallet } from './connect.ts';
import { sessionOf, startTestWallet } from './session.ts';
import { keepSecret, keptSecret, readSecret, storage } from './testWallet.ts';

/** Extensions put themselves into the page when they please. */
const LOOK_EVERY_MS = 1_000;

export function mountConnectOptions(container: HTMLElement, context: PageContext): Unmount {
  const test = testChoice(context);
  const extensions = new ExtensionChoices(context);
  const none = el('p', {}, 'This server has no chain: there is nothing to sign.');
  container.append(test, extensions.element, none);
  const show = () => {
    const name = context.network.value?.name ?? null;
    test.hidden = name !== 'devnet';
    none.hidden = name !== 'none';
    extensions.element.hidden = name === null || name === 'none';
  };
  const stop = onChange(context.network, show);
  show();
  return () => {
    stop();
    extensions.close();
  };
}

function testChoice(context: PageContext): HTMLElement {
  const field = textField(
    { label: 'Secret key', hint: '64 hex digits, as a test wallet exports them.' },
    { type: 'password', maxlength: '200' },
  );
  const failure = el('div');
  const take = button('Import it', () => {
    const read = readSecret(field.input.value);
    field.problem(typeof read === 'string' ? read : null);
    failure.replaceChildren();
    if (typeof read === 'string') return;
    try {
      // The key that is there is all that there is to its coins.
      if (keptSecret(storage) !== null && keptSecret(storage) !== read.secret) {
        throw new Error('Another test wallet is kept here: connect and forget that one first.');
      }
      keepSecret(storage, read.secret);
      sessionOf(context).connect(testWallet(read.secret));
      field.input.value = '';
    } catch (error) {
      failure.replaceChildren(errorBox(error));
    }
  });
  return el(
    'div',
    { class: 'connect-way' },
    el('h3', {}, 'Test wallet'),
    el(
      'p',
      { class: 'caution' },
      'Its key is stored unprotected in this browser. It is for the coins of this devnet, which ' +
        'are worth nothing: never use such a key anywhere else.',
    ),
    el(
      'div',
      {},
      button('Use a test wallet', () => startTestWallet(context), { kind: 'primary' }),
    ),
    el(
      'details',
      {},
      el('summary', {}, 'Import a key'),
      el('div', { class: 'wallet-stack' }, field.root, failure, el('div', {}, take)),
    ),
  );
}

class ExtensionChoices {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #list = el('ul', { class: 'extensions' });
  readonly #note = el('p', { class: 'dim' });
  readonly #failure = el('div');
  #timer: { cancel(): void } | null = null;
  #shown = '';

  constructor(context: PageContext) {
    this.#context = context;
    this.element = el(
      'div',
      { class: 'connect-way' },
      el('h3', {}, 'Wallet of this browser'),
      this.#list,
      this.#note,
      this.#failure,
    );
    this.#look();
  }

  close(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    const found = extensionsIn(window, this.#context.clock);
    const shown = found.map(({ id, name }) => `${id} ${name}`).join();
    if (shown !== this.#shown || found.length === 0) {
      this.#shown = shown;
      this.#list.replaceChildren(...found.map((each) => this.#entry(each)));
    }
    const none = 'No wallet is installed in this browser. Any that follows CIP-30 will do.';
    setText(this.#note, found.length === 0 ? none : '');
    this.#timer = this.#context.clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  #entry(extension: Extension): HTMLElement {
    const made = button(`Connect ${extension.name}`, () => this.#connect(extension));
    const { icon } = extension;
    if (icon !== null) made.prepend(el('img', { src: icon, alt: '', width: '20', height: '20' }));
    return el('li', {}, made);
  }

  async #connect(extension: Extension): Promise<void> {
    const { network } = this.#context;
    this.#failure.replaceChildren();
    if (network.value === null) return;
    try {
      sessionOf(this.#context).connect(await connectExtension(extension, network.value));
    } catch (error) {
      this.#failure.replaceChildren(errorBox(error));
    }
  }
}
