/**
 * Sending lovelace and tokens. `max` empties as many outputs as one transaction takes, pure ADA
 * first; tokens that are not sent come back with the least lovelace that holds them. To one's own
 * address that is how a scattered wallet is consolidated.
 */
import { type Address, formatAddress } from '../cardano/address.ts';
import type { Utxo } from '../cardano/output.ts';
import { addValues, asValue, coins, subtractValue, type Value } from '../cardano/value.ts';
import type { AssetId } from '../market/asset.ts';
import { Failure } from '../runtime/errors.ts';
import type { ProtocolParameters } from './parameters.ts';
import { planOf, type TransactionPlan } from './plan.ts';
import { bundled, emptiest, holdsInOne, MOST_WALLET_INPUTS } from './selection.ts';

export interface TransferRequest {
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
  const chosen = emptiable(wallet, assets);
  const held = addValues(...chosen.map(({ output }) => output.value));
  const rest = subtractValue(held, asValue(0n, assets));
  for (const [asset, amount] of rest.assets) {
    if (amount < 0n) return new Failure('SERVER_ERROR', `wallet: it lacks ${-amount} of ${asset}`);
  }
  const back = formatAddress(changeAddress);
  const returned = bundled(rest.assets, back, parameters);
  const kept = returned.reduce((sum, { value }) => sum + value.lovelace, 0n);
  if (rest.lovelace <= kept)
    return new Failure('SERVER_ERROR', 'wallet: it has no lovelace to send');
  const value = asValue(rest.lovelace - kept, assets);
  return planOf({
    inputs: chosen.map((utxo) => ({ utxo, redeemer: null })),
    outputs: [{ address: formatAddress(to), value, datum: null }, ...returned],
    changeAddress: back,
    feeFrom: 0,
  });
}

/** Outputs with what is sent come first, then as many others as fit. */
function emptiable(wallet: readonly Utxo[], assets: ReadonlyMap<AssetId, bigint>): Utxo[] {
  const chosen: Utxo[] = [];
  let total: Value = coins(0n);
  for (const utxo of emptiest(wallet, assets)) {
    if (chosen.length >= MOST_WALLET_INPUTS) break;
    const next = addValues(total, utxo.output.value);
    if (!holdsInOne(chosen.length + 1, next)) continue;
    total = next;
    chosen.push(utxo);
  }
  return chosen;
}
