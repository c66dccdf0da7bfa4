/** The last look at what will be signed: its kind, and the effects of its bytes. */
import type { ComponentChildren } from 'preact';
import type { Value } from '../../cardano/codec/value.ts';
import type { Review } from '../../client/trade/review.ts';
import type { PreparedTx, SubmittedTx } from '../../client/trade/tradingClient.ts';
import { ask } from '../components/dialog.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { ends, moment } from '../format.ts';
import { t } from '../messages.ts';
import { sessionOf } from '../wallet/session.ts';
import { shownAda } from './amount.ts';
import { shownOf, type Token } from './quoteTerms.ts';

interface SigningRequest<R extends SubmittedTx>
  extends Omit<WhatYouSignProps, 'review' | 'validUntil'> {
  readonly title: string;
  /** Shown above the effects of the bytes. */
  readonly above?: ComponentChildren;
  readonly prepared: PreparedTx<{ readonly validUntil: number | null }, R>;
  readonly confirm: string;
  /** Side of an order. */
  readonly side?: 'buy' | 'sell';
  /** Label of the button that cancels. */
  readonly leave?: string;
  /** The navigation count when the button was pressed: see `ask`. */
  readonly navigation: number;
  readonly sent: (result: R) => void;
}

/** Shows what will be signed; resolves when the dialog is closed: whether it was sent. */
export function askToSign<R extends SubmittedTx>(
  context: PageContext,
  request: SigningRequest<R>,
): Promise<boolean> {
  const { title, above, prepared, token, goes, words, confirm, leave, navigation, sent } = request;
  const { side } = request;
  const { review, built } = prepared;
  const { validUntil } = built;
  return ask({
    title,
    content: (
      <>
        {above}
        <WhatYouSign {...{ review, token, goes, words, validUntil }} />
      </>
    ),
    ...{ confirm, side },
    ...(leave === undefined ? {} : { leave }),
    navigation,
    async run() {
      sent(await prepared.submit());
      return true;
    },
    late: (error) => context.notify('bad', errorText(error)),
  });
}

/** For `sent`: says so, and looks for the transaction in a block. */
export function sayAndFollow(context: PageContext, words: string) {
  return ({ txHash }: SubmittedTx): void => {
    context.notify('info', words);
    void sessionOf(context).follow(txHash);
  };
}

interface WhatYouSignProps {
  readonly review: Review;
  readonly token: Token | null;
  /** Label of the payments: `goes to the order`. */
  readonly goes: string;
  readonly words: string;
  /** Unix ms from which no block takes it; null: it has no end. */
  readonly validUntil: number | null;
}

/** A transaction's effects, read from its bytes. */
function WhatYouSign({ review, token, goes, words, validUntil }: WhatYouSignProps) {
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
      <p class="small">
        {isEnding ? t.sign.validUntil({ when: moment(validUntil / 1000) }) : t.sign.noEnd}
      </p>
      <p class="small dim">
        {t.sign.transaction} <code title={txHash}>{ends(txHash, 8)}</code>
      </p>
    </details>
  );
}

const MAX_SHOWN = 2;

/** A value in words: ADA first, of many assets only some. */
export function amountsOf({ lovelace, assets }: Value, token: Token | null): string {
  const amounts = Array.from(assets, ([asset, amount]) => {
    if (asset === token?.asset) return shownOf(amount, asset, token);
    const [policy = ''] = asset.split('.');
    return shownOf(amount, asset, { asset, ticker: t.sign.tokensOf({ policy: ends(policy) }) });
  });
  const shown = amounts.slice(0, MAX_SHOWN);
  const left = amounts.length - shown.length;
  return [shownAda(lovelace), ...shown, ...(left > 0 ? [t.sign.others(left)] : [])].join(' + ');
}
