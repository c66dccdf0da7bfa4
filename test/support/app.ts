/** The whole app inside the test's process: `startApp` with a free port and its own directory. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { GatewayOptions } from '../../src/api/gateway/options.ts';
import type { NetworkDeployment } from '../../src/cardano/datums/deployment.ts';
import type { ReplayCounts } from '../../src/engine/ingest/replay.ts';
import { LocalLog } from '../../src/engine/log/local.ts';
import { dataFiles } from '../../src/engine/recovery/dataFiles.ts';
import { type Verification, verifyState } from '../../src/engine/recovery/verify.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { createLogger } from '../../src/engine/runtime/events.ts';
import { type Rng, systemRng } from '../../src/engine/runtime/rng.ts';
import { DirectorySnapshots } from '../../src/engine/snapshots/directory.ts';
import { loadSnapshot } from '../../src/engine/snapshots/load.ts';
import { type App, type AppDeps, startApp } from '../../src/server/app.ts';
import type { KeySecrets } from '../../src/server/settings/keyFiles.ts';
import { BadSettings, readSettings } from '../../src/server/settings/settings.ts';
import { untilReady } from './ready.ts';
import { type Environment, type Scope, temporaryDirectory } from './server.ts';

const clock = systemClock;

interface TestAppOptions {
  readonly directory: string;
  readonly env?: Environment;
  readonly gateway?: Partial<GatewayOptions>;
  readonly rng?: Rng;
  /** A devnet that this app starts, or follows where the settings name one; absent: no chain. */
  readonly devnet?: AppDeps['devnet'];
  /** Replaces the deployment that the settings name, on a real network. */
  readonly deployment?: NetworkDeployment;
  /** Keys for a real network. */
  readonly secrets?: KeySecrets;
}

export class TestApp {
  readonly app: App;
  readonly url: string;
  stopped = false;

  constructor(app: App) {
    this.app = app;
    this.url = `http://127.0.0.1:${app.port}`;
  }

  /** Feeds lines as a pipe would; resolves when all is applied. */
  feed(text: string, latenessMs = 60_000): Promise<ReplayCounts> {
    const input = Readable.from([Buffer.from(text)]);
    return this.app.replay(input, { feed: null, speed: null, latenessMs });
  }

  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    await this.app.stop('test');
  }
}

export async function startTestApp(scope: Scope, options: TestAppOptions): Promise<TestApp> {
  const {
    directory,
    env = {},
    gateway = {},
    rng = systemRng,
    devnet,
    deployment,
    secrets,
  } = options;
  const settings = readSettings({ DATA_DIR: directory, PORT: '0', ...env });
  assert(
    !(settings instanceof BadSettings),
    settings instanceof BadSettings ? settings.message : '',
  );
  const logger = createLogger({ level: 'silent', clock });
  const quick = { shutdownGraceMs: 5, stopMs: 200, ...gateway };
  const common = { settings, clock, rng, logger, version: 'test', gateway: quick };
  const world = {
    ...common,
    ...(devnet === undefined ? {} : { devnet }),
    ...(deployment === undefined ? {} : { deployment }),
    ...(secrets === undefined ? {} : { secrets }),
  };
  const app = new TestApp(await startApp(world));
  scope.after(() => app.stop());
  // Tests with NATS or Ogmios may start the app before those answer, so they wait themselves.
  const { NATS_URL, OGMIOS_URL } = settings;
  if (NATS_URL === undefined && OGMIOS_URL === undefined) await untilReady(app.url);
  return app;
}

/** A running app over a new directory. */
export async function newTestApp(
  scope: Scope,
  options: Omit<TestAppOptions, 'directory'> = {},
): Promise<TestApp> {
  const app = await startTestApp(scope, { ...options, directory: temporaryDirectory() });
  return app;
}

/** Runs the comparison of `--verify` on a directory that no app has open. */
export async function verifyDirectory(
  directory: string,
  horizonBlocks: number,
): Promise<Verification | null> {
  const files = dataFiles(directory);
  const log = await LocalLog.open({ file: files.log, maxMb: 0 });
  const quarantined = (pool: string, error: unknown) => assert.fail(`pool ${pool}: ${error}`);
  const limits = { horizonBlocks, maxMb: 0, maxLoadedPairs: 20_000 };
  const observer = {
    snapshotLoaded: () => {},
    snapshotUnusable: (name: string, reason: string) => assert.fail(`${name}: ${reason}`),
  };
  const snapshots = new DirectorySnapshots(directory, observer);
  const takeSnapshot = (path: string, upTo: number, after = 0) =>
    loadSnapshot(path, { upTo, after }, snapshots, log, observer);
  try {
    return await verifyState(log, files, { ...limits, clock, takeSnapshot, quarantined });
  } finally {
    await log.close();
  }
}

export function assertSound(found: Verification | null): void {
  if (found === null) return;
  assert.equal(found.stateHash, found.rebuiltHash, 'state hash = hash of a rebuild');
  assert.deepEqual(found.differing, [], 'rows = rows of a rebuild');
}
