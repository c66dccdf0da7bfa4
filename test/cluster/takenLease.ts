/** Holds the lease of a market, so that no node can lead. */
import { Bucket } from '../../src/cluster/nats/bucket.ts';
import type { NatsLink } from '../../src/cluster/nats/connection.ts';
import type { Scope } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';

/** Answers a function that releases it. */
export async function occupyLease(
  scope: Scope,
  link: NatsLink,
  market: string,
  leaseMs: number,
): Promise<() => Promise<void>> {
  const bucket = new Bucket(
    link,
    { name: `${market}-nodes`, replicas: 1, ttlMs: leaseMs },
    leaseMs,
  );
  const put = () => bucket.put('leader', JSON.stringify({ node: 'occupier', subject: '-' }));
  // A write that NATS did not answer within the lease has not taken it.
  await untilAsked('the lease is taken', put, ({ write }) => write === 'done');
  const timer = setInterval(() => void put(), leaseMs / 5);
  scope.after(() => clearInterval(timer));
  return async () => {
    clearInterval(timer);
    await bucket.remove('leader');
  };
}
