/** Gives away lovelace of the faucet's wallet; its own change is spent while it waits, too. */
import { parseAddress } from '../cardano/codec/address.ts';
import type { Utxo } from '../cardano/codec/output.ts';
import { coins } from '../cardano/codec/value.ts';
import type { Key } from '../cardano/keys/keys.ts';
import { minFeeLovelace } from '../cardano/ledger/parameters.ts';
import type { SubmitOutcome } from '../cardano/ledger/port.ts';
import { utxosOfCredential } from '../cardano/ledger/views.ts';
import { keyAddress } from '../cardano/validators/deploy.ts';
import type { Ledger } from './ledger.ts';
import { signedPayment } from './payment.ts';

/** What an output of lovelace alone holds at least, with room to spare. */
export const LEAST_GIFT_LOVELACE = 1_000_000n;
export const MOST_GIFT_LOVELACE = 10_000n * 1_000_000n;
/** A payment of one input and two outputs is shorter. */
export const PAYMENT_BYTES = 400;

export function give(ledger: Ledger, key: Key, address: string, lovelace: bigint): SubmitOutcome {
  const parsed = parseAddress(address);
  if (parsed === null || parsed.network !== 'testnet' || parsed.pointer) {
    return refused('The faucet pays to addresses of this devnet (addr_test1…)');
  }
  if (lovelace < LEAST_GIFT_LOVELACE || lovelace > MOST_GIFT_LOVELACE) {
    const bounds = `${LEAST_GIFT_LOVELACE} to ${MOST_GIFT_LOVELACE}`;
    return refused(`The faucet gives ${bounds} lovelace at once`);
  }
  const feeLovelace = minFeeLovelace(PAYMENT_BYTES);
  const source = fullest(utxosOfCredential(ledger, key.hash, 'newest', {}));
  const changeLovelace = (source?.output.value.lovelace ?? 0n) - lovelace - feeLovelace;
  if (source === undefined || changeLovelace < LEAST_GIFT_LOVELACE) {
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
 * Outputs take turns: the fullest is one that was not spent lately. What holds tokens or a script
 * is somebody's gift, which a plain payment cannot spend.
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
