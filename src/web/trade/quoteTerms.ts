/** An order's terms and result, in rows: every number exact, as the API gave it. */
import type { QuoteAnswer } from '../../client/types.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { localized, shortMoment, subscriptZeros } from '../format.ts';
import { t } from '../messages.ts';
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

export const TERMS = [
  'offer',
  'now',
  'least',
  'price',
  'impact',
  'tradingFee',
  'executorFee',
  'deposit',
  'pay',
  'refundable',
] as const;
export type Term = (typeof TERMS)[number];

export interface TermRow {
  readonly term: Term;
  readonly value: string;
  readonly explained: string;
}

type Terms = Omit<QuoteAnswer, 'minimumOutput' | 'orderScript'>;

/** `impact`: hundredths of a percent; null where the price before is not known. */
export function termRows(
  quote: Terms,
  token: Token,
  least: bigint,
  impact: bigint | null,
): readonly TermRow[] {
  const words = t.trade.terms;
  const { fees, price, inputAsset, outputAsset, venue } = quote;
  const [executor, deposit] = [BigInt(fees.executorFee), BigInt(fees.deposit)];
  const trading = BigInt(fees.percentFee) + BigInt(fees.platform) + BigInt(fees.creator);
  const isBuy = inputAsset === '.';
  const offered = isBuy ? BigInt(quote.inputAmount) : 0n;
  const leaves = shownAda(offered + executor + deposit);
  const perToken = formatPrice(BigInt(price.numerator), BigInt(price.denominator));
  const input = shownOf(quote.inputAmount, inputAsset, token);
  const minimum = shownOf(least, outputAsset, token);
  const row = (term: Term, value: string, explained: string) => ({ term, value, explained });
  return [
    row('offer', input, words.offerMeans),
    row('now', shownOf(quote.outputAmount, outputAsset, token), words.nowMeans[venue]),
    row('least', minimum, words.minMeans({ least: minimum })),
    row(
      'price',
      `${subscriptZeros(perToken, 6)} ADA`,
      words.priceMeans({ price: localized(perToken), ticker: token.ticker }),
    ),
    row('impact', impactText(impact), impactMeans(impactText(impact), isBuy)),
    row('tradingFee', shownAda(trading), feeWords(quote)),
    row('executorFee', shownAda(executor), words.executorFeeMeans),
    row('deposit', shownAda(deposit), words.depositMeans),
    row('pay', isBuy ? leaves : `${input} + ${leaves}`, words.payMeans),
    refundRow(quote.expiresAt),
  ];
}

/** 0: it is never given back without its owner. */
function refundRow(expiresAt: number): TermRow {
  const words = t.trade.terms;
  if (expiresAt === 0) {
    return { term: 'refundable', value: words.never, explained: words.neverMeans };
  }
  const value = shortMoment(expiresAt / 1000);
  return { term: 'refundable', value, explained: words.refundableMeans };
}

function feeWords({ fees, venue }: Terms): string {
  if (venue === 'CURVE') return t.trade.terms.curveFeeMeans;
  const [creator, platform] = [shownAda(BigInt(fees.creator)), shownAda(BigInt(fees.platform))];
  return t.trade.terms.ammFeeMeans({ creator, platform });
}

const HUNDREDTHS = 10_000n;

/**
 * How much worse the price of a quote is than the one before it, fees included, in hundredths of a
 * percent: a buyer pays this much more, a seller gets this much less.
 */
export function impactOf(
  { price, inputAsset }: Pick<QuoteAnswer, 'price' | 'inputAsset'>,
  marketCap: bigint,
  supply: bigint,
): bigint | null {
  const [quoted, spot] = [BigInt(price.numerator) * supply, BigInt(price.denominator) * marketCap];
  if (spot === 0n) return null;
  const worse = inputAsset === '.' ? quoted - spot : spot - quoted;
  return worse <= 0n ? 0n : (worse * HUNDREDTHS) / spot;
}

function impactMeans(impact: string, isBuy: boolean): string {
  const { impactOfBuy, impactOfSell } = t.trade.terms;
  return isBuy ? impactOfBuy({ impact }) : impactOfSell({ impact });
}

function impactText(impact: bigint | null): string {
  if (impact === null) return '–';
  return `${localized(`${impact / 100n}.${String(impact % 100n).padStart(2, '0')}`)} %`;
}
