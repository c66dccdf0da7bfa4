/**
 * What the pusher does next: it launches a token, buys it up to its graduation in equal steps,
 * sells what it got on the AMM while it lacks coins for the next one, and rests in between.
 *
 * Stateless but for the step and the time of the last graduation: its target is the token that it
 * holds on the curve, so a restart carries on where the chain is.
 */
import type { Rng } from '../../engine/runtime/rng.ts';
import type { TraderConfig } from './config.ts';
import { isRich, worthOf } from './decide.ts';
import { tokenIdea } from './ideas.ts';
import { adaToLovelace, shareOf, uniform } from './random.ts';
import type { Action, Token, View } from './view.ts';

/** Enough to fill a curve, with fees and change. */
const GRADUATION_COSTS_ADA = 18_900;
const LEAST_STEP_LOVELACE = 10_000_000n;
const SELL_PERCENT = [2, 6] as const;
const LEAST_SALE_LOVELACE = 20_000_000n;
const ORDER_COSTS_LOVELACE = 6_000_000n;
const MOST_ENLARGED = 5;
/** Small ones at the end, where the pool has little room. */
const SPARE_STEPS = 4;

export interface PusherState {
  /** Lovelace of the next buy; halved while the pool has no room for it. */
  readonly stepLovelace: bigint;
  /** No new target before. */
  readonly restUntilMs: number;
}

export function firstPusherState(config: TraderConfig, pace: number): PusherState {
  return { stepLovelace: adaToLovelace(stepAda(config, pace)), restUntilMs: 0 };
}

/** A higher pace also takes larger steps: each has to be filled before the next. */
function stepAda({ pusher }: TraderConfig, pace: number): number {
  return pusher.orderAda * Math.min(Math.max(pace, 1), MOST_ENLARGED);
}

/** The token that it holds on the curve; the largest holding where there are several. */
export function targetOf({ market, tokens }: Pick<View, 'market' | 'tokens'>): Token | null {
  const held = market.filter(({ asset, venue }) => venue === 'CURVE' && tokens.has(asset));
  const amount = ({ asset }: Token) => tokens.get(asset) ?? 0n;
  const sorted = held.toSorted((a, b) => (amount(a) > amount(b) ? -1 : 1));
  return sorted[0] ?? null;
}

export function push(view: View, state: PusherState, config: TraderConfig, rng: Rng): Action {
  if (view.outputs >= config.others.consolidateFromOutputs) return { kind: 'consolidate' };
  const target = targetOf(view);
  if (target !== null && view.lovelace > state.stepLovelace + ORDER_COSTS_LOVELACE) {
    const amount = state.stepLovelace;
    const { asset } = target;
    return { kind: 'order', asset, side: 'BUY', amount, slippage: '75', thenCancel: false };
  }
  const rich = isRich(view, GRADUATION_COSTS_ADA);
  if (target === null && rich && view.nowMs >= state.restUntilMs) {
    const initialLovelace = state.stepLovelace;
    return { kind: 'launch', idea: tokenIdea(rng), initialLovelace, launchType: 'HYPED' };
  }
  return (rich ? null : sale(view, rng)) ?? { kind: 'rest', why: 'no token is due' };
}

function sale(view: View, rng: Rng): Action | null {
  if (view.lovelace < ORDER_COSTS_LOVELACE) return null;
  for (const token of view.market) {
    const held = view.tokens.get(token.asset) ?? 0n;
    const amount = shareOf(held, uniform(rng, SELL_PERCENT));
    if (token.venue !== 'AMM' || worthOf(token, amount) < LEAST_SALE_LOVELACE) continue;
    const { asset } = token;
    return { kind: 'order', asset, side: 'SELL', amount, slippage: '50', thenCancel: false };
  }
  return null;
}

/** After the server refused a buy because the pool has no room for it. */
export function smallerStep(state: PusherState): PusherState {
  const half = state.stepLovelace / 2n;
  return { ...state, stepLovelace: half > LEAST_STEP_LOVELACE ? half : LEAST_STEP_LOVELACE };
}

export function afterGraduation(config: TraderConfig, nowMs: number, pace: number): PusherState {
  const restMs = (config.pusher.restSeconds * 1000) / pace;
  return { ...firstPusherState(config, pace), restUntilMs: nowMs + restMs };
}

/** Time between buys, so that the curve is full in time. */
export function stepEveryMs(config: TraderConfig, pace: number): number {
  const steps = Math.ceil(GRADUATION_COSTS_ADA / stepAda(config, pace)) + SPARE_STEPS;
  return (config.pusher.graduateInSeconds * 1000) / steps / pace;
}
