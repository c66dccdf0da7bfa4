/** The live quote on the screen: always the same rows, so that nothing jumps when it comes. */
import { useRef } from 'preact/hooks';
import type { QuoteAnswer } from '../../client/types.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { t } from '../messages.ts';
import { explainedBy } from '../tooltip.ts';
import type { QuoteState } from './quoteFeed.ts';
import { shownOf, TERMS, type Token, termRows } from './quoteTerms.ts';
import { leastOutput } from './slippage.ts';

interface QuoteBoxProps {
  readonly state: QuoteState;
  readonly token: Token;
  readonly slippage: bigint | null;
  readonly impact: (quote: QuoteAnswer) => bigint | null;
}

/** Hundredths of a percent, from which on it is said in words. */
const LARGE_IMPACT = 500n;
const NOTHING = '–';

export function QuoteBox({ state, token, slippage, impact }: QuoteBoxProps) {
  /** What was quoted before stays faintly until the answer is there. */
  const last = useRef<QuoteAnswer | null>(null);
  if (state.kind === 'quote') last.current = state.quote;
  else if (state.kind !== 'asking') last.current = null;
  const quote = last.current;
  const least = quote === null ? 0n : leastOutput(BigInt(quote.outputAmount), slippage);
  const moved = quote === null ? null : impact(quote);
  const rows = quote === null ? [] : termRows(quote, token, least, moved);
  const isAsking = state.kind === 'asking';
  const isLarge = moved !== null && moved >= LARGE_IMPACT;
  return (
    <div class="quote" data-state={state.kind} aria-busy={isAsking || undefined}>
      <dl class="term-list quote-rows">
        {TERMS.map((term) => {
          const row = rows.find((each) => each.term === term);
          const isGain = term === 'now' || term === 'least';
          const isWarned = term === 'impact' && isLarge;
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
      <p class="quote-words">
        {quote !== null && slippage !== null
          ? t.trade.plainly(shownOf(least, quote.outputAsset, token))
          : ''}
        {isLarge ? ` ${t.trade.largeImpact}` : ''}
      </p>
      <div class="quote-failure">
        {state.kind === 'refused' && <ErrorBox error={state.error} />}
      </div>
      {/* Read out in one sentence, not row by row. */}
      <p class="unseen" role="status">
        {quote === null
          ? ''
          : t.trade.getNow(shownOf(quote.outputAmount, quote.outputAsset, token))}
      </p>
    </div>
  );
}
