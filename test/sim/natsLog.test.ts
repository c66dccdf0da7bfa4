/** The contract of the log on the model of NATS: one server or three, of each version. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { ensureLog } from '../../src/cluster/log/jetstream.ts';
import { connectNats } from '../../src/cluster/nats/connection.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { logContract } from '../contracts/log.ts';
import { marketName, openLog } from '../support/nats.ts';
import { NatsModel } from './nats/model.ts';

for (const version of ['2.9', '2.12'] as const) {
  for (const servers of [1, 3] as const) {
    const rng = seededRng(1);
    const latency = { minMs: 0, maxMs: 1 };
    const model = new NatsModel({ clock: systemClock, rng, version, servers, latency });
    const connect = async (node: string) => {
      const link = await connectNats({ url: 'nats://model', name: node }, rng, model.dialer(node));
      assert.ok(!(link instanceof Failure));
      after(() => link.close());
      return link;
    };
    // Its consumers would keep the process alive until they expire.
    after(() => {
      for (const { index } of model.servers) model.killServer(index);
    });
    const [link, rival] = [await connect('node'), await connect('rival')];
    logContract(`log on ${servers} of ${version}`, (scope) => {
      const name = marketName();
      const open = async () => {
        await ensureLog(link, { name, replicas: servers });
        return openLog(scope, link, name);
      };
      return { open, peer: () => openLog(scope, rival, name) };
    });
  }
}
