/**
 * The trader that takes tokens to graduation. It launches a token, buys it in equal steps until the
 * curve is full, sells the tokens on the AMM while it lacks coins for the next one, and rests in
 * between.
 *
 * Its state is the step's size and the time of the last graduation: its target is the token that
 * it holds on the curve, so after a restart it continues where the chain is.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { TraderConfig } from './config.ts';
import { isRich, worthOf } from './decide.ts';
import { tokenIdea } from './ideas.ts';
import { adaToLovelace, shareOf, uniform } from './random.ts';
import type { Trader, Turn, TurnContext } from './trader.ts';
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
/** A launch that is in no block by then is taken for lost. */
const LAUNCH_PATIENCE_MS = 60_000;
/** A buy that is not filled by then does not hold back the next. */
const FILL_PATIENCE_MS = 15_000;
const AGAIN_MS = 1_000;

interface PusherState {
  /** Lovelace of the next buy; halved while the pool has no room for it. */
  readonly stepLovelace: bigint;
  /** No new target before. */
  readonly restUntilMs: number;
}

export class Pusher {
  readonly trader: Trader;
  /** Until its next turn. */
  waitMs = AGAIN_MS;
  readonly #config: TraderConfig;
  readonly #pace: number;
  #state: PusherState;
  #target: AssetId | null = null;
  #waiting: { readonly held: bigint; readonly untilMs: number } | null = null;

  constructor(trader: Trader, config: TraderConfig, pace: number) {
    this.trader = trader;
    this.#config = config;
    this.#pace = pace;
    this.#state = firstPusherState(config, pace);
  }

  async turn(context: Omit<TurnContext, 'decide'>): Promise<Turn> {
    const turn = await this.trader.turn({
      ...context,
      decide: (view, rng) => this.#next(view, () => push(view, this.#state, this.#config, rng)),
    });
    this.waitMs = stepEveryMs(this.#config, this.#pace);
    if (turn.outcome === 'rested') this.waitMs = Math.min(this.waitMs, AGAIN_MS);
    if (turn.outcome === 'refused') {
      this.#state =
        turn.error.cause === 'MAX_TRADE_AMOUNT' ? smallerStep(this.#state) : this.#state;
      if (turn.error.cause === 'MAX_TRADE_AMOUNT') this.waitMs = AGAIN_MS;
    }
    if (turn.outcome === 'acted') this.#acted(turn.action, context.nowMs);
    return turn;
  }

  #next(view: View, decide: () => Action): Action {
    const { nowMs, market } = view;
    const target = targetOf(view)?.asset ?? null;
    const last = market.find(({ asset }) => asset === this.#target);
    if (target === null && last?.venue === 'AMM') {
      this.#state = afterGraduation(this.#config, nowMs, this.#pace);
    }
    if (target !== null || last?.venue === 'AMM') this.#target = target;
    if (this.#isWaiting(view)) return { kind: 'rest', why: 'its last buy is not filled yet' };
    return decide();
  }

  #isWaiting({ nowMs, tokens }: View): boolean {
    const waiting = this.#waiting;
    if (waiting === null || this.#target === null) return false;
    const isFilled = (tokens.get(this.#target) ?? 0n) !== waiting.held;
    if (!isFilled && nowMs < waiting.untilMs) return true;
    this.#waiting = null;
    return false;
  }

  #acted(action: Action, nowMs: number): void {
    if (action.kind === 'launch') {
      this.#state = { ...this.#state, restUntilMs: nowMs + LAUNCH_PATIENCE_MS };
    }
    if (action.kind !== 'order' || action.side !== 'BUY') return;
    const held = this.trader.view?.tokens.get(action.asset) ?? 0n;
    this.#waiting = { held, untilMs: nowMs + FILL_PATIENCE_MS };
  }
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
