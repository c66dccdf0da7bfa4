/** The contract of NATS on the model of it, in virtual time. */
import assert from 'node:assert/strict';
import { connectNats } from '../../src/cluster/nats/connection.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { natsContract } from '../contracts/nats.ts';
import { VirtualTime } from './machine/virtualTime.ts';
import { NatsModel } from './nats/model.ts';

/** More than any test needs. */
const MOST_MS = 600_000;

const KINDS = [
  { version: '2.9', servers: 1 },
  { version: '2.9', servers: 3 },
  { version: '2.12', servers: 1 },
  { version: '2.12', servers: 3 },
] as const;

for (const { version, servers } of KINDS) {
  const time = new VirtualTime();
  const rng = seededRng(1);
  const inside = time.clock({}, time.process('nats'));
  const model = new NatsModel({ clock: inside, rng, version, servers });
  const clock = time.clock({}, time.process('node'));
  natsContract(`model of ${servers} of ${version}`, {
    version,
    replicas: servers,
    clock,
    async connect() {
      const settings = { url: 'nats://model', name: 'test' };
      const link = await connectNats(settings, rng, model.dialer('test', clock));
      assert.ok(!(link instanceof Failure));
      return link;
    },
    run: (work) => {
      const uninstall = time.install(rng);
      return time.settle(work(), MOST_MS).finally(uninstall);
    },
  });
}
