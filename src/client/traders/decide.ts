/**
 * A trader's next action, as a function of its view and of a random generator. Knows no network, so
 * that a test can show every kind of situation; the server may still refuse the action.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import { SLIPPAGES } from '../../engine/market/order.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { TraderConfig } from './config.ts';
import { tokenIdea } from './ideas.ts';
import {
  adaToLovelace,
  logUniform,
  pick,
  pickWeighted,
  shareOf,
  uniform,
  withProbability,
} from './random.ts';
import type { Action, Token, View } from './view.ts';

const LOVELACE_PER_ADA = 1_000_000n;
/** A launch pays its fee, the metadata's output and change beside the initial buy. */
const LAUNCH_COSTS_ADA = 25;
/** Executor fee, deposit, network fee and change of an order. */
const ORDER_COSTS_LOVELACE = 6_000_000n;
/** Least coin side of a trade, with room for a price that falls. */
const LEAST_TRADE_LOVELACE = 1_500_000n;
const SUPPLY = 1_000_000_000n;
/** A token is news for so long. */
const NEWS_MS = 300_000;
const LONGEST_STAGES = 3;
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
    canBuy && !withProbability(rng, config.orders.sellSharePercent)
      ? null
      : sell(view, config, rng);
  if (sale !== null) return sale;
  return canBuy ? buy(view, config, rng) : { kind: 'rest', why: 'nothing to buy with or to sell' };
}

function launchCostAda({ keepAda, launches }: TraderConfig): number {
  return keepAda + LAUNCH_COSTS_ADA + launches.initialBuyAda[1];
}

export function isRich({ lovelace }: Pick<View, 'lovelace'>, ada: number): boolean {
  return lovelace >= adaToLovelace(ada);
}

function launch({ launches }: TraderConfig, rng: Rng): Action {
  const idea = tokenIdea(rng);
  const initialLovelace = adaToLovelace(logUniform(rng, launches.initialBuyAda));
  const launchType = withProbability(rng, launches.hypedPercent) ? 'HYPED' : 'DEFAULT';
  return { kind: 'launch', idea, initialLovelace, launchType };
}

function buy(view: View, { orders, keepAda }: TraderConfig, rng: Rng): Action {
  const token = pickWeighted(rng, view.market, (candidate) => appeal(candidate, view.nowMs));
  if (token === undefined) return { kind: 'rest', why: 'no token yet' };
  const slippage = pick(rng, SLIPPAGES) ?? '15';
  const wished = adaToLovelace(logUniform(rng, orders.buyAda));
  const most = view.lovelace - BigInt(keepAda) * LOVELACE_PER_ADA;
  const lovelace = wished < most ? wished : most;
  const thenCancel = withProbability(rng, orders.cancelPercent);
  const common = { kind: 'order', asset: token.asset, slippage, thenCancel } as const;
  const isExact = withProbability(rng, orders.exactOutputPercent);
  if (isExact && token.marketCapLovelace !== null && token.marketCapLovelace > 0n) {
    const amount = roundTokens((lovelace * SUPPLY) / token.marketCapLovelace);
    const maxInputLovelace = 2n * lovelace;
    if (amount > 0n) return { ...common, side: 'BUY_WITH_OUTPUT', amount, maxInputLovelace };
  }
  return { ...common, side: 'BUY', amount: lovelace };
}

function sell(view: View, { orders }: TraderConfig, rng: Rng): Action | null {
  const known = new Map(view.market.map((token) => [token.asset, token]));
  const held = [...view.tokens].filter(([asset, amount]) => {
    const token = known.get(asset);
    return token !== undefined && worthOf(token, amount) >= LEAST_TRADE_LOVELACE;
  });
  const [asset, amount] = pick(rng, held) ?? [null, 0n];
  if (asset === null) return null;
  const token = known.get(asset);
  const share = shareOf(amount, uniform(rng, orders.sellPercent));
  const enough = token !== undefined && worthOf(token, share) >= LEAST_TRADE_LOVELACE;
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

/** New tokens and large ones draw more. */
function appeal({ sinceMs, marketCapLovelace }: Token, nowMs: number): number {
  const age = Math.max(0, nowMs - sinceMs);
  const size = Number((marketCapLovelace ?? 0n) / LOVELACE_PER_ADA) / 10_000;
  return 1 + 6 * Math.exp(-age / NEWS_MS) + Math.min(size, 7) / 2;
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
