/** A fake Ogmios for one test, its messages checked against the schema, and official clients. */
import assert from 'node:assert/strict';
import {
  createChainSynchronizationClient,
  createConnectionObject,
  createInteractionContext,
  type InteractionContext,
} from '@cardano-ogmios/client';
import type { Scope } from '../server.ts';
import { until } from '../until.ts';
import { schemaCheck } from './schema.ts';
import { FakeOgmios, type FakeOgmiosOptions } from './server.ts';

/** Hears every message; fails the test at its end when one was not as the schema says. */
export function checkedMessages(scope: Scope): (text: string) => void {
  const check = schemaCheck();
  const faults: string[] = [];
  scope.after(() => assert.deepEqual(faults, []));
  return (text) => {
    const fault = check(text);
    if (fault !== null) faults.push(fault);
  };
}

export async function startFakeOgmios(
  scope: Scope,
  options: FakeOgmiosOptions = {},
): Promise<FakeOgmios> {
  const ogmios = new FakeOgmios({ sent: checkedMessages(scope), ...options });
  await ogmios.start();
  scope.after(() => ogmios.stop());
  return ogmios;
}

/** A connection of the official client, which ends with the fake; then `ended` is called. */
export async function connect(
  { port }: { readonly port: number },
  ended: () => void = () => {},
): Promise<InteractionContext> {
  return createInteractionContext(() => {}, ended, {
    connection: { host: '127.0.0.1', port },
    maxEventListeners: 1_000,
  });
}

export function connectionOf({ port }: { readonly port: number }) {
  return createConnectionObject({ host: '127.0.0.1', port });
}

/**
 * The messages of a chain-sync client, shortened: `+id` for a block, `-id` or `-origin` for back.
 */
export class Follower {
  readonly told: string[] = [];
  readonly blocks: unknown[] = [];
  readonly tips: unknown[] = [];
  ended = 0;
  #client: Awaited<ReturnType<typeof createChainSynchronizationClient>> | null = null;

  async start(
    ogmios: { readonly port: number },
    points: Parameters<typeof this.resume>[0] = ['origin'],
    inFlight = 10,
  ): Promise<void> {
    const context = await connect(ogmios, () => {
      this.ended += 1;
    });
    this.#client = await createChainSynchronizationClient(context, {
      rollForward: async ({ block, tip }, next) => {
        this.told.push(`+${block.id}`);
        this.blocks.push(block);
        this.tips.push(tip);
        next();
      },
      rollBackward: async ({ point, tip }, next) => {
        this.told.push(point === 'origin' ? '-origin' : `-${point.id}`);
        this.tips.push(tip);
        next();
      },
    });
    await this.resume(points, inFlight);
  }

  async resume(points: ('origin' | { slot: number; id: string })[], inFlight: number) {
    assert.ok(this.#client, 'it is connected');
    return this.#client.resume(points, inFlight);
  }

  /** Waits until the newest message is this one. */
  async saw(newest: string): Promise<void> {
    await until(
      () => `${newest} arrives after ${this.told.slice(-3)}`,
      () => this.told.at(-1) === newest,
    );
  }
}
