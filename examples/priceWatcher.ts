/**
 * Watches the price of a token: `node examples/priceWatcher.ts [url] [asset id] [how many changes]`.
 * Without an asset id it is the token on top. Outside this repository import 'upcurve/client'.
 */
import { Client } from '../src/client/index.ts';

const [url = 'http://127.0.0.1:8080', wanted, most = 'Infinity'] = process.argv.slice(2);
const client = new Client({ url });
client.connection.onNotice(({ reason, topic }) =>
  console.log(`  ${topic} was resynced: ${reason}`),
);

const base = wanted || (await client.pools.top()).data.info.asset;
const { name, ticker } = (await client.pools.assetInfo(base)).data;
console.log(`${name} (${ticker}), in ADA, minute by minute:`);

// An outage, another node, a rollback: the loop continues with the right bars.
let left = Number(most);
for await (const { bars } of client.bars({ base, quote: '.' }, 'min1')) {
  const bar = bars.at(-1);
  if (bar === undefined) continue;
  const time = new Date(bar.time * 1000).toISOString().slice(11, 16);
  const state = client.connection.state.is === 'open' ? '' : ` (${client.connection.state.is})`;
  console.log(
    `${time}  ${bar.close}  low ${bar.low}  high ${bar.high}  ${bar.trades} trades${state}`,
  );
  left -= 1;
  if (left <= 0) break;
}
client.close();
