/** Holds the lease of a market, so that no node can lead. */
import { Bucket } from '../../src/cluster/nats/bucket.ts';
import type { NatsLink } from '../../src/cluster/nats/connection.ts';
import type { Scope } from '../support/server.ts';

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
  await put();
  const timer = setInterval(() => void put(), leaseMs / 5);
  scope.after(() => clearInterval(timer));
  return async () => {
    clearInterval(timer);
    await bucket.remove('leader');
  };
}
