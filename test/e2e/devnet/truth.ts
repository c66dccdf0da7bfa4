/**
 * The right state of a market, from an app that never saw a rollback: a second app over a copy of
 * the chain's file alone, whose log begins with the chain's first block.
 */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { INTERVALS } from '../../support/model.ts';
import type { Scope } from '../../support/server.ts';
import { DevnetWorld } from './world.ts';

/** Tables whose rows describe the market; seqs and bars of the log are its own affair. */
const COMPARED = [
  ...(['pools', 'orders', 'open_orders', 'outputs', 'locks'] as const),
  ...(['holdings', 'holders', 'balances', 'traders', 'counts'] as const),
];
const LISTS = ['New', 'Latest', 'MCapDesc', 'CompletedCreateOn', 'CompletedMCap', 'Trending'];
const ALL_TIME = 'from=0&to=253402300799';

export type Seen = ReadonlyMap<string, unknown>;

/** The whole market, as HTTP and its rows show it. */
export async function seen(world: DevnetWorld, tokens: readonly string[]): Promise<Seen> {
  const found = new Map<string, unknown>();
  const paths = [
    ...LISTS.map((filter) => `/v1/pools-main-page/initial/state?filter=${filter}`),
    ...tokens.flatMap((token) => [
      `/v1/pools-feed/initial/state?asset=${token}`,
      `/v1/tokens/insights?asset=${token}`,
      `/v1/tokens/traders?asset=${token}&sort=realized`,
      ...INTERVALS.flatMap((interval) =>
        ['', '/mcap'].flatMap((kind) => {
          const pair = `base=${token}&quote=.&resolution=${interval}`;
          return [
            `/v1/charts${kind}/history?${pair}&${ALL_TIME}`,
            `/v1/charts${kind}/initial-state?${pair}`,
          ];
        }),
      ),
    ]),
  ];
  for (const path of paths) {
    const { status, body } = await world.get(path);
    assert(status === 200 || status === 404, `${path}: ${status}`);
    found.set(path, body);
  }
  for (const table of COMPARED) found.set(table, world.rows(table));
  return found;
}

export function assertSeen(found: Seen, expected: Seen, what: string): void {
  for (const [name, value] of expected) {
    assert.deepEqual(found.get(name), value, `${what}: ${name}`);
  }
}

/** Another app over the same chain, with a new log. The first has stopped. */
export async function retold(scope: Scope, world: DevnetWorld, directory: string) {
  assert(world.app.stopped);
  for (const name of ['devnet', 'keys.json']) {
    cpSync(join(world.directory, name), join(directory, name), { recursive: true });
  }
  return DevnetWorld.start(scope, { directory, devnet: world.devnet });
}
