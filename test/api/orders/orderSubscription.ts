/** One subscription to orders as a foreign client keeps it, to be compared with HTTP. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../../e2e/devnet/world.ts';
import type { Position } from '../../support/chart.ts';
import type { Scope } from '../../support/server.ts';
import { recordOf } from '../../support/subscription.ts';
import { OrderClient } from '../../support/topicClients.ts';
import { untilAsked } from '../../support/until.ts';
import { Listener } from '../marketApi.ts';

export interface OrderSubscribeParams {
  readonly topic: string;
  readonly data: object;
  readonly path: string;
  readonly body: unknown;
  readonly maxHz?: number;
}

/** Where a market is served. */
export interface Stand {
  readonly port: number;
  post(path: string, body: unknown): Promise<Answer>;
}

export class OrderSubscription {
  readonly params: OrderSubscribeParams;
  readonly client: OrderClient;
  /** The changes heard of each order, in order of arrival: its status, or `removed`. */
  readonly told = new Map<string, string[]>();
  /** `[fromSlot, toSlot]` of each roll-back that was told. */
  readonly revised: [unknown, unknown][] = [];
  snapshots = 0;
  own: Position | null = null;
  #listener: Listener | null = null;
  #heard = 0;

  constructor(params: OrderSubscribeParams, knowsRevised: boolean) {
    this.params = params;
    this.client = new OrderClient(knowsRevised);
  }

  /** With `since` where it stands. */
  async connect(scope: Scope, world: Stand): Promise<void> {
    const { topic, data, maxHz } = this.params;
    const since = this.own === null ? {} : { since: this.own };
    const more = { ...since, ...(maxHz === undefined ? {} : { maxHz }) };
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

  /** Waits until the copy equals the answer of HTTP. */
  async untilSame(world: Stand): Promise<void> {
    const { path, body, topic } = this.params;
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
