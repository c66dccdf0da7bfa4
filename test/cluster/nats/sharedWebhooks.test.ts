import { after } from 'node:test';
import { SharedWebhooks } from '../../../src/api/webhooks/sharedStore.ts';
import { Bucket } from '../../../src/cluster/nats/bucket.ts';
import { webhooksContract } from '../../contracts/webhooks.ts';
import { NatsServer, PATIENT_MS } from '../../support/nats.ts';

const server = await NatsServer.start({ after });
let made = 0;

webhooksContract('NATS', async (scope) => {
  made += 1;
  const shape = { name: `market${made}-webhooks`, replicas: 1, ttlMs: 0 };
  return {
    open: async () => {
      const link = await server.connect(scope);
      return new SharedWebhooks(new Bucket(link, shape, PATIENT_MS));
    },
  };
});
