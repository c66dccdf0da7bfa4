/**
 * What is about to be signed, read from the bytes themselves: the server is believed nothing that
 * they can tell. Whatever does not do what was asked is refused with the reason.
 */
import { MalformedCbor } from '../../cardano/codec/cbor.ts';
import { fromHex, isHex } from '../../cardano/codec/hex.ts';
import { decodeTransaction, type Transaction } from '../../cardano/codec/transaction.ts';
import { type Intent, objectionTo } from '../../client/trade/inspect.ts';
import { type ConnectedWallet, type Holdings, WalletError } from './connected.ts';

export interface Review {
  readonly txHash: string;
  readonly feeLovelace: bigint;
  /** To others than the wallet: scripts of the market, or whom it names. */
  readonly payments: readonly (Holdings & { readonly address: string })[];
  /** What comes back to the wallet. */
  readonly back: Holdings;
}

/** Throws `WalletError` where the bytes are unreadable or do something else. */
export function review(cbor: string, wallet: ConnectedWallet, intent: Intent): Review {
  const transaction = read(cbor);
  const objection = objectionTo(transaction, wallet, intent);
  if (objection !== null) {
    throw new WalletError(`Not signed: this is not what was asked for, ${objection}.`);
  }
  const { id, feeLovelace, outputs } = transaction;
  const payments = outputs.filter(({ address }) => address !== wallet.address);
  const back = outputs.filter(({ address }) => address === wallet.address);
  const tokens = new Map<string, bigint>();
  let lovelace = 0n;
  for (const { value } of back) {
    lovelace += value.lovelace;
    for (const [asset, amount] of value.assets) {
      tokens.set(asset, (tokens.get(asset) ?? 0n) + amount);
    }
  }
  return {
    txHash: id,
    feeLovelace,
    payments: payments.map(({ address, value }) => ({
      address,
      lovelace: value.lovelace,
      tokens: value.assets,
    })),
    back: { lovelace, tokens },
  };
}

function read(cbor: string): Transaction {
  try {
    if (isHex(cbor)) return decodeTransaction(fromHex(cbor));
  } catch (error) {
    if (!(error instanceof MalformedCbor)) throw error;
  }
  throw new WalletError('Not signed: the server sent no readable transaction.');
}
