/** When a market is at rest, by the model's arithmetic: no order can fill or is due. */
import assert from 'node:assert/strict';
import { untilAsked } from '../../support/until.ts';
import type { DevnetWorld } from '../devnet/world.ts';
import { type NaiveMarket, naiveMarket } from './model.ts';
import type { Order } from './modelChain.ts';
import { minPartOutput } from './modelOrders.ts';
import { afterSell, buyable } from './modelVenue.ts';

/** Looks without a block; the executor may wait for another block. */
const LOOKS_A_BLOCK = 50;

/**
 * Blocks until the executor has nothing to do, and answers the market as it is then. Blocks only
 * for pending transactions: each is a second of market time, and open orders must not expire.
 */
export async function settle(world: DevnetWorld): Promise<NaiveMarket> {
  const { deployment } = world.kit.txContext;
  const read = async () => naiveMarket(await world.blocks(), deployment);
  await world.mine();
  let market = await read();
  let looks = 0;
  await untilAsked(
    'the market is at rest',
    async () => {
      const waits = await waiting(world);
      const left = [...unfinished(market), ...waits];
      looks += 1;
      if (waits.length > 0 || (left.length > 0 && looks % LOOKS_A_BLOCK === 0)) {
        await world.mine();
        market = await read();
      }
      return left;
    },
    (left) => left.length === 0,
  );
  return market;
}

/** Work that the executor has not done yet, to explain a failure. */
function unfinished(market: NaiveMarket): string[] {
  const { chain, pools, tokens, marketMs } = market;
  const { thresholdLovelace, fees } = chain.deployment;
  const due = tokens.filter((token) => {
    const { venue, x, owed } = pools.now(token);
    return venue === 'CURVE' ? x >= thresholdLovelace : owed >= fees.collectFromLovelace;
  });
  const orders = chain.orders.filter(({ closed }) => closed === null);
  const open = orders.filter(
    (order) => isFillable(market, order) || Number(order.datum.refundAfterMs) <= marketMs,
  );
  return [...due, ...open.map(({ ref }) => ref)];
}

/** A graduating buy that would pass the cap too far counts as fillable; no test places one. */
function isFillable({ chain, pools }: NaiveMarket, order: Order): boolean {
  const { isBuy, amount, token } = order;
  const now = pools.now(token);
  const output = isBuy
    ? buyable(chain.deployment, now, amount)
    : afterSell(chain.deployment, now, amount).paid;
  return output >= minPartOutput(order);
}

/** Ids of transactions in the mempool. */
async function waiting({ chain, tip }: DevnetWorld): Promise<string[]> {
  assert(tip !== null);
  const stream = await chain.open([tip]);
  assert(stream !== null);
  for (;;) {
    const event = await stream.next();
    if (event?.kind !== 'mempool') continue;
    await stream.close();
    return event.added.map(({ id }) => id);
  }
}
