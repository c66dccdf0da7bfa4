/** Adapters over Ogmios for tests: short waits, and an observer that remembers. */

import type { OgmiosObserver } from '../../../src/chain/ogmios/observer.ts';
import { OgmiosChain, type OgmiosOptions } from '../../../src/chain/ogmios/ogmios.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import type { Scope } from '../../support/server.ts';

export interface Told extends OgmiosObserver {
  readonly connected: string[];
  /** `<connection> <cause>`. */
  readonly lost: string[];
  readonly messages: string[];
  readonly passed: string[];
  readonly failures: unknown[];
}

export function remembering(): Told {
  const told = { connected: [], lost: [], messages: [], passed: [], failures: [] } as Pick<
    Told,
    'connected' | 'lost' | 'messages' | 'passed' | 'failures'
  >;
  return {
    ...told,
    nodeConnected: (connection) => told.connected.push(connection),
    nodeLost(connection, cause, message) {
      told.lost.push(`${connection} ${cause}`);
      told.messages.push(message);
    },
    partPassedOver: (part) => told.passed.push(part),
    ogmiosFailed: (error) => told.failures.push(error),
  };
}

export const SHORT: OgmiosOptions['limits'] = {
  answerMs: 10_000,
  quietMs: 10_000,
  retry: { firstMs: 5, maxMs: 100 },
  returnMs: 200,
};

/** The other options of an adapter, with no filter for transactions. */
export const QUIET: Omit<OgmiosOptions, 'url' | 'observer'> = {
  deployment: null,
  watched: () => ({ tokens: [], watched: [] }),
  clock: systemClock,
  rng: seededRng(7),
};

/** Started; stops with the test. */
export async function startOgmios(
  scope: Scope,
  url: string,
  { limits, ...options }: Partial<OgmiosOptions> = {},
): Promise<OgmiosChain> {
  const chain = new OgmiosChain({
    ...QUIET,
    url,
    observer: remembering(),
    ...options,
    limits: { ...SHORT, ...limits },
  });
  scope.after(() => chain.stop());
  await chain.start();
  return chain;
}
