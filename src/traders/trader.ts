/** One wallet that takes part: one turn at a time, with the balance that the chain shows. */

import { ApiError } from '../client/apiError.ts';
import { pictureOf } from '../client/trade/picture.ts';
import type { LaunchRequest, SubmittedTx, TradingClient } from '../client/trade/tradingClient.ts';
import { balanceOf, utxoCbor, type WalletUtxo } from '../client/trade/utxo.ts';
import type { AssetId } from '../engine/market/asset.ts';
import type { Rng } from '../engine/runtime/rng.ts';
import type { KnownTokens } from './knownTokens.ts';
import type { Style } from './styles.ts';
import type { Action, Lock, View } from './view.ts';

/** Then a transaction that left no trace is forgotten: it lost a race, or paid all out. */
const UNSETTLED_MS = 12_000;

interface TurnContext {
  readonly nowMs: number;
  readonly knownTokens: KnownTokens;
  readonly others: readonly string[];
  readonly launchDue: boolean;
  readonly mood: View['mood'];
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
  /** Its spendable balance at the last look-up. */
  view: View | null = null;
  readonly #rng: Rng;
  #last: { readonly txHash: string; readonly atMs: number } | null = null;
  #mayHaveLocks = true;

  readonly #style: Style;

  constructor(name: string, trading: TradingClient, rng: Rng, style: Style) {
    this.name = name;
    this.#style = style;
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
    const { nowMs, knownTokens, others, launchDue, mood } = context;
    const { lovelace, assets: tokens } = balanceOf(utxos);
    for (const asset of tokens.keys()) knownTokens.add(asset, nowMs);
    const holdings = { lovelace, tokens, outputs: utxos.length, locks };
    const own = this.trading.wallet.address;
    const view = {
      ...holdings,
      nowMs,
      launchDue,
      mood,
      style: this.#style,
      market: knownTokens.open(),
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

/** Keeps an output with a token alive. */
const WITH_TOKENS_LOVELACE = 2_000_000n;
/** Outputs that one transfer merges. */
const MAX_CONSOLIDATED = 50;

interface ActionResult {
  readonly txHash: string;
  /** The token that a launch made. */
  readonly launched: AssetId | null;
  /** Why an order could not be cancelled. */
  readonly notCancelled: ApiError | null;
}

type Doable = Exclude<Action, { readonly kind: 'rest' }>;

/** Uses only the public API, with a real signature. Rejects with `ApiError`. */
async function act(
  trading: TradingClient,
  action: Doable,
  utxos: readonly WalletUtxo[],
  nowMs: number,
): Promise<ActionResult> {
  if (action.kind === 'order') return placeOrder(trading, action);
  if (action.kind === 'launch') {
    const { txHash, asset } = await trading.launch(launchRequest(action));
    return { txHash, launched: asset, notCancelled: null };
  }
  const { txHash } = await submit(trading, action, utxos, nowMs);
  return { txHash, launched: null, notCancelled: null };
}

function submit(
  trading: TradingClient,
  action: Exclude<Doable, { readonly kind: 'order' | 'launch' }>,
  utxos: readonly WalletUtxo[],
  nowMs: number,
): Promise<SubmittedTx> {
  switch (action.kind) {
    case 'withdraw':
      return trading.withdraw(action.id);
    case 'lock': {
      const { asset: assetId, amount, stages, lockMs } = action;
      return trading.lock({ assetId, amount, stages, lockEndMs: nowMs + lockMs });
    }
    case 'transfer': {
      const assets = new Map([[action.asset, action.amount]]);
      return trading.transfer({ to: action.to, lovelace: WITH_TOKENS_LOVELACE, assets });
    }
    case 'consolidate':
      return consolidate(trading, utxos);
  }
}

/** The smallest outputs become one. */
function consolidate(trading: TradingClient, utxos: readonly WalletUtxo[]): Promise<SubmittedTx> {
  const small = utxos
    .toSorted((a, b) => (a.value.lovelace < b.value.lovelace ? -1 : 1))
    .slice(0, MAX_CONSOLIDATED);
  const { assets } = balanceOf(small);
  const to = trading.wallet.address;
  return trading.transfer({ to, lovelace: 'max', assets, utxos: small.map(utxoCbor) });
}

function launchRequest(action: Extract<Action, { readonly kind: 'launch' }>): LaunchRequest {
  const { idea, initialLovelace, launchType } = action;
  const image = new Blob([pictureOf(idea.name + idea.ticker)], { type: 'image/png' });
  return { ...idea, assetType: 'Meme', launchType, initialLovelace, image };
}

async function placeOrder(
  trading: TradingClient,
  action: Extract<Action, { readonly kind: 'order' }>,
): Promise<ActionResult> {
  const { asset: assetId, thenCancel, kind: _kind, ...request } = action;
  const placed = await trading.order({ assetId, ...request });
  if (!thenCancel) return { txHash: placed.txHash, launched: null, notCancelled: null };
  try {
    const { txHash } = await trading.cancel(placed.id);
    return { txHash, launched: null, notCancelled: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { txHash: placed.txHash, launched: null, notCancelled: error };
  }
}
