/** The example of docs/simulator.md: what its text promises, in virtual time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { VirtualTime } from '../machine/virtualTime.ts';
import { NatsModel } from '../nats/model.ts';
import { STREAM, sell } from './shop.ts';

const ORDERS = 40;
const SEEDS = 20;
const MAX_MS = 300_000;

/** The content of the stream in the end. The same for each run of a seed. */
async function ordersOf(seed: number, isNamed: boolean): Promise<string[]> {
  const time = new VirtualTime();
  const rng = seededRng(seed);
  const uninstall = time.install(rng);
  try {
    const clock = time.clock({}, time.process('NATS'));
    const nats = new NatsModel({ clock, rng, servers: 3, version: '2.12' });
    const stored: string[] = [];
    // A new leader of the stream may store an unapplied message once more.
    nats.onStored = ({ stream, seq, text }) => {
      if (stream === STREAM) stored.splice(seq - 1, stored.length, text);
    };

    const shop = time.process('shop');
    const connect = nats.dialer('shop', time.clock({}, shop));
    const sold = Promise.withResolvers<void>();
    time.at(shop, 0, () => {
      sell({ connect, orders: ORDERS, isNamed }).then(sold.resolve, sold.reject);
    });

    const faults = time.process('faults');
    const cutMs = rng.unit() * 300;
    time.at(faults, cutMs, () => nats.partition('shop', 'in'));
    time.at(faults, cutMs + 8_000, () => nats.heal('shop'));
    time.at(faults, cutMs + 8_100, () => nats.killServer(0));
    time.at(faults, cutMs + 20_000, () => nats.startServer(0));

    await time.settle(sold.promise, MAX_MS);
    return stored;
  } finally {
    uninstall();
  }
}

const ALL = Array.from({ length: ORDERS }, (_, at) => `order ${at + 1}`);

test('a shop that names its messages sells each order once, in every run', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    assert.deepEqual(await ordersOf(seed, true), ALL, `seed ${seed}`);
  }
});

test('some seed shows that a shop which does not name them sells an order twice', async () => {
  const twice: number[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const stored = await ordersOf(seed, false);
    assert.deepEqual(new Set(stored), new Set(ALL), `seed ${seed}`);
    if (stored.length > ORDERS) twice.push(seed);
  }
  assert.notDeepEqual(twice, []);
  const [seed = 0] = twice;
  assert.deepEqual(await ordersOf(seed, false), await ordersOf(seed, false));
});
