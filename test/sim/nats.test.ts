/** The contract of NATS on the model of it, in virtual time. */
import assert from 'node:assert/strict';
import { connectNats, type NatsLink } from '../../src/cluster/nats/connection.ts';
import type { Clock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { natsContract } from '../contracts/nats.ts';
import type { ServerControl } from '../contracts/natsRing.ts';
import { VirtualTime } from './machine/virtualTime.ts';
import { NatsModel } from './nats/model.ts';

/** More than any test needs. */
const MAX_MS = 600_000;

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
  const little = () => new NatsModel({ clock: inside, rng, version, servers, roomBytes: 80_000 });
  natsContract(`model of ${servers} of ${version}`, {
    version,
    replicas: servers,
    clock,
    connect: () => connectTo(model, clock),
    control: controlOf(model, clock, little),
    run: (work) => {
      const uninstall = time.install(rng);
      return time.settle(work(), MAX_MS).finally(uninstall);
    },
  });
}

async function connectTo(model: NatsModel, clock: Clock, server?: number): Promise<NatsLink> {
  const settings = { url: 'nats://model', name: 'test' };
  const { rng } = model.network;
  const link = await connectNats(settings, rng, model.dialer('test', clock, server));
  assert.ok(!(link instanceof Failure));
  return link;
}

function controlOf(model: NatsModel, clock: Clock, little: () => NatsModel): ServerControl {
  const names = model.servers.map(({ place }) => place);
  const at = (name: string) => names.indexOf(name);
  const ended = new Map<string, 'killed' | 'stopped'>();
  const end = async (name: string, how: 'killed' | 'stopped') => {
    ended.set(name, how);
    model.killServer(at(name));
  };
  return {
    names,
    connect: (_, name) => connectTo(model, clock, at(name)),
    kill: (name) => end(name, 'killed'),
    stop: (name) => end(name, 'stopped'),
    start: async (name) => model.startServer(at(name)),
    async copyDisk(name) {
      const putBack = model.copyDisk(at(name));
      return async () => putBack();
    },
    async flipBit(name, stream, text) {
      for (let seq = 1; seq <= model.lastSeq(stream); seq += 1) {
        if (model.textAt(stream, seq, at(name)) !== text) continue;
        model.flipBit(stream, seq, at(name), ended.get(name) ?? 'killed');
      }
    },
    async crowded() {
      const crowded = little();
      return {
        connect: () => connectTo(crowded, clock),
        enlarge: async () => crowded.fillStorage(false),
      };
    },
  };
}
