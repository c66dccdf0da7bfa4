/** The contract of NATS, on a real nats-server and on the model of it. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { connectNats } from '../../../src/cluster/nats/connection.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { natsContract } from '../../contracts/nats.ts';
import { NatsModel } from '../../sim/nats/model.ts';
import { NatsServer } from '../../support/nats.ts';

const server = await NatsServer.start({ after });
natsContract('nats-server', { connect: (scope) => server.connect(scope) });

const rng = seededRng(1);
const model = new NatsModel({ clock: systemClock, rng });
natsContract('model', {
  async connect(scope) {
    const settings = { url: 'nats://model', name: 'test' };
    const link = await connectNats(settings, rng, model.dialer('test'));
    assert.ok(!(link instanceof Failure));
    scope.after(() => link.close());
    return link;
  },
});
