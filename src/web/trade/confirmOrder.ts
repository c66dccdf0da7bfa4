/** The last look at an order: what it is, and what the bytes that will be signed do. */
import type { OrderAnswer } from '../../client/types.ts';
import { el } from '../dom.ts';
import { ends } from '../format.ts';
import type { Prepared } from '../wallet/desk.ts';
import type { Review } from '../wallet/review.ts';
import { shownAda } from './amount.ts';
import { ask, facts } from './dialog.ts';
import { shownOf, type Token, termRows } from './terms.ts';

export interface OrderConfirmation {
  readonly prepared: Prepared<OrderAnswer>;
  readonly token: Token;
  readonly kind: 'Buy' | 'Sell';
  readonly visit: number;
  onSubmitted(txHash: string): void;
  late(error: unknown): void;
}

export function confirmOrder(confirmation: OrderConfirmation): Promise<boolean> {
  const { prepared, token, kind, visit, onSubmitted, late } = confirmation;
  const { built, review } = prepared;
  const rows = termRows(built, token)
    .filter(([name]) => name !== 'You pay now')
    .map(([name, value]) => [name, value] as const);
  return ask({
    title: `${kind} ${token.ticker}`,
    content: [
      facts([...rows, ['Network fee', shownAda(review.feeLovelace)]]),
      signed(review, token, [
        'goes to the order',
        'An order at the market’s script, in your name.',
      ]),
    ],
    confirm: `Sign and ${kind.toLowerCase()}`,
    visit,
    async run() {
      onSubmitted(await prepared.submit());
      return true;
    },
    late,
  });
}

/** What a transaction does, read from its bytes; `others` says who else it pays. */
export function signed(
  { txHash, payments, back, feeLovelace }: Review,
  token: Token | null,
  [goes, words]: readonly [goes: string, words: string],
): HTMLElement {
  const lines = payments.map((payment) => {
    const amounts = amountsOf(payment.lovelace, payment.tokens, token);
    const who = el('code', { title: payment.address }, ends(payment.address, 12));
    return el('li', {}, el('strong', {}, amounts), ` ${goes} `, who);
  });
  const returns = amountsOf(back.lovelace, back.tokens, token);
  return el(
    'details',
    { class: 'signed', open: true },
    el('summary', {}, 'What you sign'),
    el('p', { class: 'small dim' }, `${words} Read from the transaction in this browser.`),
    el(
      'ul',
      {},
      ...lines,
      el('li', {}, el('strong', {}, shownAda(feeLovelace)), ' is the fee of the network'),
      el('li', {}, el('strong', {}, returns), ' comes back to your wallet'),
    ),
    el('p', { class: 'small dim' }, 'Transaction ', el('code', { title: txHash }, ends(txHash, 8))),
  );
}

function amountsOf(
  lovelace: bigint,
  tokens: ReadonlyMap<string, bigint>,
  token: Token | null,
): string {
  const amounts = Array.from(tokens, ([asset, amount]) => {
    if (asset === token?.asset) return shownOf(amount, asset, token);
    const [policy = ''] = asset.split('.');
    return shownOf(amount, asset, { asset, ticker: `of ${ends(policy)}` });
  });
  const shown = amounts.slice(0, 2);
  if (amounts.length > shown.length) shown.push(`${amounts.length - shown.length} other tokens`);
  return [shownAda(lovelace), ...shown].join(' + ');
}
