/**
 * The connected wallet, its balance and its orders, shared by every part of the page. There is one
 * for a client; it lives as long as the page.
 */
import { type Signal, signal } from '@preact/signals';
import type { Value } from '../../cardano/codec/value.ts';
import { newSecret } from '../../client/index.ts';
import { TradingClient } from '../../client/trade/tradingClient.ts';
import { balanceOf, utxosOf } from '../../client/trade/utxo.ts';
import type { ApiOrder } from '../../client/types.ts';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { t } from '../messages.ts';
import { onChange } from '../signal.ts';
import { testWallet } from './connect.ts';
import { type ConnectedWallet, walletError } from './connectedWallet.ts';
import { orderNotice } from './orderNotices.ts';
import { keepSecret, keptSecrets, storage } from './testWallet.ts';

/** Newest first; `isLoaded` is false until the server has said. */
interface OwnOrders {
  readonly isLoaded: boolean;
  readonly orders: readonly ApiOrder[];
}

const NO_ORDERS: OwnOrders = { isLoaded: false, orders: [] };
/** Several changes at once ask once. */
const SETTLE_MS = 150;
const POLL_EVERY_MS = 700;
const MAX_WAIT_MS = 180_000;

export class Session {
  readonly wallet: Signal<ConnectedWallet | null> = signal<ConnectedWallet | null>(null);
  /** null until known. */
  readonly balance: Signal<Value | null> = signal<Value | null>(null);
  /** Why the balance could not be read the last time. */
  readonly problem: Signal<unknown> = signal<unknown>(null);
  readonly orders: Signal<OwnOrders> = signal(NO_ORDERS);
  /** Counts transactions that came into a block: a reason to load locks and the like again. */
  readonly landed: Signal<number> = signal(0);
  /** While a transaction is pending the balance may be 0 for a moment. */
  hasHadCoins = false;
  readonly #context: PageContext;
  /** Aborted when this wallet leaves. */
  #signal: AbortSignal = AbortSignal.abort();
  #stop: () => void = () => {};
  #isAsking = false;
  /** Ids of orders that were sent from this page. */
  readonly #placed = new Set<string>();
  /** Counts reads of the balance; if reads overlap, an older one never replaces a newer one. */
  #readsStarted = 0;
  #shown = 0;

  constructor(context: PageContext) {
    this.#context = context;
  }

  connect(wallet: ConnectedWallet): void {
    this.disconnect();
    const { client } = this.#context;
    const ended = new AbortController();
    const mirror = client.userOrders(wallet.address);
    mirror.onError((error) =>
      this.#context.notify('bad', t.orders.problem({ why: errorText(error) })),
    );
    const stopListening = mirror.onChange(({ ledger, mempool }) => {
      const { isLoaded, orders: before } = this.orders.value;
      const orders = [...mempool, ...ledger];
      if (isLoaded) this.#notifyChanges(orders, before);
      this.orders.value = { isLoaded: true, orders };
      this.refresh();
    });
    this.#stop = () => {
      ended.abort();
      stopListening();
      mirror.close();
    };
    this.#signal = ended.signal;
    this.wallet.value = wallet;
    this.refresh();
  }

  disconnect(): void {
    this.#stop();
    this.#stop = () => {};
    this.wallet.value = null;
    this.balance.value = null;
    this.hasHadCoins = false;
    this.problem.value = null;
    this.orders.value = NO_ORDERS;
  }

  /** For the wallet that is connected; throws `ApiError` without one. */
  trading(): TradingClient {
    const wallet = this.wallet.value;
    if (wallet === null) throw walletError(t.wallet.first);
    const { address, keyHash } = wallet;
    return new TradingClient(this.#context.client, {
      address,
      keyHash,
      utxos: () => wallet.utxos(),
      sign: (cbor) => {
        if (this.wallet.value === wallet) return wallet.sign(cbor);
        throw walletError(t.wallet.changed);
      },
    });
  }

  /** An order was sent from here; a quick market may have filled it before the answer came. */
  placed(id: string, text: string): void {
    this.#placed.add(id);
    const order = this.orders.value.orders.find(({ entityId }) => entityId === id);
    if (order === undefined) this.#context.notify('info', text, { key: id, isWaiting: true });
    else this.#context.notify(...orderNotice(this.#context, order));
    this.refresh();
  }

  /** Reads the balance again, soon. */
  refresh(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#context.clock.after(SETTLE_MS, () => {
      whenSeen(() => {
        this.#isAsking = false;
        void this.#read();
      });
    });
  }

  /** Resolves when a transaction of ours is in a block; false where it was not seen in time. */
  async follow(txHash: string): Promise<boolean> {
    const wallet = this.wallet.value;
    if (wallet === null) return false;
    const came = await untilInBlock(this.#context, wallet.keyHash, txHash, this.#signal);
    if (wallet !== this.wallet.value) return false;
    this.refresh();
    if (came) this.landed.value = this.landed.value + 1;
    return came;
  }

  /** Notifies of the changes of each order since `before`. */
  #notifyChanges(orders: readonly ApiOrder[], before: readonly ApiOrder[]): void {
    const known = new Map(before.map((order) => [order.entityId, order.status]));
    for (const order of orders) {
      if (known.get(order.entityId) === order.status) continue;
      const notice = orderNotice(this.#context, order);
      const isOurs = known.has(order.entityId) || this.#placed.has(order.entityId);
      if (isOurs || isOpen(order)) this.#context.notify(...notice);
    }
  }

  async #read(): Promise<void> {
    const wallet = this.wallet.value;
    if (wallet === null) return;
    this.#readsStarted += 1;
    const round = this.#readsStarted;
    const isNews = () => wallet === this.wallet.value && round > this.#shown;
    try {
      const held = (await wallet.balance()) ?? (await this.#ask(wallet.keyHash));
      if (!isNews()) return;
      this.#shown = round;
      this.hasHadCoins ||= held.lovelace > 0n;
      this.balance.value = held;
      this.problem.value = null;
    } catch (error) {
      if (isNews()) this.problem.value = error;
    }
  }

  async #ask(keyHash: string): Promise<Value> {
    return balanceOf(await utxosOf(this.#context.client, keyHash));
  }
}

const sessions = new WeakMap<PageContext['client'], Session>();

export function sessionOf(context: PageContext): Session {
  const known = sessions.get(context.client);
  if (known !== undefined) return known;
  const made = new Session(context);
  sessions.set(context.client, made);
  resumeOnce(made, context);
  return made;
}

/**
 * Connects the test wallet that this browser keeps, once the server has said that it is a devnet.
 * Extensions are asked for by the user only: some put a window over the page.
 */
function resumeOnce(session: Session, { network, notify }: PageContext): void {
  const resume = (name: string | undefined) => {
    if (name !== 'devnet' || session.wallet.value !== null) return;
    try {
      const [secret] = keptSecrets(storage);
      if (secret !== undefined) session.connect(testWallet(secret));
    } catch (error) {
      notify('bad', errorText(error));
    }
  };
  resume(network.value?.name);
  if (network.value !== null) return;
  const stop = onChange(network, (now) => {
    stop();
    resume(now?.name);
  });
}

/** The one used last, else a new one. */
export function startTestWallet(context: PageContext): void {
  takeTestWallet(context, () => keptSecrets(storage)[0] ?? newSecret());
}

/** Makes another new key; the kept keys stay. */
export function addTestWallet(context: PageContext): void {
  takeTestWallet(context, newSecret);
}

/** Keeps the key and connects its wallet. */
export function takeTestWallet(context: PageContext, secretOf: () => string): void {
  try {
    const secret = secretOf();
    keepSecret(storage, secret);
    sessionOf(context).connect(testWallet(secret));
  } catch (error) {
    context.notify('bad', errorText(error));
  }
}

/** Now, or once when a tab that is not looked at is seen again. */
function whenSeen(work: () => void): void {
  if (!document.hidden) work();
  else document.addEventListener('visibilitychange', () => whenSeen(work), { once: true });
}

export function isOpen({ status }: ApiOrder): boolean {
  return status !== 'Evaluated' && status !== 'Refunded' && status !== 'Dropped';
}

/**
 * Waits until a transaction of ours is in a block: then an output of the transaction is at the
 * wallet's key, because every transaction that the wallet signs gives change. false: not seen in
 * time, or aborted.
 */
async function untilInBlock(
  { client, clock }: PageContext,
  keyHash: string,
  txHash: string,
  signal: AbortSignal,
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + MAX_WAIT_MS;
  while (!signal.aborted && clock.monotonicMs() < untilMs) {
    if (await isThere(client, keyHash, txHash)) return true;
    await new Promise<void>((resolve) => {
      clock.after(POLL_EVERY_MS, resolve);
    });
  }
  return false;
}

async function isThere(
  client: PageContext['client'],
  pkh: string,
  txHash: string,
): Promise<boolean> {
  try {
    const utxos = await utxosOf(client, pkh);
    return utxos.some(({ ref }) => ref.txHash === txHash);
  } catch {
    // The server is away: the next poll answers.
    return false;
  }
}
