/**
 * Buying and selling on the page of a token: what to trade, the live quote, a last look, and then
 * the order's way from the mempool to its end.
 */

import type { QuoteAnswer } from '../../client/types.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { onChange } from '../signal.ts';
import { addTooltip } from '../tooltip.ts';
import { amountHeld } from '../wallet/connectedWallet.ts';
import { mountOwnOrders } from '../wallet/orders.ts';
import { mountPrompt } from '../wallet/prompt.ts';
import { type Session, sessionOf } from '../wallet/session.ts';
import { shownAda } from './amount.ts';
import { button, runOnce } from './button.ts';
import { confirmOrder } from './confirmOrder.ts';
import { navigationNow } from './dialog.ts';
import { mountLockButton } from './lock.ts';
import { QuoteFeed, type QuoteState } from './quoteFeed.ts';
import { shownOf, TERM_NAMES, type Token, termRows } from './quoteTerms.ts';
import { TradeForm } from './tradeForm.ts';

export function mountTrade(container: HTMLElement, context: PageContext): Unmount {
  const asset = context.asset.value;
  if (asset === null) return () => {};
  const view = new TradeView(context, asset);
  container.append(...view.elements);
  return () => view.close();
}

class TradeView {
  readonly elements: readonly HTMLElement[];
  readonly #context: PageContext;
  readonly #asset: string;
  readonly #session: Session;
  readonly #feed: QuoteFeed;
  readonly #form: TradeForm;
  readonly #box = quoteBox();
  readonly #held = el('span', { class: 'side held' });
  readonly #failure = el('div', { class: 'trade-failure' });
  readonly #review: HTMLButtonElement;
  readonly #stops: readonly Unmount[];
  readonly #show = () => this.#draw();

  constructor(context: PageContext, asset: string) {
    this.#context = context;
    this.#asset = asset;
    const session = sessionOf(context);
    this.#session = session;
    this.#feed = new QuoteFeed(context);
    this.#form = new TradeForm({
      held: () => amountHeld(session.balance.value, asset),
      onChange: () => this.#changed(),
    });
    this.#review = button('Review buy', () => {}, { kind: 'primary', type: 'submit' });
    const prompt = el('div', { class: 'trade-prompt' });
    const own = el('div', { class: 'inside own' }, el('h3', {}, 'Your orders'));
    const lock = el('div', { class: 'trade-lock' });
    const form = el(
      'form',
      { class: 'inside trade-form', novalidate: true, 'aria-label': 'Trade' },
      this.#form.element,
      this.#box.element,
      this.#failure,
      prompt,
      this.#review,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void runOnce(this.#review, () => this.#place());
    });
    this.elements = [el('header', {}, el('h2', {}, 'Trade'), this.#held), form, own, lock];
    const again = () => nextFrame(this.#show);
    this.#stops = [
      mountPrompt(prompt, context),
      mountOwnOrders(own, context, asset),
      mountLockButton(lock, context, () => this.#token),
      onChange(this.#feed.state, again),
      onChange(context.pool, again),
      onChange(session.balance, again),
      onChange(session.wallet, () => {
        own.hidden = session.wallet.value === null;
        again();
      }),
    ];
    own.hidden = session.wallet.value === null;
    this.#draw();
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#feed.close();
    cancelFrame(this.#show);
  }

  get #token(): Token {
    const ticker = this.#context.pool.value?.info.ticker ?? 'tokens';
    return { asset: this.#asset, ticker };
  }

  #changed(): void {
    const amount = this.#form.read();
    this.#failure.replaceChildren();
    const isTyped = this.#form.amount.input.value.trim() !== '';
    this.#form.amount.problem(isTyped && typeof amount === 'string' ? amount : null);
    const { side, slippage } = this.#form;
    const query = { assetId: this.#asset, side, amount: String(amount), slippage };
    this.#feed.want(typeof amount === 'string' ? null : query);
    nextFrame(this.#show);
  }

  #draw(): void {
    const token = this.#token;
    const { balance, wallet } = this.#session;
    this.#form.ticker = token.ticker;
    this.#box.show(this.#feed.state.value, token);
    const hasWallet = wallet.value !== null;
    this.#review.hidden = !hasWallet;
    setText(this.#review, `Review ${this.#form.isSell ? 'sell' : 'buy'}`);
    const held = balance.value;
    const tokens = shownOf(amountHeld(held, token.asset), token.asset, token);
    const coins = shownAda(held?.lovelace ?? 0n);
    this.#form.balance = held === null ? '' : this.#form.isSell ? tokens : coins;
    setText(this.#held, held === null ? '' : `${coins} · ${tokens}`);
  }

  async #place(): Promise<void> {
    const form = this.#form;
    const navigation = navigationNow();
    const amount = form.read();
    this.#failure.replaceChildren();
    if (typeof amount === 'string') {
      form.amount.problem(amount);
      form.amount.input.focus();
      return;
    }
    const { side, slippage } = form;
    const seen = this.#feed.state.value;
    const isQuoted = side === 'BUY_WITH_OUTPUT' && seen.kind === 'quote';
    const limit = isQuoted ? { maxInputLovelace: BigInt(seen.quote.inputAmount) } : {};
    const request = { assetId: this.#asset, side, amount, slippage, ...limit };
    try {
      const prepared = await this.#session.trading().prepareOrder(request);
      await confirmOrder({
        prepared,
        token: this.#token,
        kind: form.isSell ? 'Sell' : 'Buy',
        navigation,
        onSubmitted: () => {
          form.clear();
          this.#context.notify('info', 'The order was sent. Your orders show what becomes of it.');
          this.#session.refresh();
        },
        late: (error) => this.#fail(error),
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure.replaceChildren(errorBox(error));
  }
}

const NOTHING = '–';

interface QuoteBox {
  readonly element: HTMLElement;
  show(state: QuoteState, token: Token): void;
}

/** The live quote on the screen: always the same rows, so that nothing jumps when it comes. */
function quoteBox(): QuoteBox {
  const rows = TERM_NAMES.map((name) => {
    const explained = { words: 'Enter an amount to see it.' };
    const term = el('dt', { tabindex: '0' }, name);
    addTooltip(term, () => explained.words);
    const value = el('dd', {}, NOTHING);
    return {
      explained,
      value,
      row: el('div', { class: name.startsWith('You get') ? 'received' : null }, term, value),
    };
  });
  const list = el('dl', { class: 'term-list quote-rows' }, ...rows.map(({ row }) => row));
  const failure = el('div', { class: 'quote-failure' });
  const spoken = el('p', { class: 'unseen', role: 'status' });
  const element = el('div', { class: 'quote' }, list, failure, spoken);

  const fill = (quote: QuoteAnswer | null, token: Token) => {
    const terms = quote === null ? [] : termRows(quote, token);
    for (const [index, { explained, value }] of rows.entries()) {
      const [, text = NOTHING, words = 'Enter an amount to see it.'] = terms[index] ?? [];
      setText(value, text);
      explained.words = words;
    }
    // Read out in one sentence, not row by row.
    const [, gets = ''] = terms[1] ?? [];
    setText(spoken, gets === '' ? '' : `You get ${gets} now.`);
  };

  return {
    element,
    show(state, token) {
      setAttribute(element, 'data-state', state.kind);
      setAttribute(element, 'aria-busy', state.kind === 'asking' ? 'true' : null);
      failure.replaceChildren(...(state.kind === 'refused' ? [errorBox(state.error)] : []));
      if (state.kind === 'quote') fill(state.quote, token);
      else if (state.kind !== 'asking') fill(null, token);
    },
  };
}
