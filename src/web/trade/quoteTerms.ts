/** What an order would be and bring, in rows: every number exact, as the API gave it. */
import type { QuoteAnswer } from '../../client/types.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { shortPrice } from '../format.ts';
import { shownAda, shownAmount } from './amount.ts';

export interface Token {
  readonly asset: string;
  readonly ticker: string;
}

/** An amount of ADA or of the token, with its unit. */
export function shownOf(amount: bigint | string, asset: string, token: Token): string {
  const exact = BigInt(amount);
  return asset === '.' ? shownAda(exact) : `${shownAmount(exact, 0)} ${token.ticker}`;
}

type TermRow = readonly [name: string, value: string, explained: string];

export const TERM_NAMES = [
  'You offer',
  'You get now',
  'You get at least',
  'Price',
  'Trading fee',
  'Executor fee',
  'Deposit',
  'You pay now',
  'Refundable from',
] as const;

export function termRows(quote: QuoteAnswer, token: Token): readonly TermRow[] {
  const { fees, price, inputAsset, outputAsset, minimumOutput, venue } = quote;
  const [executor, deposit] = [BigInt(fees.executorFee), BigInt(fees.deposit)];
  const trading = BigInt(fees.percentFee) + BigInt(fees.platform) + BigInt(fees.creator);
  const offered = inputAsset === '.' ? BigInt(quote.inputAmount) : 0n;
  const leaves = shownAda(offered + executor + deposit);
  const perToken = formatPrice(BigInt(price.numerator), BigInt(price.denominator));
  return [
    ['You offer', shownOf(quote.inputAmount, inputAsset, token), 'What goes into the trade.'],
    [
      'You get now',
      shownOf(quote.outputAmount, outputAsset, token),
      `What the ${venue === 'AMM' ? 'AMM pool' : 'curve'} pays at this moment, fees taken off.`,
    ],
    [
      'You get at least',
      shownOf(minimumOutput, outputAsset, token),
      'The worst price that the order accepts; it stays open rather than get less.',
    ],
    ['Price', `${shortPrice(perToken)} ADA`, `${perToken} ADA for one ${token.ticker}, with fees.`],
    ['Trading fee', shownAda(trading), tradingFeeWords(quote)],
    [
      'Executor fee',
      shownAda(executor),
      'For the executor that fills the order; kept when it is filled.',
    ],
    ['Deposit', shownAda(deposit), 'Keeps the order alive on the chain and comes back with it.'],
    [
      'You pay now',
      inputAsset === '.' ? leaves : `${shownOf(quote.inputAmount, inputAsset, token)} + ${leaves}`,
      'What leaves your wallet at first. The fee of the network, about 0.2 ADA, comes on top.',
    ],
    [
      'Refundable from',
      new Date(quote.expiresAt).toLocaleTimeString(undefined, { timeStyle: 'short' }),
      'If it was not filled until then, it may be given back without you.',
    ],
  ];
}

function tradingFeeWords({ fees, venue }: QuoteAnswer): string {
  if (venue === 'CURVE') return 'The percent fee of the curve, taken off the ADA side.';
  const [creator, platform] = [shownAda(BigInt(fees.creator)), shownAda(BigInt(fees.platform))];
  return `Creator ${creator}, platform ${platform}, taken off the ADA side.`;
}
