/**
 * The program of docs/simulator.md: a shop whose orders go into a stream, each once. It has no code
 * for a simulation, and uses timers as any program does.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';

export const STREAM = 'ORDERS';
const ANSWER_MS = 1_000;
const RETRY_MS = 200;

interface ShopOptions {
  readonly connect: (options: ConnectionOptions) => Promise<NatsConnection>;
  readonly orders: number;
  /** false: an order that had no answer is sent again as a new message. */
  readonly isNamed: boolean;
}

/** Resolves when each order was acknowledged. */
export async function sell({ connect, orders, isNamed }: ShopOptions): Promise<void> {
  const connection = await connect({ name: 'shop', maxReconnectAttempts: -1, pingInterval: 2_000 });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: STREAM, subjects: ['orders'], num_replicas: 3 });
  const client = jetstream(connection, { timeout: ANSWER_MS });
  for (let order = 1; order <= orders; order += 1) {
    const options = isNamed ? { msgID: `order ${order}` } : {};
    while (!(await isStored(() => client.publish('orders', `order ${order}`, options)))) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  await connection.close();
}

/** No answer, and an answer that no server leads the stream, are both: again. */
async function isStored(publish: () => Promise<unknown>): Promise<boolean> {
  try {
    await publish();
    return true;
  } catch {
    return false;
  }
}
