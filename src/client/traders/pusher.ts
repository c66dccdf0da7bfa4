/** The trader that takes tokens to graduation: `push.ts` decides, this remembers how far it is. */
import type { AssetId } from '../../engine/market/asset.ts';
import type { TraderConfig } from './config.ts';
import {
  afterGraduation,
  firstPusherState,
  type PusherState,
  push,
  smallerStep,
  stepEveryMs,
  targetOf,
} from './push.ts';
import type { Trader, Turn, TurnContext } from './trader.ts';
import type { Action, View } from './view.ts';

/** A launch that is in no block by then is taken for lost. */
const LAUNCH_PATIENCE_MS = 60_000;
/** A buy that is not filled by then does not hold back the next. */
const FILL_PATIENCE_MS = 15_000;
const AGAIN_MS = 1_000;

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
