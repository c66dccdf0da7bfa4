/** ACK=memory: a crash may lose trades that clients saw, so it begins a new epoch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHealth } from '../support/chart.ts';
import { linesOf, xrpTrades } from '../support/feeds.ts';
import { feedFile, startServer, temporaryDirectory } from '../support/server.ts';

test('after kill -9 a node that acknowledged from memory serves another epoch', async (t) => {
  const directory = temporaryDirectory();
  const file = feedFile(directory, 'xrp.ndjson', linesOf(xrpTrades().slice(0, 200)));
  const env = { DATA_DIR: `${directory}/data`, ACK: 'memory' };
  const epochOf = async (end: 'stop' | 'kill', ack: string) => {
    const server = await startServer(t, ['replay', file], { ...env, ACK: ack });
    await server.fed();
    const { epoch } = await readHealth(server.url);
    await (end === 'stop' ? server.stop() : server.program.kill());
    return epoch;
  };
  const first = await epochOf('stop', 'memory');
  assert.equal(await epochOf('kill', 'memory'), first, 'a stop writes everything');
  const second = await epochOf('kill', 'memory');
  assert.notEqual(second, first);
  const third = await epochOf('stop', 'disk');
  assert.notEqual(third, second, 'whatever ACK is then');
  assert.equal(await epochOf('stop', 'disk'), third);
});
