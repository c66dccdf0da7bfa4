/** The last look at what will be signed: what it is, and what the bytes do. */
import type { Value } from '../../cardano/codec/value.ts';
import type { Review } from '../../client/trade/review.ts';
import { ends, moment } from '../format.ts';
import { t } from '../messages.ts';
import { shownAda } from './amount.ts';
import { shownOf, type Token } from './quoteTerms.ts';

interface WhatYouSignProps {
  readonly review: Review;
  readonly token: Token | null;
  /** Of the payments: `goes to the order`. */
  readonly goes: string;
  readonly words: string;
  /** Unix ms from which no block takes it; null: it has no end. */
  readonly validUntil: number | null;
}

/** What a transaction does, read from its bytes. */
export function WhatYouSign({ review, token, goes, words, validUntil }: WhatYouSignProps) {
  const { txHash, payments, change, feeLovelace } = review;
  const isEnding = validUntil !== null && review.validToSlot !== null;
  return (
    <details class="signed" open>
      <summary>{t.sign.title}</summary>
      <p class="small dim">
        {words} {t.sign.readHere}
      </p>
      <ul>
        {payments.map(({ index, address, value }) => (
          <li key={index}>
            <strong>{amountsOf(value, token)}</strong> {goes}{' '}
            <code title={address}>{ends(address, 12)}</code>
          </li>
        ))}
        <li>
          <strong>{shownAda(feeLovelace)}</strong> {t.sign.isFee}
        </li>
        <li>
          <strong>{amountsOf(change, token)}</strong> {t.sign.comesBack}
        </li>
      </ul>
      <p class="small">{isEnding ? t.sign.validUntil(moment(validUntil / 1000)) : t.sign.noEnd}</p>
      <p class="small dim">
        {t.sign.transaction} <code title={txHash}>{ends(txHash, 8)}</code>
      </p>
    </details>
  );
}

const MOST_SHOWN = 2;

function amountsOf({ lovelace, assets }: Value, token: Token | null): string {
  const amounts = Array.from(assets, ([asset, amount]) => {
    if (asset === token?.asset) return shownOf(amount, asset, token);
    const [policy = ''] = asset.split('.');
    return shownOf(amount, asset, { asset, ticker: t.sign.tokensOf(ends(policy)) });
  });
  const shown = amounts.slice(0, MOST_SHOWN);
  const left = amounts.length - shown.length;
  return [shownAda(lovelace), ...shown, ...(left > 0 ? [t.sign.others(left)] : [])].join(' + ');
}
