/** Judges a payment for nothing: the first one costs 0.2 s, compiled code 5 ms. */
import type { SlotConfig } from '../cardano/codec/slots.ts';
import { coins } from '../cardano/codec/value.ts';
import type { Key } from '../cardano/keys/keys.ts';
import { minFeeLovelace } from '../cardano/ledger/parameters.ts';
import { judge } from '../cardano/ledger/scalus.ts';
import { keyAddress } from '../cardano/validators/deploy.ts';
import { placed } from '../cardano/validators/genesis.ts';
import { PAYMENT_BYTES } from './faucet.ts';
import { signedPayment } from './payment.ts';

const ROUNDS = 3;
const LOVELACE = 10_000_000n;

export function warmUp(key: Key, slots: SlotConfig): void {
  const address = keyAddress(key.hash);
  const utxos = placed([{ address, value: coins(LOVELACE) }]);
  const inputs = utxos.map(({ ref }) => ref);
  const feeLovelace = minFeeLovelace(PAYMENT_BYTES);
  const outputs = [{ address, value: coins(LOVELACE - feeLovelace) }];
  const payment = signedPayment({ inputs, outputs, feeLovelace }, [key]);
  for (let round = 0; round < ROUNDS; round += 1) judge(payment, utxos, slots, 0);
}
