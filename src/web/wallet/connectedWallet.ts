/** A wallet that is connected to the page. */
import { amountOf, type Value } from '../../cardano/codec/value.ts';
import { ApiError } from '../../client/index.ts';
import type { TradingWallet } from '../../client/trade/wallet.ts';

export interface ConnectedWallet extends TradingWallet {
  /** `test`: its key is in this browser. `extension`: a CIP-30 wallet. */
  readonly kind: 'test' | 'extension';
  readonly name: string;
  /** A data URI of an image. */
  readonly icon: string | null;
  /** The balance that it reports; null: the server is asked. */
  balance(): Promise<Value | null>;
}

export function amountHeld(balance: Value | null, asset: string): bigint {
  return balance === null ? 0n : amountOf(balance, asset);
}

/** A failure of the wallet, or of the browser's storage. */
export function walletError(message: string): ApiError {
  return new ApiError('WALLET', message);
}
