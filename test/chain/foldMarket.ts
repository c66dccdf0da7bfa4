/**
 * A small market that makes valid blocks of market events and knows, the plain way, what must be
 * true after each: pools, orders, locks, outputs. Its own state is copied for every block, so going
 * back is taking an older copy.
 */
import { chainOrder, type MarketEvent } from '../../src/engine/market/events.ts';
import { buy, type Exchange, sell } from '../../src/engine/market/exchange.ts';
import { DEFAULT_FEES } from '../../src/engine/market/fees.ts';
import {
  addressOf,
  authorOf,
  beaconOf,
  hashOf,
  LAUNCHED,
  type ModelOrder,
  type ModelPool,
  type ModelState,
  ownerOf,
  pick,
  reservesIn,
  reservesOf,
  START_MS,
  SUPPLY,
  stateOf,
  THRESHOLD,
  USERS,
  whoseIs,
} from './foldState.ts';

export type Action =
  | {
      readonly do: 'launch';
      readonly user: number;
      readonly buy: number;
      /** Gets half of the tokens. */
      readonly to?: number;
    }
  | {
      readonly do: 'place';
      readonly user: number;
      readonly pool: number;
      readonly side: 'buy' | 'sell';
      /** Percent of the user's holding, or ADA. */
      readonly amount: number;
    }
  | { readonly do: 'execute'; readonly pool: number }
  | { readonly do: 'collect'; readonly pool: number }
  | { readonly do: 'refund'; readonly index: number }
  | { readonly do: 'cancel'; readonly index: number }
  | {
      readonly do: 'withdraw';
      readonly index: number;
      /** Gives all its tokens to the next user in the same transaction. */
      readonly giver?: number;
    }
  | { readonly do: 'lock'; readonly user: number; readonly pool: number; readonly to: number }
  | { readonly do: 'transfer'; readonly user: number; readonly pool: number; readonly to: number };

export interface MadeBlock {
  readonly slot: number;
  readonly hash: string;
  readonly height: number;
  readonly atMs: number;
  readonly events: readonly MarketEvent[];
}

export class BlockMaker {
  state: ModelState = {
    pools: new Map(),
    orders: new Map(),
    locks: new Map(),
    outputs: new Map(),
    height: 0,
    slot: 0,
    atMs: START_MS,
  };
  /** Blocks that were not rolled back. */
  readonly blocks: MadeBlock[] = [];
  readonly #past: ModelState[] = [];
  /** Number of events of each kind, blocks that were rolled back included. */
  readonly counts = new Map<string, number>();
  #made = 0;
  #events: MarketEvent[] = [];
  #tx = '';
  #txIndex = 0;
  #index = 0;

  /** Actions that the market's state does not allow are left out. */
  block(actions: readonly Action[], afterMs: number): MadeBlock {
    this.#past.push(structuredClone(this.state));
    const { state } = this;
    state.height += 1;
    state.slot += Math.max(1, Math.floor(afterMs / 1000));
    state.atMs += Math.max(1000, Math.floor(afterMs / 1000) * 1000);
    this.#events = [];
    this.#txIndex = 0;
    for (const action of actions) {
      this.#made += 1;
      this.#tx = hashOf(`tx ${this.#made}`);
      this.#index = 0;
      const before = this.#events.length;
      this.#perform(action);
      if (this.#events.length > before) this.#txIndex += 1;
    }
    const { slot, height, atMs } = state;
    const hash = hashOf(`block ${this.#made} ${height}`);
    const made = { slot, hash, height, atMs, events: this.#events };
    this.blocks.push(made);
    return made;
  }

  /** Takes back the newest blocks; answers the height then. */
  back(blocks: number): number {
    const [state] = this.#past.splice(Math.max(0, this.#past.length - blocks));
    if (state !== undefined) this.state = state;
    this.blocks.length = this.state.height;
    return this.state.height;
  }

  #perform(action: Action): void {
    if (action.do === 'launch') this.#launch(action);
    else if (action.do === 'refund' || action.do === 'cancel') this.#close(action.do, action.index);
    else if (action.do === 'withdraw') this.#withdraw(action);
    else {
      const pool = pick([...this.state.pools.values()], action.pool);
      if (pool === undefined) return;
      if (action.do === 'place') this.#place(pool, action.user, action.side, BigInt(action.amount));
      else if (action.do === 'execute') this.#execute(pool);
      else if (action.do === 'collect') this.#collect(pool);
      else this.#give(action.do, pool, action.user, action.to);
    }
  }

  #launch({ user, to = user, ...action }: Action & { readonly do: 'launch' }): void {
    const lovelace = BigInt(action.buy) * 1_000_000n;
    const nft = `${hashOf('launch policy', 56)}.${hashOf(`nft ${this.#made}`)}`;
    const token = `${hashOf(`policy ${this.#made}`, 56)}.746f6b`;
    const tx = this.#tx;
    const { atMs } = this.state;
    const place = { venue: 'CURVE', owed: 0n, ref: '', movedMs: atMs, graduatedMs: null } as const;
    const launch = { token, nft, author: ownerOf(user), launchTx: tx, createdMs: atMs };
    const pool: ModelPool = { ...launch, ...place, x: 0n, y: SUPPLY, trades: [] };
    this.state.pools.set(token, pool);
    const launched = { ...LAUNCHED, nft, token, author: authorOf(user) };
    this.#note({ tx, kind: 'launched', pool: { ...launched, metadataRef: `${tx}:1` } });
    const exchange = lovelace > 0n ? buy(stateOf(pool), DEFAULT_FEES, lovelace) : null;
    if (exchange?.outcome === 'exchange') this.#fill(pool, exchange, null);
    this.#movePool(pool);
    if (exchange?.outcome !== 'exchange') return;
    const half = exchange.outputAmount / 2n;
    this.#pay(to, pool.token, half);
    this.#pay(user, pool.token, exchange.outputAmount - half);
  }

  #place(pool: ModelPool, user: number, side: 'buy' | 'sell', amount: bigint): void {
    const { token } = pool;
    const taken = side === 'sell' ? this.#take(user, token) : 0n;
    const offered = side === 'sell' ? (taken * amount) / 100n : amount * 1_000_000n;
    const ref = `${this.#tx}:0`;
    if (offered > 0n) {
      const at = chainOrder(this.state.slot, this.#txIndex, 0);
      const order = { ref, at, token, side, amount: offered, user } as const;
      this.state.orders.set(ref, { ...order, state: 'open', received: 0n });
      const worstPrice = { numerator: String(1 + (this.#made % 3)), denominator: '2' };
      const terms = { worstPrice, refundAfterMs: this.#made };
      const sums = { feeLovelace: '1100000', depositLovelace: '1500000', amount: String(offered) };
      const who = { address: addressOf(user), pkh: ownerOf(user), beacon: beaconOf(ref) };
      const placed = { ref, at, token, side, ...terms, ...sums, ...who };
      this.#note({ tx: this.#tx, kind: 'placed', order: placed });
      this.#make('orders', side === 'sell' ? { [token]: offered } : {});
    }
    this.#pay(user, token, taken - (side === 'sell' ? offered : 0n));
  }

  #execute(pool: ModelPool): void {
    if (this.#graduate(pool)) return;
    const open = [...this.state.orders.values()].filter(
      ({ token, state }) => token === pool.token && state === 'open',
    );
    const fills: { order: ModelOrder; exchange: Exchange }[] = [];
    const after: ModelPool = { ...pool };
    for (const order of open.sort((a, b) => (a.at < b.at ? -1 : 1)).slice(0, 4)) {
      const trade = order.side === 'buy' ? buy : sell;
      const exchange = trade(stateOf(after), DEFAULT_FEES, order.amount);
      if (exchange.outcome === 'refused') continue;
      Object.assign(after, reservesIn(exchange));
      fills.push({ order, exchange });
    }
    if (fills.length === 0) return;
    for (const { order } of fills) this.#spend(order.ref);
    this.#spend(pool.ref);
    fills.forEach(({ order, exchange }, index) => {
      this.#fill(pool, exchange, order.ref, index);
    });
    this.#movePool(pool);
    for (const { order, exchange } of fills) {
      order.state = 'executed';
      order.received = exchange.outputAmount;
      const received = String(order.received);
      this.#note({ tx: this.#tx, kind: 'executed', order: order.ref, received });
      if (order.side === 'buy') this.#pay(order.user, pool.token, order.received);
    }
  }

  #fill(pool: ModelPool, exchange: Exchange, order: string | null, index = 0): void {
    const { token } = pool;
    const before = reservesOf(pool);
    Object.assign(pool, reservesIn(exchange));
    const { kind: side, inputAmount, outputAmount, poolCoinLovelace: lovelace } = exchange;
    const tokens = side === 'buy' ? outputAmount : inputAmount;
    const after = reservesOf(pool);
    const at = chainOrder(this.state.slot, this.#txIndex, index);
    pool.trades.push({ atMs: this.state.atMs, at, side, tokens, lovelace, before, after });
    const amounts = { tokens: String(tokens), lovelace: String(lovelace) };
    this.#note({ tx: this.#tx, kind: 'filled', at, token, order, side, ...amounts, after });
  }

  /** From the cap on, the executor does this before anything else. */
  #graduate(pool: ModelPool): boolean {
    if (pool.venue === 'AMM' || pool.x < THRESHOLD) return false;
    this.#spend(pool.ref);
    pool.venue = 'AMM';
    pool.graduatedMs = this.state.atMs;
    this.#note({ tx: this.#tx, kind: 'graduated', token: pool.token });
    this.#movePool(pool);
    return true;
  }

  #collect(pool: ModelPool): void {
    if (pool.owed === 0n) return;
    this.#spend(pool.ref);
    const lovelace = String(pool.owed);
    pool.owed = 0n;
    this.#note({ tx: this.#tx, kind: 'collected', token: pool.token, lovelace });
    this.#movePool(pool);
  }

  #movePool(pool: ModelPool): void {
    const ref = `${this.#tx}:${this.#index}`;
    pool.ref = ref;
    pool.movedMs = this.state.atMs;
    const { token, nft } = pool;
    this.#note({ tx: this.#tx, kind: 'moved', token, ref, to: reservesOf(pool) });
    this.#make(pool.venue, { [nft]: 1n, [token]: pool.y });
  }

  #close(how: 'refund' | 'cancel', index: number): void {
    const open = [...this.state.orders.values()].filter(({ state }) => state === 'open');
    const order = pick(open, index);
    if (order === undefined) return;
    this.#spend(order.ref);
    const state = how === 'refund' ? 'refunded' : 'cancelled';
    order.state = state;
    this.#note({ tx: this.#tx, kind: state, order: order.ref });
    if (order.side === 'sell') this.#pay(order.user, order.token, order.amount);
  }

  #give(how: 'lock' | 'transfer', { token }: ModelPool, from: number, to: number): void {
    const amount = this.#take(from, token);
    if (amount === 0n) return;
    if (how === 'transfer') {
      this.#pay(to, token, amount - amount / 2n);
      this.#pay(from, token, amount / 2n);
      return;
    }
    const [ref, owner] = [`${this.#tx}:0`, ownerOf(to)];
    this.state.locks.set(ref, { ref, token, amount, owner, withdrawnBy: null });
    const until = { unlockMs: '1893456000000', owner, ownerAddress: addressOf(to) };
    const lock = { ref, token, amount: String(amount), ...until };
    this.#note({ tx: this.#tx, kind: 'locked', lock });
    this.#make('locks', { [token]: amount });
  }

  #withdraw({ index, giver }: Action & { readonly do: 'withdraw' }): void {
    const unspent = [...this.state.locks.values()].filter((lock) => lock.withdrawnBy === null);
    const lock = pick(unspent, index);
    if (lock === undefined) return;
    const given = giver === undefined ? 0n : this.#take(giver, lock.token);
    this.#spend(lock.ref);
    lock.withdrawnBy = this.#tx;
    this.#note({ tx: this.#tx, kind: 'withdrawn', lock: lock.ref });
    const users = Array.from({ length: USERS }, (_, user) => user);
    const owner = users.find((user) => ownerOf(user) === lock.owner) ?? 0;
    this.#pay(index % 3 === 0 ? owner : index % USERS, lock.token, lock.amount);
    if (giver !== undefined) this.#pay((giver + 1) % USERS, lock.token, given);
  }

  /** Spends all outputs of a user that hold the token; what they held. */
  #take(user: number, token: string): bigint {
    let sum = 0n;
    for (const [ref, { address, assets }] of [...this.state.outputs]) {
      if (address !== addressOf(user) || assets[token] === undefined) continue;
      sum += BigInt(assets[token]);
      this.#spend(ref);
    }
    return sum;
  }

  #pay(user: number, token: string, amount: bigint): void {
    if (amount > 0n) this.#make(addressOf(user), { [token]: amount });
  }

  #make(address: string, held: Readonly<Record<string, bigint>>): void {
    const ref = `${this.#tx}:${this.#index}`;
    this.#index += 1;
    const amounts = Object.entries(held).map(([asset, amount]) => [asset, String(amount)]);
    const assets: Record<string, string> = Object.fromEntries(amounts);
    this.state.outputs.set(ref, { address, assets });
    const rest = { ...whoseIs(address), lovelace: '2000000', assets, datum: null };
    this.#note({ tx: this.#tx, kind: 'made', ref, address, ...rest });
  }

  #spend(ref: string): void {
    this.state.outputs.delete(ref);
    this.#note({ tx: this.#tx, kind: 'spent', ref });
  }

  #note(event: MarketEvent): void {
    this.#events.push(event);
    this.counts.set(event.kind, (this.counts.get(event.kind) ?? 0) + 1);
  }
}
