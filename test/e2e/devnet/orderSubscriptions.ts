/** A wallet's orders and a token's as foreign clients see them: one subscription for each topic. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { Listener } from '../../api/marketApi.ts';
import {
  type OrderSubscribeParams,
  OrderSubscription,
} from '../../api/orders/orderSubscription.ts';
import type { Scope } from '../../support/server.ts';
import { recordOf } from '../../support/subscription.ts';
import { TradeClient } from '../../support/topicClients.ts';
import { until, untilAsked } from '../../support/until.ts';
import type { DevnetWorld } from './world.ts';

const HISTORY = '/v1/user-history-feed/initial/state';

/** Every topic that shows a wallet's orders of one token. */
export class OrderSubscriptions {
  readonly world: DevnetWorld;
  readonly all: readonly OrderSubscription[];
  readonly trades = new TradeClient();
  readonly token: string;
  book: unknown = null;
  readonly #lists: Listener[] = [];
  readonly #heard: number[] = [0, 0];

  private constructor(world: DevnetWorld, token: string, all: readonly OrderSubscription[]) {
    this.world = world;
    this.token = token;
    this.all = all;
  }

  static async take(
    scope: Scope,
    world: DevnetWorld,
    token: string,
    { address, keyHash }: { readonly address: string; readonly keyHash: string },
  ): Promise<OrderSubscriptions> {
    const feed = `/v1/orders-feed/initial/state?asset=${token}`;
    const asset = token;
    const params: OrderSubscribeParams[] = [
      { topic: 'LiveOrdersFeed', data: { asset, pkhFilter: null }, path: feed, body: null },
      { topic: 'UserHistoryByAddress', data: { address }, path: HISTORY, body: [keyHash] },
      {
        topic: 'UserHistoryByAddressAndAsset',
        data: { address, asset },
        path: `${HISTORY}/by/asset?asset=${token}`,
        body: [keyHash],
      },
    ];
    const all = params.map((each, at) => new OrderSubscription(each, at !== 0));
    for (const subscription of all) await subscription.connect(scope, world);
    const subscriptions = new OrderSubscriptions(world, token, all);
    for (const topic of ['Trades', 'OrderBook']) {
      subscriptions.#lists.push(await Listener.open(scope, world, topic, { asset: token }));
    }
    return subscriptions;
  }

  get feed(): OrderSubscription {
    return this.all[0] ?? assert.fail();
  }

  /** Every subscription was told this status of the order; HTTP says it too. */
  async untilTold(ref: string, status: string): Promise<void> {
    for (const subscription of this.all) {
      await until(
        () => `${subscription.params.topic} tells ${status}: ${subscription.told.get(ref)}`,
        () => {
          subscription.hear();
          return subscription.told.get(ref)?.at(-1) === status;
        },
      );
    }
  }

  async untilSame(): Promise<void> {
    for (const subscription of this.all) await subscription.untilSame(this.world);
    await untilAsked(
      'the tape of HTTP',
      async () => (await this.world.get(`/v1/trades?asset=${this.token}`)).body,
      (rows) => {
        this.#hearLists();
        return isDeepStrictEqual(this.trades.rows, rows);
      },
    );
  }

  /** Worst prices and least amounts of the waiting buys in the last frame. */
  limitBuys(): unknown[] {
    this.#hearLists();
    const { buys } = recordOf(recordOf(this.book).limits);
    assert(Array.isArray(buys));
    return buys;
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
