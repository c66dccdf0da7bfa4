/**
 * `reset`: moves a devnet's chain and the market made from it aside; the next start creates new
 * ones. Keys and wallets stay.
 *
 * Never: deletes data, or moves it while a program uses it. Names have a number because a node
 * deletes an earlier `*.replaced` when it replaces the same file again.
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { readMarket } from '../../engine/fold/marketRecord.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { guardDatabase } from '../../engine/store/database.ts';
import { CHECKSUMS_SUFFIX } from '../../engine/store/pageChecksums.ts';
import type { Environment } from '../settings/settings.ts';
import { isPublicNetwork, type Settings } from '../settings/table.ts';
import { makeDataDirectory } from '../wiring/dataDirectory.ts';
import { runningNats } from './localServers.ts';

interface ResetDeps {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** A running program holds an exclusive lock on one of these files. */
const HELD = ['devnet/chain.sqlite', 'node/chain.sqlite', 'ledger.sqlite', 'log.sqlite'];
/**
 * The state is moved first: a start without it rebuilds it from the log, so an interrupted reset
 * can be repeated.
 */
const STATE = ['rebuild.sqlite', 'state.damaged', 'state.sqlite', 'snapshots'];
const MOVED = [...STATE, ...HELD, 'webhooks.sqlite', 'images', 'market.json', 'created-at'];
const SNAPSHOT = /^base-.*\.sqlite$/;
/** In `cluster/`, beside keys.json, which stays. */
const OF_CLUSTER = /^(nats|node-\d+)$/;

/** Returns the exit code. Throws with a remedy if nothing may be moved. */
export async function runReset(place: ResetDeps): Promise<number> {
  const { settings, environment, clock, signal, say } = place;
  const { DATA_DIR } = settings;
  await makeDataDirectory(DATA_DIR, { clock, signal, command: ['ls', '-d', '--'] });
  refuseUnlessDevnet(settings);
  const cluster = resolve(DATA_DIR, 'cluster');
  const nats = runningNats(join(cluster, 'nats'), environment);
  if (nats !== null) {
    throw new Error(
      `${cluster} is in use: stop the cluster, and its nats-server (process ${nats})`,
    );
  }
  const held = [DATA_DIR, cluster].flatMap((root) => HELD.map((name) => join(root, name)));
  const guards = held.filter((file) => existsSync(file)).map(guardDatabase);
  try {
    const paths = [...dataIn(DATA_DIR, SNAPSHOT), ...dataIn(cluster, OF_CLUSTER)];
    if (paths.length === 0) say(`There is nothing to reset in ${DATA_DIR}.`);
    else moveAll(paths, DATA_DIR, say);
  } finally {
    for (const guard of guards) guard.close();
  }
  return 0;
}

function refuseUnlessDevnet(settings: Settings): void {
  const { DATA_DIR, NATS_URL, NETWORK } = settings;
  if (NATS_URL !== undefined) {
    throw new Error(
      'NATS_URL is set: the log of this market is in NATS, and other nodes have it. To begin ' +
        "another one, stop all nodes, empty NATS' store, and reset each without NATS_URL",
    );
  }
  const network = isPublicNetwork(settings) ? NETWORK : (readMarket(DATA_DIR)?.network ?? 'devnet');
  if (network === 'devnet') return;
  throw new Error(
    `DATA_DIR=${DATA_DIR} is for ${network}, where no new chain can begin: reset is for a devnet`,
  );
}

function dataIn(directory: string, others: RegExp): string[] {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return [...names.filter((name) => others.test(name)), ...MOVED]
    .map((name) => join(directory, name))
    .filter((path) => existsSync(path));
}

function moveAll(paths: readonly string[], directory: string, say: (line: string) => void): void {
  let number = 1;
  const taken = () => paths.some((path) => existsSync(replacedName(path, number)));
  while (taken()) number += 1;
  say(`Moved in ${directory}:`);
  for (const path of paths) {
    const kept = replacedName(path, number);
    renameSync(path, kept);
    moveBeside(path, kept);
    say(`  ${relative(directory, path)} → ${relative(directory, kept)}`);
  }
  say('Keys and wallets stay. The next start begins a new chain and a new market.');
  say('The moved files are no longer used; remove them when you do not need them.');
}

/** Moves the files that belong to a database. */
function moveBeside(path: string, kept: string): void {
  for (const suffix of ['-wal', CHECKSUMS_SUFFIX]) {
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${kept}${suffix}`);
  }
  // Guarding a database creates an empty one.
  const log = statSync(`${kept}-wal`, { throwIfNoEntry: false });
  if (log?.size === 0) rmSync(`${kept}-wal`);
  // An index of the write-ahead log, created again when needed.
  rmSync(`${path}-shm`, { force: true });
  // Sums that a kill left half written: no start reads them.
  rmSync(`${path}${CHECKSUMS_SUFFIX}.new`, { force: true });
}

function replacedName(path: string, number: number): string {
  return `${path}.replaced.${number}`;
}
