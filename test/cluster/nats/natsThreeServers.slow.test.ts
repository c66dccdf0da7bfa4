/** The contract of NATS on three servers; see natsServer.test.ts. */
import { after, test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { natsContract } from '../../contracts/nats.ts';
import { natsPrograms, startNatsCluster } from '../../support/nats.ts';
import { controlOf } from '../../support/natsControl.ts';
import type { Scope } from '../../support/server.ts';

for (const { program, version } of natsPrograms()) {
  if (version !== '2.9' && version !== '2.12') {
    test('the contract of NATS', { skip: `${program} is neither 2.9 nor 2.12` }, () => {});
    continue;
  }
  const servers = await startNatsCluster({ after }, program);
  let turn = 0;
  natsContract(`three of nats-server ${version}`, {
    version,
    replicas: 3,
    clock: systemClock,
    run: (work) => work(),
    control: controlOf(servers, { after }, program),
    connect(scope: Scope) {
      turn += 1;
      const server = servers[turn % servers.length] ?? servers[0];
      if (server === undefined) throw new Error('there is no server');
      return server.connect(scope);
    },
  });
}
