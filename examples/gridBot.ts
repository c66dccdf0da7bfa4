/**
 * A grid bot for the devnet: buys a slice each time the price has fallen by a step, sells one each
 * time it has risen by one. `node examples/gridBot.ts [url] [asset id] [fills] [step in percent]`.
 * A toy: it holds at most MAX_SLICES slices and stops after so many fills.
 */
import { ApiError, Client, KeyWallet, newSecret, TradingClient } from '../src/client/index.ts';

const SLICE_LOVELACE = 10_000_000n;
const MAX_SLICES = 5;

const [url = 'http://127.0.0.1:8080', wanted, fills = '20', step = '1'] = process.argv.slice(2);
const client = new Client({ url });
const wallet = new KeyWallet({ payment: newSecret(), stake: null }, 'testnet');
const trading = new TradingClient(client, wallet);
await client.devnet.faucet({ address: wallet.address, ada: 1000 });
const assetId = wanted || (await client.pools.top()).data.info.asset;
const mine = client.userOrders(wallet.address, { asset: assetId });
const slices: bigint[] = [];
let left = Number(fills);

/** Checks and signs here, submits, and waits for what becomes of it; what was received, or null. */
async function trade(side: 'BUY' | 'SELL', amount: bigint): Promise<bigint | null> {
  const { id } = await trading.order({ assetId, side, amount, slippage: '15' });
  return await new Promise((resolve) => {
    const look = () => {
      const order = mine.state.ledger.find((each) => each.entityId === id);
      if (order?.status !== 'Evaluated' && order?.status !== 'Refunded') return;
      stop();
      console.log(`${side} ${amount}: ${order.status}, received ${order.toAmount}`);
      resolve(order.status === 'Evaluated' ? BigInt(order.toAmount) : null);
    };
    const stop = mine.onChange(look);
    look();
  });
}

// Prices here are the spot of the pool, which is enough to decide by; amounts are integers.
let last = 0;
for await (const pool of client.pool(assetId)) {
  if (pool === null) continue;
  const price = pool.metrics.marketCap;
  const change = last === 0 ? -Infinity : (100 * (price - last)) / last;
  try {
    if (change <= -Number(step) && slices.length < MAX_SLICES) {
      const bought = await trade('BUY', SLICE_LOVELACE);
      if (bought !== null) slices.push(bought);
    } else if (change >= Number(step) && slices.length > 0) await trade('SELL', slices.pop() ?? 0n);
    else continue;
    [last, left] = [price, left - 1];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.log(`${error.cause}: ${error.message}`);
  }
  if (left <= 0) break;
}
client.close();
