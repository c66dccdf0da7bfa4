/** A foreign EventSource, and kill -9 of the server in a lively market: nothing is missed. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EventSource } from 'eventsource';
import { Client } from '../../src/client/index.ts';
import { startServer, temporaryDirectory } from '../support/server.ts';
import { recordOf } from '../support/subscription.ts';
import { TcpProxy } from '../support/tcpProxy.ts';
import { until, untilAsked } from '../support/until.ts';

const DEADLINE_MS = 60_000;
const LIVELY = { NETWORK: 'devnet', BLOCK_EVERY_MS: '200', TRADERS_PACE: '4' };

/** A reader of trades that follows the README's rules. */
class TradeReader {
  readonly trades = new Map<string, unknown>();
  opened = 0;
  snapshots = 0;
  losses = 0;
  #seq = -1;

  constructor(t: TestContext, url: string) {
    const source = new EventSource(url);
    t.after(() => source.close());
    source.addEventListener('open', () => {
      this.opened += 1;
    });
    source.addEventListener('TradesUpdate', ({ data }) => this.#take(String(data)));
  }

  #take(data: string): void {
    const frame = recordOf(JSON.parse(data));
    const seq = Number(frame.seq);
    if (frame.snapshot === true) {
      this.snapshots += 1;
      this.trades.clear();
    } else if (seq <= this.#seq) return;
    else if (Number(frame.prev) > this.#seq) this.losses += 1;
    this.#seq = seq;
    for (const row of Array.isArray(frame.data) ? frame.data.map(recordOf) : []) {
      if (row.removed === true) this.trades.delete(String(row.id));
      else this.trades.set(String(row.id), row);
    }
  }
}

test('a server is killed and comes back: an EventSource has every trade', async (t) => {
  const env = { ...LIVELY, DATA_DIR: `${temporaryDirectory()}/data` };
  const first = await startServer(t, [], env);
  const address = await TcpProxy.start(t, first.port);
  const client = new Client({ url: address.url });
  t.after(() => client.close());
  const top = client.topPool();
  const isTraded = () => (top.state?.metrics.totalTxCount ?? 0) > 2;
  await until('a token is traded', isTraded, DEADLINE_MS);
  const asset = top.state?.info.asset ?? assert.fail('no asset');
  const sub = JSON.stringify({ topic: 'Trades', data: { asset } });
  const reader = new TradeReader(t, `${address.url}/v1/stream?${new URLSearchParams({ sub })}`);
  await until('the snapshot', () => reader.snapshots === 1, DEADLINE_MS);
  const known = reader.trades.size;
  await until('it moves', () => reader.trades.size > known, DEADLINE_MS);

  await first.program.kill();
  const again = await startServer(t, [], env);
  address.target = again.port;
  await until('it is open again', () => reader.opened === 2, DEADLINE_MS);
  const before = reader.trades.size;
  await until('it moves again', () => reader.trades.size > before, DEADLINE_MS);
  const same = async () => {
    const tape = (await client.trades.list({ asset, limit: 500 })).data;
    const mine = [...reader.trades.values()].map((row) => JSON.stringify(row)).sort();
    return JSON.stringify(mine) === JSON.stringify(tape.map((row) => JSON.stringify(row)).sort());
  };
  await untilAsked('its trades are those of HTTP', same, (isSame) => isSame, DEADLINE_MS);
  assert.deepEqual([reader.snapshots, reader.losses], [1, 0], 'it continued from its last id');
});
