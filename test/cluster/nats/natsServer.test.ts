/**
 * The contract of NATS on the nats-server of the PATH, and on a second one where NATS_SERVER_NEXT
 * names it. It says what 2.9 and 2.12 do; a version between them is tried by nothing here.
 */
import { after, test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { natsContract } from '../../contracts/nats.ts';
import { NatsServer, natsPrograms } from '../../support/nats.ts';
import { controlOf } from '../../support/natsControl.ts';
import type { Scope } from '../../support/server.ts';

const common = {
  replicas: 1 as const,
  clock: systemClock,
  run: (work: () => Promise<void>) => work(),
};

for (const { program, version } of natsPrograms()) {
  if (version !== '2.9' && version !== '2.12') {
    test('the contract of NATS', { skip: `${program} is neither 2.9 nor 2.12` }, () => {});
    continue;
  }
  const server = await NatsServer.start({ after }, [], undefined, program);
  const connect = (scope: Scope) => server.connect(scope);
  const control = controlOf([server], { after }, program);
  natsContract(`nats-server ${version}`, { ...common, version, connect, control });
}
