/**
 * A trader's next action, as a function of its view and of a random generator. Knows no network, so
 * that a test can show every kind of situation; the server may still refuse the action.
 */
import type { AssetId } from '../engine/market/asset.ts';
import { SLIPPAGES } from '../engine/market/order.ts';
import type { Rng } from '../engine/runtime/rng.ts';
import type { TraderConfig } from './config.ts';
import {
  adaToLovelace,
  logUniform,
  pick,
  pickWeighted,
  shareOf,
  uniform,
  withProbability,
} from './random.ts';
import { tokenIdea } from './tokenNames.ts';
import type { Action, Token, View } from './view.ts';

const LOVELACE_PER_ADA = 1_000_000n;
/** A launch pays its fee, the metadata's output and change beside the initial buy. */
const LAUNCH_COSTS_ADA = 25;
/** Executor fee, deposit, network fee and change of an order. */
const ORDER_COSTS_LOVELACE = 6_000_000n;
/** Least coin side of a trade, with room for a price that falls. */
const MIN_TRADE_LOVELACE = 1_500_000n;
const SUPPLY = 1_000_000_000n;
const FOR_ALL_LOVELACE = 1_000_000n * LOVELACE_PER_ADA;
/** How many times likelier than usual the holders of a token that the crowd leaves sell. */
const LEAVING = 3;
/** A token is news for so long. */
const NEWS_MS = 300_000;
const LONGEST_STAGES = 3;
/** More tokens than today's price gives: that a limit order waits for. */
const BELOW_PERCENT = [2, 25] as const;
/** A slot after the unlock, the ledger agrees that it is over. */
const UNLOCK_GRACE_MS = 2_000;

export function decide(view: View, config: TraderConfig, rng: Rng): Action {
  const { others } = config;
  if (view.outputs >= others.consolidateFromOutputs) return { kind: 'consolidate' };
  if (view.launchDue && isRich(view, launchCostAda(config))) return launch(config, rng);
  const open = view.locks.find(({ unlockMs }) => unlockMs + UNLOCK_GRACE_MS <= view.nowMs);
  if (open !== undefined && withProbability(rng, others.withdrawPercent)) {
    return { kind: 'withdraw', id: open.id };
  }
  if (view.lovelace < ORDER_COSTS_LOVELACE) return { kind: 'rest', why: 'no coins for fees' };
  if (view.tokens.size > 0 && withProbability(rng, others.lockPercent))
    return lock(view, config, rng);
  if (view.tokens.size > 0 && withProbability(rng, others.transferPercent)) {
    return transfer(view, rng);
  }
  const canBuy = isRich(view, config.keepAda + config.orders.buyAda[0]) && view.market.length > 0;
  const sale =
    canBuy && !withProbability(rng, sellShare(view, config))
      ? null
      : sell(view, config, rng, canBuy);
  if (sale !== null) return sale;
  return canBuy ? buy(view, config, rng) : { kind: 'rest', why: 'nothing to buy with or to sell' };
}

/** Percent of the turns of a wallet that could buy as well. */
function sellShare(view: View, { orders }: TraderConfig): number {
  const { style, mood, tokens } = view;
  const falling = fallingToken(view);
  const turn = falling !== null && tokens.has(falling) ? LEAVING : mood === null ? 1 : 0.8;
  return Math.min(90, orders.sellSharePercent * style.selling * turn);
}

/** The token that the crowd leaves; null: none. */
function fallingToken({ mood }: Pick<View, 'mood'>): AssetId | null {
  return mood?.direction === 'down' ? mood.favourite : null;
}

function launchCostAda({ keepAda, launches }: TraderConfig): number {
  return keepAda + LAUNCH_COSTS_ADA + launches.initialBuyAda[1];
}

function isRich({ lovelace }: Pick<View, 'lovelace'>, ada: number): boolean {
  return lovelace >= adaToLovelace(ada);
}

function launch({ launches }: TraderConfig, rng: Rng): Action {
  const idea = tokenIdea(rng);
  const initialLovelace = adaToLovelace(logUniform(rng, launches.initialBuyAda));
  const launchType = withProbability(rng, launches.hypedPercent) ? 'HYPED' : 'DEFAULT';
  return { kind: 'launch', idea, initialLovelace, launchType };
}

function buy(view: View, { orders, keepAda }: TraderConfig, rng: Rng): Action {
  const token = pickWeighted(rng, view.market, (candidate) => appeal(candidate, view));
  if (token === undefined) return { kind: 'rest', why: 'no token yet' };
  const slippage = pick(rng, SLIPPAGES) ?? '15';
  const wished = adaToLovelace(view.style.size * logUniform(rng, orders.buyAda));
  const most = view.lovelace - BigInt(keepAda) * LOVELACE_PER_ADA;
  const lovelace = [wished, most, roomFor(token, view, orders)].reduce((a, b) => (a < b ? a : b));
  if (lovelace < MIN_TRADE_LOVELACE) return { kind: 'rest', why: 'it holds enough of it' };
  const thenCancel = withProbability(rng, orders.cancelPercent);
  const common = { kind: 'order', asset: token.asset, slippage, thenCancel } as const;
  const cap = token.marketCapLovelace;
  if (cap !== null && cap > 0n && withProbability(rng, orders.limitPercent)) {
    const atSpot = (lovelace * SUPPLY) / cap;
    const minOutput = atSpot + shareOf(atSpot, uniform(rng, BELOW_PERCENT));
    const waitFor = Math.round(uniform(rng, orders.limitSeconds));
    return { ...common, side: 'BUY', amount: lovelace, thenCancel: false, minOutput, waitFor };
  }
  const isExact = withProbability(rng, orders.exactOutputPercent);
  if (isExact && token.marketCapLovelace !== null && token.marketCapLovelace > 0n) {
    const amount = roundTokens((lovelace * SUPPLY) / token.marketCapLovelace);
    const maxInputLovelace = 2n * lovelace;
    if (amount > 0n) return { ...common, side: 'BUY_WITH_OUTPUT', amount, maxInputLovelace };
  }
  return { ...common, side: 'BUY', amount: lovelace };
}

/** A wallet that can buy too sells no more at once than it would buy. */
function sell(view: View, { orders }: TraderConfig, rng: Rng, canBuy: boolean): Action | null {
  const known = new Map(view.market.map((token) => [token.asset, token]));
  const held = [...view.tokens].filter(([asset, amount]) => {
    const token = known.get(asset);
    return token !== undefined && worthOf(token, amount) >= MIN_TRADE_LOVELACE;
  });
  const falling = fallingToken(view);
  const weight = ([asset]: readonly [AssetId, bigint]) => (asset === falling ? 30 : 1);
  const [asset, amount] = pickWeighted(rng, held, weight) ?? [null, 0n];
  if (asset === null) return null;
  const token = known.get(asset);
  const wished = shareOf(amount, uniform(rng, orders.sellPercent));
  const most = adaToLovelace(view.style.size * logUniform(rng, orders.buyAda));
  const worth = token === undefined ? 0n : worthOf(token, wished);
  const isCalm = canBuy && asset !== falling;
  const share = isCalm && worth > most ? (wished * most) / worth : wished;
  const enough = token !== undefined && worthOf(token, share) >= MIN_TRADE_LOVELACE;
  const slippage = pick(rng, SLIPPAGES) ?? '15';
  const thenCancel = withProbability(rng, orders.cancelPercent);
  return {
    kind: 'order',
    asset,
    side: 'SELL',
    amount: enough ? share : amount,
    slippage,
    thenCancel,
  };
}

/** At spot; nothing where the price is not known. */
export function worthOf({ marketCapLovelace }: Token, amount: bigint): bigint {
  return ((marketCapLovelace ?? 0n) * amount) / SUPPLY;
}

/** New tokens, large ones and the one that everybody talks about draw more. */
function appeal(token: Token, { nowMs, style, mood }: View): number {
  const { asset, sinceMs, marketCapLovelace } = token;
  const age = Math.max(0, nowMs - sinceMs);
  const size = Number((marketCapLovelace ?? 0n) / LOVELACE_PER_ADA) / 10_000;
  if (asset === fallingToken({ mood })) return 0.2;
  const talk = asset === mood?.favourite ? style.chases * 2 : 0;
  return 1 + style.news * Math.exp(-age / NEWS_MS) + Math.min(size, 7) / 2 + talk;
}

/** Up to the configured share of the supply, at today's price. */
function roomFor(token: Token, { tokens }: View, { mostHeldPercent }: TraderConfig['orders']) {
  const { asset, marketCapLovelace, venue } = token;
  if (venue === 'AMM' || marketCapLovelace === null) return FOR_ALL_LOVELACE;
  const left = shareOf(SUPPLY, mostHeldPercent) - (tokens.get(asset) ?? 0n);
  return left <= 0n ? 0n : (left * marketCapLovelace) / SUPPLY;
}

function lock(view: View, { others }: TraderConfig, rng: Rng): Action {
  const [asset, held] = anyHolding(view, rng);
  const amount = shareOf(held, uniform(rng, [1, 10]));
  const most = amount < BigInt(LONGEST_STAGES) ? Number(amount) : LONGEST_STAGES;
  const stages = 1 + Math.floor(rng.unit() * most);
  const lockMs = Math.round(uniform(rng, others.lockSeconds) * 1000);
  return { kind: 'lock', asset, amount, lockMs, stages };
}

function transfer(view: View, rng: Rng): Action {
  const [asset, held] = anyHolding(view, rng);
  const to = pick(rng, view.others);
  if (to === undefined) return { kind: 'rest', why: 'no other trader to send to' };
  return { kind: 'transfer', asset, amount: shareOf(held, uniform(rng, [2, 20])), to };
}

function anyHolding(view: View, rng: Rng): readonly [AssetId, bigint] {
  return pick(rng, [...view.tokens]) ?? ['', 0n];
}

/** Two leading digits, as a person asks for. */
function roundTokens(amount: bigint): bigint {
  const zeros = 10n ** BigInt(Math.max(0, amount.toString().length - 2));
  return (amount / zeros) * zeros;
}
