/** A token with more orders, trades and holders than anybody is given at once. */
import { type Client, Key, newSecret } from '../../src/client/index.ts';
import type { DevnetWorld } from '../e2e/devnet/world.ts';
import { untilAsked } from '../support/until.ts';
import { Person } from './person.ts';

const DEADLINE_MS = 60_000;
const OUTPUTS = 26;
const ROUNDS = 4;

interface ManyOrders {
  readonly person: Person;
  readonly assetId: string;
  /** Ids of all orders, in the order in which they were sent. */
  readonly ids: string[];
  buy(): Promise<void>;
  /** Mines until all are in blocks. */
  placed(): Promise<void>;
  /** As `placed`, and filled. */
  filled(): Promise<void>;
  /** Gives some tokens to this many new keys. */
  share(holders: number): Promise<void>;
}

/** 101 of them, in a few blocks. */
export async function manyOrders(world: DevnetWorld, client: Client): Promise<ManyOrders> {
  const person = new Person(client);
  await person.fund(60, OUTPUTS, () => world.mine());
  const assetId = await person.launch('Rocket', 20);
  await world.mine();
  const ids: string[] = [];
  const mineUntil = (what: string, ask: () => Promise<number>) => {
    const counted = async () => {
      await world.mine();
      return ask();
    };
    return untilAsked(what, counted, (count) => count >= ids.length, DEADLINE_MS);
  };
  const many: ManyOrders = {
    ...{ person, assetId, ids },
    async buy() {
      const request = { assetId, side: 'BUY', amount: '4000000', slippage: 'infinity' } as const;
      ids.push(await person.order(request));
    },
    async placed() {
      const count = async () => (await client.orders.feed({ asset: assetId })).data.ledger.count;
      await mineUntil('all orders are in blocks', count);
    },
    async filled() {
      const list = { asset: assetId, limit: 500 };
      // The launch was the first trade.
      const count = async () => (await client.trades.list(list)).data.length - 1;
      await mineUntil('all orders are filled', count);
    },
    async share(holders) {
      for (let given = 0; given < holders; given += 1) {
        const { data } = await client.build.transfer({
          changeAddress: person.address,
          distAddress: new Key(newSecret()).address('testnet'),
          transferAssets: { lovelace: '2000000', assets: [{ unit: assetId, amount: '1000' }] },
        });
        await person.send(data.cbor);
      }
      await world.mine();
    },
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let made = 0; made < OUTPUTS - 1; made += 1) await many.buy();
    await world.mine();
  }
  await many.buy();
  await many.placed();
  return many;
}
