/** Carries out what a trader decided, through the public API with a real signature. */
import type { AssetId } from '../../engine/market/asset.ts';
import { ApiError } from '../apiError.ts';
import { pictureOf } from '../trade/picture.ts';
import type { LaunchRequest, SubmittedTx, TradingClient } from '../trade/tradingClient.ts';
import { balanceOf, utxoCbor, type WalletUtxo } from '../trade/utxo.ts';
import type { Action } from './view.ts';

/** Keeps an output with a token alive. */
const WITH_TOKENS_LOVELACE = 2_000_000n;
/** Outputs that one transfer merges. */
const MAX_CONSOLIDATED = 50;

export interface ActionResult {
  readonly txHash: string;
  /** The token that a launch made. */
  readonly launched: AssetId | null;
  /** Why an order could not be cancelled. */
  readonly notCancelled: ApiError | null;
}

type Doable = Exclude<Action, { readonly kind: 'rest' }>;

/** Rejects with `ApiError`. */
export async function act(
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
