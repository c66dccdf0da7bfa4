/**
 * Sending lovelace and tokens. `max` empties as many outputs as one transaction takes, pure ADA
 * first; tokens that are not sent come back with the least lovelace that holds them. To one's own
 * address that is how a scattered wallet is consolidated.
 */

import type { AssetId } from '../../engine/market/asset.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { type Address, formatAddress } from '../codec/address.ts';
import type { Utxo } from '../codec/output.ts';
import { asValue } from '../codec/value.ts';
import type { ProtocolParameters } from '../ledger/parameters.ts';
import { planOf, type TransactionPlan } from './plan.ts';
import { CoinSelection } from './selection.ts';

interface TransferRequest {
  readonly to: Address;
  readonly changeAddress: Address;
  readonly lovelace: bigint | 'max';
  /** By asset; above 0. */
  readonly assets: ReadonlyMap<AssetId, bigint>;
}

export function planTransfer(
  request: TransferRequest,
  wallet: readonly Utxo[],
  parameters: ProtocolParameters,
): TransactionPlan | Failure {
  const { to, lovelace, assets } = request;
  if (lovelace === 'max') return everything(request, wallet, parameters);
  const output = { address: formatAddress(to), value: asValue(lovelace, assets), datum: null };
  return planOf({ outputs: [output], wallet, changeAddress: formatAddress(request.changeAddress) });
}

function everything(
  { to, changeAddress, assets }: TransferRequest,
  wallet: readonly Utxo[],
  parameters: ProtocolParameters,
): TransactionPlan | Failure {
  const back = formatAddress(changeAddress);
  const need = { value: asValue(0n, assets), changeAddress: back };
  const { chosen, change } = emptied(new CoinSelection(wallet, need, parameters), assets);
  for (const asset of assets.keys()) {
    const missing = -change.amountOf(asset);
    if (missing > 0n) {
      const lack = `wallet: it lacks ${missing} of ${asset}`;
      return new Failure('SERVER_ERROR', lack, { reason: 'FUNDS' });
    }
  }
  const returned = change.bundled();
  const kept = returned.reduce((sum, { value }) => sum + value.lovelace, 0n);
  if (change.lovelace <= kept) {
    const lack = 'wallet: it has no lovelace to send beside what holds its tokens; add ADA';
    return new Failure('SERVER_ERROR', lack, { reason: 'FUNDS' });
  }
  const value = asValue(change.lovelace - kept, assets);
  return planOf({
    inputs: chosen.map((utxo) => ({ utxo, redeemer: null })),
    outputs: [{ address: formatAddress(to), value, datum: null }, ...returned],
    changeAddress: back,
    feeFrom: 0,
  });
}

/** Outputs that hold the assets to be sent come first, then as many others as fit. */
function emptied(basket: CoinSelection, assets: ReadonlyMap<AssetId, bigint>): CoinSelection {
  if (![...assets.keys()].every((asset) => basket.cover(asset))) return basket;
  for (const utxo of basket.left()) {
    if (basket.isFull) break;
    basket.select(utxo);
  }
  return basket;
}
