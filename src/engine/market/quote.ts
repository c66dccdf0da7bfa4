/**
 * The terms and the result of an order of a given side, amount and slippage now.
 * Source: protocol.md section 3, onchain.md section Fees.
 */
import { buyTokens, type CurveParameters } from './curve.ts';
import { buy, buyWithOutput, type Exchange, type Refusal, sell } from './exchange.ts';
import { type FeeParameters, launchFeeLovelace } from './fees.ts';
import { minimumOutput, priceOfLeast, type Slippage, worstPriceOf } from './order.ts';
import { type CurvePool, type PoolState, supplyOf, type Venue } from './pool.ts';
import type { Ratio } from './ratio.ts';

export const SIDES = ['BUY', 'BUY_WITH_OUTPUT', 'SELL'] as const;
export type Side = (typeof SIDES)[number];

interface QuoteRequest {
  readonly side: Side;
  /** Lovelace of a BUY, tokens of the others. */
  readonly amount: bigint;
  readonly slippage: Slippage;
  /** The least output that the order takes, in place of the slippage. */
  readonly minOutput?: bigint | undefined;
}

export interface Quote {
  readonly outcome: 'quote';
  readonly venue: Venue;
  readonly exchange: Exchange;
  /** Lovelace per token, exactly input / output of a buy and output / input of a sell. */
  readonly price: Ratio;
  readonly worstPrice: Ratio;
  readonly minimumOutput: bigint;
  /** Lovelace of the order's output; a sell's tokens lie beside them. */
  readonly orderLovelace: bigint;
  /** Lovelace that the fill pays back; a buy's tokens lie beside them. */
  readonly paymentLovelace: bigint;
}

export function quote(
  pool: PoolState,
  fees: FeeParameters,
  { side, amount, slippage, minOutput }: QuoteRequest,
): Quote | Refusal {
  const exchange = EXCHANGES[side](pool, fees, amount);
  if (exchange.outcome === 'refused') return exchange;
  const { kind, inputAmount, outputAmount } = exchange;
  const worstPrice =
    minOutput === undefined
      ? worstPriceOf(inputAmount, outputAmount, slippage)
      : priceOfLeast(inputAmount, minOutput);
  const isBuy = kind === 'buy';
  const [lovelace, tokens] = isBuy ? [inputAmount, outputAmount] : [outputAmount, inputAmount];
  const onTop = fees.executorFeeLovelace + fees.orderDepositLovelace;
  return {
    outcome: 'quote',
    venue: pool.venue,
    exchange,
    price: { numerator: lovelace, denominator: tokens },
    worstPrice,
    minimumOutput: minimumOutput(inputAmount, worstPrice),
    orderLovelace: (isBuy ? inputAmount : 0n) + onTop,
    paymentLovelace: (isBuy ? 0n : outputAmount) + fees.orderDepositLovelace,
  };
}

/** All lovelace that there will ever be (the network's `maxLovelaceSupply`). */
const MAX_LOVELACE = 45_000_000_000_000_000n;

/**
 * The most that an order of this side can ever get, however the pool changes: a pool keeps one
 * token, and pays no more lovelace than there are.
 */
export function maxOutput(pool: PoolState, side: Side): bigint {
  return side === 'SELL' ? MAX_LOVELACE : supplyOf(pool) - 1n;
}

const EXCHANGES = { BUY: buy, BUY_WITH_OUTPUT: buyWithOutput, SELL: sell } as const;

export interface LaunchQuote {
  readonly outcome: 'launch';
  readonly pool: CurvePool;
  /** Tokens of the initial buy; 0 without one. */
  readonly userTokens: bigint;
  /** Beside the initial buy, which enters the pool whole. */
  readonly feeLovelace: bigint;
}

/** A new pool with an initial buy (0: none), which stays below the cap. */
export function quoteLaunch(
  curve: CurveParameters,
  thresholdLovelace: bigint,
  fees: FeeParameters,
  initialBuyLovelace: bigint,
): LaunchQuote | Refusal {
  if (initialBuyLovelace > 0n && initialBuyLovelace < fees.minTradeLovelace) {
    const message = `an initial buy is at least ${fees.minTradeLovelace} lovelace`;
    return { outcome: 'refused', cause: 'MIN_TRADE_AMOUNT', message };
  }
  const userTokens = buyTokens(curve, 0n, initialBuyLovelace);
  if (initialBuyLovelace >= thresholdLovelace || userTokens >= curve.supply) {
    const message = `an initial buy stays below ${thresholdLovelace} lovelace`;
    return { outcome: 'refused', cause: 'MAX_TRADE_AMOUNT', message };
  }
  const y = curve.supply - userTokens;
  const pool: CurvePool = { venue: 'CURVE', x: initialBuyLovelace, y, curve, thresholdLovelace };
  const feeLovelace = launchFeeLovelace(fees, initialBuyLovelace);
  return { outcome: 'launch', pool, userTokens, feeLovelace };
}
