/** The log of several nodes: the contract, on a real nats-server. */
import { after } from 'node:test';
import { logContract } from '../../contracts/log.ts';
import { marketName, NatsServer, openLog } from '../../support/nats.ts';

const server = await NatsServer.start({ after });
const link = await server.connect({ after });
const rival = await server.connect({ after });

logContract('jetstream log', (scope) => {
  const name = marketName();
  return {
    open: () => openLog(scope, link, name),
    peer: () => openLog(scope, rival, name),
  };
});
