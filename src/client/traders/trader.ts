/** One wallet that takes part: one turn at a time, on what the chain says that it has. */
import type { Rng } from '../../engine/runtime/rng.ts';
import { ApiError } from '../apiError.ts';
import type { TradingClient } from '../trade/tradingClient.ts';
import { balanceOf, type WalletUtxo } from '../trade/utxo.ts';
import { type ActionResult, act } from './act.ts';
import type { Market } from './market.ts';
import type { Action, Lock, View } from './view.ts';

/** Then a transaction that left no trace is forgotten: it lost a race, or paid all out. */
const UNSETTLED_MS = 12_000;

export interface TurnContext {
  readonly nowMs: number;
  readonly market: Market;
  readonly others: readonly string[];
  readonly launchDue: boolean;
  decide(view: View, rng: Rng): Action;
}

export type Turn =
  /** Nothing to do, or its last transaction is not in a block yet. */
  | { readonly outcome: 'rested' }
  | { readonly outcome: 'acted'; readonly action: Action; readonly result: ActionResult }
  | { readonly outcome: 'refused'; readonly action: string; readonly error: ApiError };

export class Trader {
  readonly name: string;
  readonly trading: TradingClient;
  isBusy = false;
  /** What it could spend when it looked last. */
  view: View | null = null;
  readonly #rng: Rng;
  #last: { readonly txHash: string; readonly atMs: number } | null = null;
  #mayHaveLocks = true;

  constructor(name: string, trading: TradingClient, rng: Rng) {
    this.name = name;
    this.trading = trading;
    this.#rng = rng;
  }

  async turn(context: TurnContext): Promise<Turn> {
    let doing = 'look';
    try {
      const utxos = await this.trading.utxos();
      if (!this.#isSettled(utxos, context.nowMs)) return { outcome: 'rested' };
      const view = this.#see(utxos, await this.#locks(), context);
      const action = context.decide(view, this.#rng);
      if (action.kind === 'rest') return { outcome: 'rested' };
      doing = action.kind;
      if (action.kind === 'lock') this.#mayHaveLocks = true;
      const result = await act(this.trading, action, utxos, context.nowMs);
      this.#last = { txHash: result.txHash, atMs: context.nowMs };
      return { outcome: 'acted', action, result };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { outcome: 'refused', action: doing, error };
    }
  }

  #see(utxos: readonly WalletUtxo[], locks: readonly Lock[], context: TurnContext): View {
    const { nowMs, market, others, launchDue } = context;
    const { lovelace, assets: tokens } = balanceOf(utxos);
    for (const asset of tokens.keys()) market.add(asset, nowMs);
    const holdings = { lovelace, tokens, outputs: utxos.length, locks };
    const own = this.trading.wallet.address;
    const view = {
      ...holdings,
      nowMs,
      launchDue,
      market: market.open(),
      others: others.filter((address) => address !== own),
    };
    this.view = view;
    return view;
  }

  /** Change of its last transaction shows that a block has it; before that the balance is short. */
  #isSettled(utxos: readonly WalletUtxo[], nowMs: number): boolean {
    const last = this.#last;
    if (last === null || nowMs - last.atMs > UNSETTLED_MS) return true;
    return utxos.some(({ ref }) => ref.txHash === last.txHash);
  }

  async #locks(): Promise<readonly Lock[]> {
    if (!this.#mayHaveLocks) return [];
    try {
      const found = await this.trading.locks();
      this.#mayHaveLocks = found.length > 0;
      return found.map(({ id, lockUntil }) => ({ id, unlockMs: Number(lockUntil) }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
  }
}
