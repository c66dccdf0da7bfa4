/** The live quote on the screen: always the same rows, so that nothing jumps when it comes. */
import type { QuoteAnswer } from '../../client/types.ts';
import { el, setAttribute, setText } from '../dom.ts';
import { errorBox } from '../errorView.ts';
import { addTooltip } from '../tooltip.ts';
import type { QuoteState } from './quoteFeed.ts';
import { TERM_NAMES, type Token, termRows } from './quoteTerms.ts';

const NOTHING = '–';

interface QuoteBox {
  readonly element: HTMLElement;
  show(state: QuoteState, token: Token): void;
}

export function quoteBox(): QuoteBox {
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
