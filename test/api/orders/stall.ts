/** A node with orders and trades in every state, and its API. */
import type { Action } from '../../chain/foldMarket.ts';
import { MempoolMarket } from '../../chain/mempoolMarket.ts';
import type { Scope } from '../../support/server.ts';
import { type MarketApi, openMarketApi } from '../marketApi.ts';

interface Stall {
  readonly api: MarketApi;
  readonly market: MempoolMarket;
  readonly token: string;
}

/** Some 120 orders of four people on two tokens in every state; some wait. */
export async function openStall(scope: Scope): Promise<Stall> {
  const api = await openMarketApi(scope);
  const market = new MempoolMarket(api.world);
  await market.block([
    { do: 'launch', user: 0, buy: 20 },
    { do: 'launch', user: 1, buy: 0 },
  ]);
  for (let round = 0; round < 20; round += 1) {
    const actions = Array.from({ length: 6 }, (_, at): Action => {
      const side = at === 5 ? 'sell' : 'buy';
      return { do: 'place', user: (round + at) % 4, pool: at % 2, side, amount: 3 + at };
    });
    const ends: Action[] = [
      { do: 'execute', pool: round % 2 },
      { do: 'cancel', index: round },
      { do: 'refund', index: round + 3 },
    ];
    await market.block([...actions, ...(round % 3 === 0 ? ends : [])]);
  }
  for (const ends of [0, 2, 1, 3, 7, 9]) {
    await market.perform({ do: 'false', user: ends % 4, pool: ends % 2, ends });
  }
  const [token = ''] = market.maker.state.pools.keys();
  return { api, market, token };
}
