/** The contract of NATS on a real nats-server; on a second one where NATS_SERVER_NEXT names it. */
import { after } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { natsContract } from '../../contracts/nats.ts';
import { NatsServer } from '../../support/nats.ts';

const common = { clock: systemClock, run: (work: () => Promise<void>) => work() };

const server = await NatsServer.start({ after });
natsContract('nats-server 2.9', {
  ...common,
  version: '2.9',
  connect: (scope) => server.connect(scope),
});

const { NATS_SERVER_NEXT: program } = process.env;
if (program !== undefined) {
  const next = await NatsServer.start({ after }, [], undefined, program);
  natsContract('nats-server 2.12', {
    ...common,
    version: '2.12',
    connect: (scope) => next.connect(scope),
  });
}
