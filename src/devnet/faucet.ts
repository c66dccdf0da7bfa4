/** The faucet of a devnet: whom it pays, how much at once, and out of which output. */
import { parseAddress } from '../cardano/codec/address.ts';
import type { Utxo } from '../cardano/codec/output.ts';
import { coins } from '../cardano/codec/value.ts';
import type { Key } from '../cardano/keys/keys.ts';
import { minFeeLovelace } from '../cardano/ledger/parameters.ts';
import type { SubmitOutcome } from '../cardano/ledger/port.ts';
import { utxosOfCredential } from '../cardano/ledger/views.ts';
import { keyAddress } from '../cardano/validators/deploy.ts';
import { MAX_FAUCET_ADA } from '../engine/runtime/limits.ts';
import type { Ledger } from './ledger.ts';
import { PAYMENT_BYTES, signedPayment } from './payment.ts';

/** More than the least lovelace of an output without tokens. */
export const MIN_GIFT_LOVELACE = 1_000_000n;
export const MAX_GIFT_LOVELACE = BigInt(MAX_FAUCET_ADA) * 1_000_000n;

/** Pays from the faucet's fullest output, its pending change included. */
export function payFromFaucet(
  ledger: Ledger,
  key: Key,
  address: string,
  lovelace: bigint,
): SubmitOutcome {
  const parsed = parseAddress(address);
  if (parsed === null || parsed.network !== 'testnet' || parsed.pointer) {
    return refused('The faucet pays to addresses of this devnet (addr_test1…)');
  }
  if (lovelace < MIN_GIFT_LOVELACE || lovelace > MAX_GIFT_LOVELACE) {
    const bounds = `${MIN_GIFT_LOVELACE} to ${MAX_GIFT_LOVELACE}`;
    return refused(`The faucet gives ${bounds} lovelace at once`);
  }
  const feeLovelace = minFeeLovelace(ledger.parameters.values, PAYMENT_BYTES);
  const source = fullest(utxosOfCredential(ledger, key.hash, 'newest', {}));
  const changeLovelace = (source?.output.value.lovelace ?? 0n) - lovelace - feeLovelace;
  if (source === undefined || changeLovelace < MIN_GIFT_LOVELACE) {
    return refused('The faucet is empty');
  }
  const outputs = [
    { address, value: coins(lovelace) },
    { address: keyAddress(key.hash), value: coins(changeLovelace) },
  ];
  const { bytes } = signedPayment({ inputs: [source.ref], outputs, feeLovelace }, [key]);
  return ledger.submit(bytes);
}

function refused(message: string): SubmitOutcome {
  return { outcome: 'refused', reason: 'REFUSED', message };
}

/**
 * The fullest output was not spent lately, so outputs take turns. A plain payment cannot spend
 * outputs with tokens or a script, which others sent here.
 */
function fullest(utxos: readonly Utxo[]): Utxo | undefined {
  const plain = utxos.filter(({ output }) => {
    return output.value.assets.size === 0 && output.scriptHash === null;
  });
  return plain.reduce<Utxo | undefined>(
    (best, utxo) =>
      best === undefined || utxo.output.value.lovelace > best.output.value.lovelace ? utxo : best,
    undefined,
  );
}
