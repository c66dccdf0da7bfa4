/** What is to be traded: side, amount and slippage as typed, and as the API wants them. */
import type { OrderBody, QuoteQuery } from '../../client/types.ts';
import { el, setText } from '../dom.ts';
import { ADA_DECIMALS, plainAmount, readAmount, shareOf } from './amount.ts';
import { button } from './button.ts';
import { amountField, choiceBar } from './field.ts';

type Slippage = OrderBody['slippage'];

/** Percent that the fill may bring less than the quote; below that the order stays open. */
const SLIPPAGES: readonly {
  readonly value: Slippage;
  readonly label: string;
  readonly words: string;
}[] = [
  {
    value: '15',
    label: '15 %',
    words: 'Fills for at least 85 % of the quote.',
  },
  {
    value: '30',
    label: '30 %',
    words: 'Fills for at least 70 % of the quote.',
  },
  {
    value: '50',
    label: '50 %',
    words: 'Fills for at least half of the quote.',
  },
  {
    value: '75',
    label: '75 %',
    words: 'Fills for at least a quarter of the quote.',
  },
  { value: 'infinity', label: 'Any', words: 'Fills at any price: you may get next to nothing.' },
];

type Direction = 'buy' | 'sell';
type BuyBy = 'BUY' | 'BUY_WITH_OUTPUT';

const DIRECTIONS = [
  { value: 'buy', label: 'Buy' },
  { value: 'sell', label: 'Sell' },
] as const;
const BUY_BY = [
  { value: 'BUY', label: 'Spend ADA' },
  { value: 'BUY_WITH_OUTPUT', label: 'Get tokens' },
] as const;
const QUICK_ADA = [10n, 50n, 100n, 500n];
const QUICK_SHARES = [25, 50, 100];
const ADA = 1_000_000n;

interface TradeFormDeps {
  /** What the wallet has of the token. */
  held(): bigint;
  /** The amount is fine, or not yet. */
  onChange(): void;
}

export class TradeForm {
  readonly element: HTMLElement;
  readonly amount = amountField({ label: 'You spend', unit: 'ADA' });
  readonly #deps: TradeFormDeps;
  readonly #quick = el('div', { class: 'quick', role: 'group', 'aria-label': 'Amounts' });
  readonly #slippageWords = el('p', { class: 'hint slippage-words' });
  #ticker = '';
  #direction: Direction = 'buy';
  #buyBy: BuyBy = 'BUY';
  #slippage: Slippage = '15';

  constructor(deps: TradeFormDeps) {
    this.#deps = deps;
    const direction = choiceBar<Direction>('Side', DIRECTIONS, 'buy', (value) => {
      this.#direction = value;
      buyBy.root.hidden = value === 'sell';
      this.#another();
    });
    direction.root.classList.add('direction');
    const buyBy = choiceBar<BuyBy>('Buy by', BUY_BY, 'BUY', (value) => {
      this.#buyBy = value;
      this.#another();
    });
    const slippage = choiceBar<Slippage>('Slippage', SLIPPAGES, '15', (value) => {
      this.#slippage = value;
      this.#saySlippage();
      deps.onChange();
    });
    this.amount.input.addEventListener('input', () => deps.onChange());
    this.element = el(
      'div',
      { class: 'trade-fields' },
      direction.root,
      buyBy.root,
      this.amount.root,
      this.#quick,
      slippage.root,
      this.#slippageWords,
    );
    this.#saySlippage();
    this.#lay();
  }

  get isSell(): boolean {
    return this.#direction === 'sell';
  }

  get side(): QuoteQuery['side'] {
    return this.isSell ? 'SELL' : this.#buyBy;
  }

  get slippage(): Slippage {
    return this.#slippage;
  }

  set ticker(ticker: string) {
    if (ticker === this.#ticker) return;
    this.#ticker = ticker;
    this.#sayUnit();
  }

  /** What can be spent of what is offered; empty while it is not known. */
  set balance(text: string) {
    this.amount.hint(text === '' ? '' : `You have ${text}.`);
  }

  /** In smallest units, or in words what is wrong with it. */
  read(): bigint | string {
    return readAmount(this.amount.input.value, this.side === 'BUY' ? ADA_DECIMALS : 0);
  }

  clear(): void {
    this.#fill('');
  }

  #fill(text: string): void {
    this.amount.input.value = text;
    this.#deps.onChange();
  }

  /** What was typed was an amount of something else. */
  #another(): void {
    this.#lay();
    this.#fill('');
  }

  #lay(): void {
    this.#sayUnit();
    const shares = QUICK_SHARES.map((percent) =>
      this.#quickButton(`${percent} %`, () => shareOf(this.#deps.held(), percent), 0),
    );
    const amounts = QUICK_ADA.map((ada) =>
      this.#quickButton(`${ada} ₳`, () => ada * ADA, ADA_DECIMALS),
    );
    this.#quick.replaceChildren(...(this.isSell ? shares : this.side === 'BUY' ? amounts : []));
  }

  #quickButton(label: string, amount: () => bigint, decimals: number): HTMLButtonElement {
    return button(label, () => this.#fill(plainAmount(amount(), decimals)));
  }

  #sayUnit(): void {
    const isAda = this.side === 'BUY';
    const label = this.isSell ? 'You sell' : isAda ? 'You spend' : 'You get';
    const title = this.amount.root.querySelector('label');
    if (title !== null) setText(title, label);
    this.amount.unit(isAda ? 'ADA' : this.#ticker);
  }

  #saySlippage(): void {
    const chosen = SLIPPAGES.find(({ value }) => value === this.#slippage);
    setText(this.#slippageWords, chosen?.words ?? '');
  }
}
