/** The last look at an order: what it is, and what the bytes that will be signed do. */
import type { Value } from '../../cardano/codec/value.ts';
import type { Review } from '../../client/trade/review.ts';
import type { PlacedOrder, PreparedTx } from '../../client/trade/tradingClient.ts';
import type { OrderAnswer } from '../../client/types.ts';
import { el } from '../dom.ts';
import { ends } from '../format.ts';
import { shownAda } from './amount.ts';
import { ask, facts } from './dialog.ts';
import { shownOf, type Token, termRows } from './quoteTerms.ts';

interface OrderConfirmation {
  readonly prepared: PreparedTx<OrderAnswer, PlacedOrder>;
  readonly token: Token;
  readonly kind: 'Buy' | 'Sell';
  readonly navigation: number;
  onSubmitted(): void;
  late(error: unknown): void;
}

export function confirmOrder(confirmation: OrderConfirmation): Promise<boolean> {
  const { prepared, token, kind, navigation, onSubmitted, late } = confirmation;
  const { built, review } = prepared;
  const rows = termRows(built, token)
    .filter(([name]) => name !== 'You pay now')
    .map(([name, value]) => [name, value] as const);
  return ask({
    title: `${kind} ${token.ticker}`,
    content: [
      facts([...rows, ['Network fee', shownAda(review.feeLovelace)]]),
      whatYouSign(review, token, [
        'goes to the order',
        'An order at the market’s script, in your name.',
      ]),
    ],
    confirm: `Sign and ${kind.toLowerCase()}`,
    navigation,
    async run() {
      await prepared.submit();
      onSubmitted();
      return true;
    },
    late,
  });
}

/** What a transaction does, read from its bytes; `goes` and `words` explain the payments. */
export function whatYouSign(
  { txHash, payments, change, feeLovelace }: Review,
  token: Token | null,
  [goes, words]: readonly [goes: string, words: string],
): HTMLElement {
  const lines = payments.map((payment) => {
    const amounts = amountsOf(payment.value, token);
    const who = el('code', { title: payment.address }, ends(payment.address, 12));
    return el('li', {}, el('strong', {}, amounts), ` ${goes} `, who);
  });
  const returns = amountsOf(change, token);
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

function amountsOf({ lovelace, assets }: Value, token: Token | null): string {
  const amounts = Array.from(assets, ([asset, amount]) => {
    if (asset === token?.asset) return shownOf(amount, asset, token);
    const [policy = ''] = asset.split('.');
    return shownOf(amount, asset, { asset, ticker: `of ${ends(policy)}` });
  });
  const shown = amounts.slice(0, 2);
  if (amounts.length > shown.length) shown.push(`${amounts.length - shown.length} other tokens`);
  return [shownAda(lovelace), ...shown].join(' + ');
}
