/** The commands `buy` and `sell`: a quote, an order that is bound to it, and what becomes of it. */
import { ApiError } from '../../client/index.ts';
import { formatAda } from '../../client/trade/ada.ts';
import { boundOf, hundredthsOf, type OrderBound } from '../../client/trade/bound.ts';
import { type Settlement, settlementOf } from '../../client/trade/settlement.ts';
import type { OrderRequest, PlacedOrder } from '../../client/trade/tradingClient.ts';
import { balanceOf, type WalletUtxo } from '../../client/trade/utxo.ts';
import type { QuoteAnswer } from '../../client/types.ts';
import { COIN } from '../../engine/market/asset.ts';
import { formatRatio } from '../../engine/market/decimal.ts';
import { amountText } from './amounts.ts';
import {
  assetOf,
  type CommandContext,
  DONE,
  FAILED,
  formatSeconds,
  pollWallet,
  waitForBlock,
} from './commandContext.ts';
import type { WalletAction } from './commands/walletCommand.ts';

const LOVELACE_PER_ADA = 1_000_000n;

type Act<Name> = Extract<WalletAction, { readonly name: Name }>;

export async function buy(context: CommandContext, action: Act<'buy'>): Promise<number> {
  const { lovelace, tokens } = action;
  const assetId = await assetOf(context, action.token);
  if (assetId === null) return FAILED;
  const terms = { assetId, ...boundsOf(action) };
  if (tokens !== null) return trade(context, { ...terms, side: 'BUY_WITH_OUTPUT', amount: tokens });
  return trade(context, { ...terms, side: 'BUY', amount: lovelace ?? 0n });
}

export async function sell(context: CommandContext, action: Act<'sell'>): Promise<number> {
  const { token, tokens } = action;
  const assetId = await assetOf(context, token);
  if (assetId === null) return FAILED;
  const { assets } = balanceOf(await context.trading.utxos());
  const amount = tokens === 'all' ? (assets.get(assetId) ?? 0n) : tokens;
  if (amount === 0n) {
    context.complain(`The wallet holds nothing of ${assetId}.`);
    return FAILED;
  }
  return trade(context, { assetId, ...boundsOf(action), side: 'SELL', amount });
}

function boundsOf({ slippage, minOutput, waitForSeconds }: Act<'buy'> | Act<'sell'>) {
  return {
    slippage,
    ...(minOutput === null ? {} : { minOutput }),
    ...(waitForSeconds === null ? {} : { waitFor: waitForSeconds }),
  };
}

async function trade(context: CommandContext, request: OrderRequest): Promise<number> {
  const { trading, say } = context;
  const before = await trading.utxos();
  const sent = await placed(context, request);
  if (sent === null) return FAILED;
  const { quote, order } = sent;
  say(signedLine(order));
  const { txHash, id, beacon, feeLovelace } = order;
  say(`Transaction ${txHash}`, { txHash, feeLovelace: String(feeLovelace) });
  say(`Order ${id}, beacon ${beacon}`, {
    ...{ order: id, beacon, input: order.input, output: order.output },
    inputAmount: String(order.inputAmount),
    minimumOutput: String(order.minimumOutput),
  });
  if (!context.wait) return DONE;
  if (order.minimumOutput > BigInt(quote.outputAmount)) return waitsForPrice(context, order);
  return untilSettled(context, order, before);
}

/**
 * Places an order bound to the quote that was shown. Where the pool moved beyond it, another quote
 * is shown and asked about; a limit that was given is not. null: nothing was signed.
 */
async function placed(
  context: CommandContext,
  request: OrderRequest,
): Promise<{ readonly quote: QuoteAnswer; readonly order: PlacedOrder } | null> {
  const { trading, say, complain, confirm } = context;
  const { side, amount, slippage, minOutput } = request;
  const isOpen = side === 'BUY_WITH_OUTPUT' && slippage === 'infinity';
  for (let mustAsk = isOpen; ; mustAsk = true) {
    const quote = await trading.quote(request);
    const found = boundOf(side, amount, quote, hundredthsOf(slippage));
    const bound = { ...found, minOutput: minOutput ?? found.minOutput };
    say(quoteLine(request, quote, bound));
    if (mustAsk && confirm === null) {
      complain('Nothing was signed: at any price a person confirms the most that it may cost.');
      return null;
    }
    if (mustAsk && (await confirm?.('Sign an order with this bound?')) !== true) {
      complain('Nothing was signed.');
      return null;
    }
    const bounds = { minOutput: bound.minOutput, maxInputLovelace: bound.maxInput };
    try {
      return { quote, order: await trading.order({ ...request, ...bounds }) };
    } catch (error) {
      const isMoved = error instanceof ApiError && error.cause === 'PRICE_MOVED';
      if (!isMoved || confirm === null || minOutput !== undefined) throw error;
      complain(error.message);
    }
  }
}

async function waitsForPrice(context: CommandContext, { id, txHash }: PlacedOrder) {
  const settled = await waitForBlock(context, txHash);
  if (settled === DONE) context.say(`It waits for its price. To take it back: cancel ${id}`);
  return settled;
}

async function untilSettled(
  context: CommandContext,
  placed: PlacedOrder,
  before: readonly WalletUtxo[],
): Promise<number> {
  const startMs = context.clock.monotonicMs();
  const found = await pollWallet(context, (now) => settlementOf(placed, before, now));
  if (found === null) {
    context.complain(`Not filled yet. Take it back with: npm start -- cancel ${placed.id}`);
    return FAILED;
  }
  const after = formatSeconds(context.clock.monotonicMs() - startMs);
  context.say(settledLine(placed, found, after), {
    ...{ outcome: found.outcome, settledBy: found.txHash },
    ...{ lovelaceReceived: String(found.lovelace), tokensReceived: String(found.tokens) },
  });
  return found.outcome === 'filled' ? DONE : FAILED;
}

function quoteLine(
  { side, slippage, minOutput: limit }: OrderRequest,
  quote: QuoteAnswer,
  { minOutput, maxInput }: OrderBound,
): string {
  const { numerator, denominator } = quote.price;
  const price = formatRatio(BigInt(numerator), BigInt(denominator) * LOVELACE_PER_ADA);
  const input = amountText(quote.inputAsset, BigInt(quote.inputAmount));
  const output = amountText(quote.outputAsset, BigInt(quote.outputAmount));
  const venue = quote.venue === 'AMM' ? ' on the AMM' : ' on the curve';
  const least = `at least ${amountText(quote.outputAsset, minOutput)}`;
  const most = side === 'BUY_WITH_OUTPUT' ? ` for at most ${formatAda(maxInput)}` : '';
  const allowed = slippage === 'infinity' ? 'any price' : `${slippage} % worse at most`;
  const why = limit === undefined ? ` (${allowed})` : '';
  const terms = `${price} ADA a token, fees of the trade included; ${least}${most}${why}`;
  return `Quote: ${input} for ${output}${venue}, ${terms}`;
}

function signedLine(placed: PlacedOrder): string {
  const offered = placed.input === COIN ? placed.inputAmount : 0n;
  const onTop = placed.orderLovelace - offered;
  const input = amountText(placed.input, placed.inputAmount);
  const least = amountText(placed.output, placed.minimumOutput);
  return (
    `Signed: an order of ${input} for at least ${least}; with it go ${formatAda(onTop)} ` +
    `(executor fee and the deposit that comes back); network fee ${formatAda(placed.feeLovelace)}`
  );
}

function settledLine(placed: PlacedOrder, settled: Settlement, after: string): string {
  const { outcome, txHash, lovelace, tokens } = settled;
  const token = placed.input === COIN ? placed.output : placed.input;
  const parts = [...(tokens === 0n ? [] : [amountText(token, tokens)]), formatAda(lovelace)];
  const received = parts.join(' and ');
  const what = outcome === 'filled' ? 'Filled' : 'Not filled, but refunded';
  return `${what} after ${after} by ${txHash}: received ${received}`;
}
