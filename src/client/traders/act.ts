/** Carries out what a trader decided, through the public API with a real signature. */
import type { AssetId } from '../../engine/market/asset.ts';
import type { LaunchRequest } from '../trade/api.ts';
import type { Desk, Done } from '../trade/desk.ts';
import { ApiFailure } from '../trade/failure.ts';
import { pictureOf } from '../trade/picture.ts';
import { balanceOf, cip30, type OwnUtxo } from '../trade/utxo.ts';
import type { Action } from './view.ts';

/** Keeps an output with a token alive. */
const WITH_TOKENS_LOVELACE = 2_000_000n;
/** Of one transfer that puts outputs together. */
const MOST_CONSOLIDATED = 50;

export interface Acted {
  readonly txHash: string;
  /** The token that a launch made. */
  readonly launched: AssetId | null;
  /** Why an order could not be cancelled. */
  readonly notCancelled: ApiFailure | null;
}

type Doing = Exclude<Action, { readonly kind: 'rest' }>;

export async function act(
  desk: Desk,
  action: Doing,
  utxos: readonly OwnUtxo[],
  nowMs: number,
): Promise<Acted | ApiFailure> {
  if (action.kind === 'order') return order(desk, action);
  if (action.kind === 'launch') {
    const launched = await desk.launch(launchRequest(action));
    return acted(launched, launched instanceof ApiFailure ? null : launched.asset);
  }
  return acted(await simply(desk, action, utxos, nowMs), null);
}

function simply(
  desk: Desk,
  action: Exclude<Doing, { readonly kind: 'order' | 'launch' }>,
  utxos: readonly OwnUtxo[],
  nowMs: number,
): Promise<Done | ApiFailure> {
  switch (action.kind) {
    case 'withdraw':
      return desk.withdraw(action.id);
    case 'lock': {
      const { asset: assetId, amount, stages, lockMs } = action;
      return desk.lock({ assetId, amount, stages, lockEndMs: nowMs + lockMs });
    }
    case 'transfer': {
      const assets = new Map([[action.asset, action.amount]]);
      return desk.transfer({ to: action.to, lovelace: WITH_TOKENS_LOVELACE, assets });
    }
    case 'consolidate':
      return consolidate(desk, utxos);
  }
}

/** The smallest outputs become one. */
function consolidate(desk: Desk, utxos: readonly OwnUtxo[]): Promise<Done | ApiFailure> {
  const small = utxos
    .toSorted((a, b) => (a.value.lovelace < b.value.lovelace ? -1 : 1))
    .slice(0, MOST_CONSOLIDATED);
  const { assets } = balanceOf(small);
  const to = desk.wallet.address;
  return desk.transfer({ to, lovelace: 'max', assets, utxos: small.map(cip30) });
}

function launchRequest(action: Extract<Action, { readonly kind: 'launch' }>): LaunchRequest {
  const { idea, initialLovelace, launchType } = action;
  const image = { bytes: pictureOf(idea.name + idea.ticker), mediaType: 'image/png' } as const;
  return { ...idea, assetType: 'Meme', launchType, initialLovelace, image };
}

async function order(
  desk: Desk,
  action: Extract<Action, { readonly kind: 'order' }>,
): Promise<Acted | ApiFailure> {
  const { asset: assetId, thenCancel, kind: _kind, ...request } = action;
  const placed = await desk.order({ assetId, ...request });
  if (placed instanceof ApiFailure || !thenCancel) return acted(placed, null);
  const cancelled = await desk.cancel(placed.id);
  if (!(cancelled instanceof ApiFailure)) return acted(cancelled, null);
  return { txHash: placed.txHash, launched: null, notCancelled: cancelled };
}

function acted(done: Done | ApiFailure, launched: AssetId | null): Acted | ApiFailure {
  return done instanceof ApiFailure ? done : { txHash: done.txHash, launched, notCancelled: null };
}
