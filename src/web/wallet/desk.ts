/**
 * From a wish to a transaction that the server took: have it built, read what was built, and only
 * then sign and submit it. Rejects with `ApiError` (the server's word) or `WalletError` (ours).
 */
import type { LaunchForm } from '../../client/index.ts';
import type { Intent } from '../../client/trade/inspect.ts';
import type { LaunchAnswer, OrderAnswer } from '../../client/types.ts';
import type { PageContext } from '../context.ts';
import { type ConnectedWallet, WalletError } from './connected.ts';
import {
  type LockWish,
  launchIntent,
  lockIntent,
  type OrderWish,
  orderIntent,
  reclaimIntent,
} from './intents.ts';
import { type Review, review } from './review.ts';
import type { Session } from './session.ts';

/** Built and read; nothing has been signed. */
export interface Prepared<T> {
  readonly built: T;
  readonly review: Review;
  /** Asks the wallet for its signature, and hands both to the server. Answers the id. */
  submit(): Promise<string>;
}

export type LaunchWish = Omit<LaunchForm, 'changeAddress' | 'utxos' | 'collaterals'>;

export class Desk {
  readonly #client: PageContext['client'];
  readonly #session: Session;

  constructor(context: PageContext, session: Session) {
    this.#client = context.client;
    this.#session = session;
  }

  async order(wish: OrderWish): Promise<Prepared<OrderAnswer>> {
    const wallet = this.#wallet();
    const { asset: assetId, side, slippage } = wish;
    const amount = String(wish.amount);
    const paid = await paidBy(wallet);
    const { data } = await this.#client.build.order({ assetId, side, slippage, amount, ...paid });
    return this.#prepared(wallet, data, orderIntent(wish, data));
  }

  async launch(wish: LaunchWish): Promise<Prepared<LaunchAnswer>> {
    const wallet = this.#wallet();
    const form = { ...wish, ...(await paidBy(wallet)), collaterals: null };
    const { data } = await this.#client.build.launch(form);
    const initial = BigInt(wish.initialDeposit || '0');
    return this.#prepared(wallet, data, launchIntent(wish.name, initial, data));
  }

  /** `id` is `<tx>:<index>` of the order's output. */
  async cancel(id: string): Promise<Prepared<{ readonly cbor: string }>> {
    const wallet = this.#wallet();
    const [txHash = '', index = ''] = id.split(':');
    const body = { txHash, index, ...(await paidBy(wallet)), collaterals: null };
    const { data } = await this.#client.build.cancel(body);
    return this.#prepared(wallet, data, reclaimIntent(id));
  }

  async lock(wish: LockWish): Promise<Prepared<{ readonly cbor: string }>> {
    const wallet = this.#wallet();
    const { asset: assetId, stages: stagesCount, lockEndMs: lockEnd } = wish;
    const amount = String(wish.amount);
    const terms = { address: wallet.address, assetId, amount, lockEnd, stagesCount };
    const { data } = await this.#client.vesting.createLock(terms);
    return this.#prepared(wallet, data, lockIntent(wish));
  }

  /** `id` is `<tx>:<index>` of the lock's output. */
  async withdraw(id: string): Promise<Prepared<{ readonly cbor: string }>> {
    const wallet = this.#wallet();
    const { data } = await this.#client.vesting.withdraw({ id, address: wallet.address });
    return this.#prepared(wallet, data, reclaimIntent(id));
  }

  #wallet(): ConnectedWallet {
    const wallet = this.#session.wallet.value;
    if (wallet === null) throw new WalletError('Connect a wallet first.');
    return wallet;
  }

  #prepared<T extends { readonly cbor: string }>(
    wallet: ConnectedWallet,
    built: T,
    intent: Intent,
  ): Prepared<T> {
    const reviewed = review(built.cbor, wallet, intent);
    const submit = async () => {
      if (this.#session.wallet.value !== wallet) {
        throw new WalletError('Another wallet was connected meanwhile. Begin again.');
      }
      const witness = await wallet.sign(built.cbor);
      const body = { cbor: built.cbor, witness, changeAddress: wallet.address };
      const { data } = await this.#client.submit.signAndSubmit(body);
      if (data.txHash !== reviewed.txHash) {
        throw new WalletError(`The server submitted ${data.txHash}, not what was signed.`);
      }
      return data.txHash;
    };
    return { built, review: reviewed, submit };
  }
}

/** Whose coins pay, and where change goes. */
async function paidBy(wallet: ConnectedWallet) {
  const utxos = (await wallet.utxos()) ?? ('splash-wallet' as const);
  return { changeAddress: wallet.address, utxos };
}
