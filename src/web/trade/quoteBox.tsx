/**
 * The live quote on the screen. The output stands above the button, always with the same height;
 * the other terms come below it with the first amount, so that nothing moves under the pointer.
 */
import { useRef } from 'preact/hooks';
import { boundOf } from '../../client/trade/bound.ts';
import type { QuoteAnswer, QuoteQuery } from '../../client/types.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { t } from '../messages.ts';
import { explainedBy } from '../tooltip.ts';
import type { QuoteState } from './quoteFeed.ts';
import { shownOf, TERMS, type Term, type TermRow, type Token, termRows } from './quoteTerms.ts';

interface QuoteViewOptions {
  readonly state: QuoteState;
  readonly token: Token;
  readonly side: QuoteQuery['side'];
  /** As it was typed; a text while it is none. */
  readonly amount: bigint | string;
  readonly slippage: bigint | null;
  readonly impact: (quote: QuoteAnswer) => bigint | null;
}

/** A quote as it is shown. */
interface QuoteView {
  readonly state: QuoteState;
  /** None while no quote is known. */
  readonly rows: readonly TermRow[];
  /** The least output, in words; null where any will do, or there is no quote. */
  readonly least: string | null;
  /** Read out in one sentence, not row by row. */
  readonly said: string;
  readonly isLarge: boolean;
}

/** Hundredths of a percent, from which on it is said in words. */
const LARGE_IMPACT = 500n;
const NOTHING = '–';
const FIRST_TERMS: readonly Term[] = ['pay', 'now', 'least', 'impact'];
const OTHER_TERMS = TERMS.filter((term) => !FIRST_TERMS.includes(term));

export function useQuoteView(options: QuoteViewOptions): QuoteView {
  const { state, token, side, amount, slippage, impact } = options;
  /** The previous quote stays faintly visible until the answer arrives. */
  const last = useRef<QuoteAnswer | null>(null);
  if (state.kind === 'quote') last.current = state.quote;
  else if (state.kind !== 'asking') last.current = null;
  const quote = last.current;
  if (quote === null) return { state, rows: [], least: null, said: '', isLarge: false };
  const { outputAmount, outputAsset } = quote;
  const typed = typeof amount === 'bigint' ? amount : 1n;
  const least = boundOf(side, typed, quote, slippage).minOutput;
  const moved = impact(quote);
  return {
    state,
    rows: termRows(quote, token, least, moved),
    least: slippage === null ? null : shownOf(least, outputAsset, token),
    said: t.trade.getNow({ amount: shownOf(outputAmount, outputAsset, token) }),
    isLarge: moved !== null && moved >= LARGE_IMPACT,
  };
}

/** The output, or the reason why there is none; a word where no amount was typed. */
export function QuoteBox({ view }: { readonly view: QuoteView }) {
  const { state, least, said, isLarge } = view;
  const isAsking = state.kind === 'asking';
  const plain = least === null ? '' : t.trade.plainly({ least });
  return (
    <div class="quote" data-state={state.kind} aria-busy={isAsking || undefined}>
      {state.kind === 'none' ? (
        <p class="quote-none">{t.trade.enterAmount}</p>
      ) : (
        <>
          <Terms terms={FIRST_TERMS} view={view} />
          <p class={isLarge ? 'quote-words warn' : 'quote-words'}>
            {isLarge ? t.trade.largeImpact : plain}
          </p>
        </>
      )}
      <div class="quote-failure">
        {state.kind === 'refused' && <ErrorBox error={state.error} />}
      </div>
      <p class="unseen" role="status">
        {said}
      </p>
    </div>
  );
}

/** Below the button: fees, deposit, and what leaves the wallet. */
export function QuoteDetails({ view }: { readonly view: QuoteView }) {
  const { kind } = view.state;
  if (kind === 'none') return null;
  return (
    <div class="quote-details" data-state={kind}>
      <Terms terms={OTHER_TERMS} view={view} />
    </div>
  );
}

function Terms({ terms, view }: { readonly terms: readonly Term[]; readonly view: QuoteView }) {
  return (
    <dl class="term-list quote-rows">
      {terms.map((term) => {
        const row = view.rows.find((each) => each.term === term);
        const isGain = term === 'now' || term === 'least';
        const isWarned = term === 'impact' && view.isLarge;
        return (
          <div key={term} class={isGain ? 'received' : isWarned ? 'warned' : undefined}>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: explained on focus */}
            <dt tabIndex={0} {...explainedBy(() => row?.explained ?? t.trade.enterAmount)}>
              {t.trade.terms.names[term]}
            </dt>
            <dd>{row?.value ?? NOTHING}</dd>
          </div>
        );
      })}
    </dl>
  );
}
