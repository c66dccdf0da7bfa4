/** A wallet's orders and a token's as foreign clients see them: one subscription for each topic. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { Listener } from '../../services/door.ts';
import { OrderClient, TradeClient } from '../../services/orders/orderClient.ts';
import type { Position } from '../../support/chart.ts';
import type { Scope } from '../../support/server.ts';
import { recordOf } from '../../support/subscription.ts';
import { until, untilAsked } from '../../support/until.ts';
import type { DevnetWorld } from './world.ts';

const HISTORY = '/v1/user-history-feed/initial/state';

interface Wish {
  readonly topic: string;
  readonly data: object;
  readonly path: string;
  readonly body: unknown;
}

export class OrderSeat {
  readonly wish: Wish;
  readonly client: OrderClient;
  /** What was told of each order, in order: its status, or `removed`. */
  readonly told = new Map<string, string[]>();
  /** `[fromSlot, toSlot]` of each roll-back that was told. */
  readonly revised: [unknown, unknown][] = [];
  snapshots = 0;
  own: Position | null = null;
  #listener: Listener | null = null;
  #heard = 0;

  constructor(wish: Wish, knowsRevised: boolean) {
    this.wish = wish;
    this.client = new OrderClient(knowsRevised);
  }

  /** With `since` where it stands. */
  async connect(scope: Scope, world: DevnetWorld): Promise<void> {
    const { topic, data } = this.wish;
    const more = this.own === null ? {} : { since: this.own };
    this.#heard = 0;
    this.#listener = await Listener.open(scope, world, topic, data, more);
  }

  close(): void {
    this.hear();
    this.#listener?.close();
  }

  hear(): void {
    const frames = this.#listener?.frames.slice(this.#heard) ?? [];
    this.#heard += frames.length;
    for (const { event, data, epoch, seq, prev, snapshot = false } of frames) {
      assert.notEqual(event, 'Error', JSON.stringify(data));
      if (event === 'Subscribed' || event === 'Resync') continue;
      if (snapshot) this.snapshots += 1;
      else assert(this.own !== null && (prev ?? 0) <= this.own.seq, 'nothing is lost');
      if (event === 'OrdersRevised') {
        const { fromSlot, toSlot } = recordOf(data);
        this.revised.push([fromSlot, toSlot]);
      }
      this.client.hear({ event, data, seq, isSnapshot: snapshot });
      this.own = { epoch, seq };
      this.#note(data);
    }
  }

  #note(data: unknown): void {
    if (data === null) return;
    const { ledger, mempool, removed } = recordOf(data);
    assert(Array.isArray(ledger) && Array.isArray(mempool) && Array.isArray(removed));
    for (const order of [...ledger, ...mempool].map(recordOf)) {
      this.#say(String(order.entityId), String(order.status));
    }
    for (const ref of removed) this.#say(String(ref), 'removed');
  }

  #say(ref: string, what: string): void {
    const said = this.told.get(ref) ?? [];
    if (said.at(-1) !== what) said.push(what);
    this.told.set(ref, said);
  }

  /** What it holds is what HTTP answers. */
  async untilSame(world: DevnetWorld): Promise<void> {
    const { path, body, topic } = this.wish;
    await untilAsked(
      `${topic} is what HTTP says`,
      async () => {
        const answer = await world.post(path, body);
        assert.equal(answer.status, 200, answer.message);
        const { ledger, mempool } = recordOf(answer.body);
        const { count, items } = recordOf(ledger);
        this.hear();
        const own = [this.client.ledger, this.client.mempool, this.client.count];
        const all = [byId(items), byId(mempool), count];
        return isDeepStrictEqual(own, all) ? null : { own: own.map(plain), all: all.map(plain) };
      },
      (difference) => difference === null,
    );
  }
}

function plain(value: unknown): unknown {
  return value instanceof Map ? [...value.values()] : value;
}

function byId(orders: unknown): Map<string, unknown> {
  assert(Array.isArray(orders));
  return new Map(orders.map((order) => [String(recordOf(order).entityId), order]));
}

/** Every topic that shows a wallet's orders of one token. */
export class OrderSeats {
  readonly world: DevnetWorld;
  readonly seats: readonly OrderSeat[];
  readonly trades = new TradeClient();
  readonly token: string;
  book: unknown = null;
  readonly #lists: Listener[] = [];
  readonly #heard: number[] = [0, 0];

  private constructor(world: DevnetWorld, token: string, seats: readonly OrderSeat[]) {
    this.world = world;
    this.token = token;
    this.seats = seats;
  }

  static async take(
    scope: Scope,
    world: DevnetWorld,
    token: string,
    { address, keyHash }: { readonly address: string; readonly keyHash: string },
  ): Promise<OrderSeats> {
    const feed = `/v1/orders-feed/initial/state?asset=${token}`;
    const asset = token;
    const wishes: Wish[] = [
      { topic: 'LiveOrdersFeed', data: { asset, pkhFilter: null }, path: feed, body: null },
      { topic: 'UserHistoryByAddress', data: { address }, path: HISTORY, body: [keyHash] },
      {
        topic: 'UserHistoryByAddressAndAsset',
        data: { address, asset },
        path: `${HISTORY}/by/asset?asset=${token}`,
        body: [keyHash],
      },
    ];
    const seats = wishes.map((wish, at) => new OrderSeat(wish, at !== 0));
    for (const seat of seats) await seat.connect(scope, world);
    const all = new OrderSeats(world, token, seats);
    for (const topic of ['Trades', 'OrderBook']) {
      all.#lists.push(await Listener.open(scope, world, topic, { asset: token }));
    }
    return all;
  }

  get feed(): OrderSeat {
    return this.seats[0] ?? assert.fail();
  }

  /** Every seat was told this status of the order; HTTP says it too. */
  async untilTold(ref: string, status: string): Promise<void> {
    for (const seat of this.seats) {
      await until(
        () => `${seat.wish.topic} tells ${status}: ${seat.told.get(ref)}`,
        () => {
          seat.hear();
          return seat.told.get(ref)?.at(-1) === status;
        },
        20_000,
      );
    }
  }

  async untilSame(): Promise<void> {
    for (const seat of this.seats) await seat.untilSame(this.world);
    await untilAsked(
      'the tape of HTTP',
      async () => (await this.world.get(`/v1/trades?asset=${this.token}`)).body,
      (rows) => {
        this.#hearLists();
        return isDeepStrictEqual(this.trades.rows, rows);
      },
    );
  }

  /** Levels of a side of the book, as it was last told. */
  side(of: 'bids' | 'asks'): unknown[] {
    this.#hearLists();
    const levels = recordOf(this.book)[of];
    assert(Array.isArray(levels));
    return levels;
  }

  #hearLists(): void {
    for (const [at, { frames }] of this.#lists.entries()) {
      const news = frames.slice(this.#heard[at]);
      this.#heard[at] = frames.length;
      for (const { event, data, seq, snapshot = false } of news) {
        if (at === 0) this.trades.hear({ event, data, seq, isSnapshot: snapshot });
        else this.book = data;
      }
    }
  }
}
