/** The commands buy, sell and cancel. */
import { formatAda } from '../../client/trade/ada.ts';
import { type Settlement, settlementOf } from '../../client/trade/settlement.ts';
import type { OrderRequest, PlacedOrder } from '../../client/trade/tradingClient.ts';
import { balanceOf, type WalletUtxo } from '../../client/trade/utxo.ts';
import type { QuoteAnswer } from '../../client/types.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';
import { formatRatio } from '../../engine/market/decimal.ts';
import {
  type CommandContext,
  DONE,
  FAILED,
  formatSeconds,
  pollWallet,
  waitForBlock,
} from './commandContext.ts';
import type { WalletAction } from './walletArguments.ts';

const LOVELACE_PER_ADA = 1_000_000n;

type Act<Name> = Extract<WalletAction, { readonly name: Name }>;

export function buy(context: CommandContext, action: Act<'buy'>): Promise<number> {
  const { asset, lovelace, tokens, slippage } = action;
  const terms = { assetId: asset, slippage } as const;
  if (tokens !== null) return trade(context, { ...terms, side: 'BUY_WITH_OUTPUT', amount: tokens });
  return trade(context, { ...terms, side: 'BUY', amount: lovelace ?? 0n });
}

export async function sell(context: CommandContext, action: Act<'sell'>): Promise<number> {
  const { asset, tokens, slippage } = action;
  const amount = tokens === 'all' ? await holding(context, asset) : tokens;
  if (amount === 0n) {
    context.complain(`The wallet holds nothing of ${asset}.`);
    return FAILED;
  }
  return trade(context, { assetId: asset, slippage, side: 'SELL', amount });
}

export async function cancel(context: CommandContext, { id }: Act<'cancel'>): Promise<number> {
  const done = await context.trading.cancel(id);
  context.say(`Signed: take order ${id} back; network fee ${formatAda(done.feeLovelace)}`);
  context.say(`Transaction ${done.txHash}`);
  return waitForBlock(context, done.txHash);
}

async function holding({ trading }: CommandContext, asset: AssetId): Promise<bigint> {
  return balanceOf(await trading.utxos()).assets.get(asset) ?? 0n;
}

async function trade(context: CommandContext, request: OrderRequest): Promise<number> {
  const { trading, say } = context;
  const quote = await trading.quote(request);
  const before = await trading.utxos();
  say(quoteLine(request, quote));
  // The price may move until the order is built, but not beyond what was accepted.
  const most = (BigInt(quote.inputAmount) * 115n) / 100n;
  const isExact = request.side === 'BUY_WITH_OUTPUT';
  const placed = await trading.order(isExact ? { ...request, maxInputLovelace: most } : request);
  say(signedLine(placed));
  say(`Transaction ${placed.txHash}`);
  say(`Order ${placed.id}, beacon ${placed.beacon}`);
  return context.wait ? untilSettled(context, placed, before) : DONE;
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
  context.say(settledLine(placed, found, formatSeconds(context.clock.monotonicMs() - startMs)));
  return found.outcome === 'filled' ? DONE : FAILED;
}

function quoteLine({ slippage }: OrderRequest, quote: QuoteAnswer): string {
  const { numerator, denominator } = quote.price;
  const price = formatRatio(BigInt(numerator), BigInt(denominator) * LOVELACE_PER_ADA);
  const input = amountText(quote.inputAsset, BigInt(quote.inputAmount));
  const output = amountText(quote.outputAsset, BigInt(quote.outputAmount));
  const venue = quote.venue === 'AMM' ? ' on the AMM' : ' on the curve';
  const limit = slippage === 'infinity' ? 'any price' : `${slippage} % worse at most`;
  const terms = `${price} ADA a token, fees of the trade included; ${limit}`;
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

export function amountText(asset: AssetId, amount: bigint): string {
  if (asset === COIN) return formatAda(amount);
  const name = Buffer.from(asset.split('.')[1] ?? '', 'hex').toString('utf8');
  const printable = /^[\p{L}\p{N}\p{P}\p{S} ]{1,32}$/u.test(name) ? name : 'tokens';
  return `${amount} ${printable}`;
}
