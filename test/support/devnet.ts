/** A whole devnet inside the test's process, its blocks fast, its traders asleep. */
import assert from 'node:assert/strict';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { createLogger } from '../../src/engine/runtime/events.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { startApp } from '../../src/server/app.ts';
import { BadSettings, readSettings } from '../../src/server/settings/settings.ts';
import { readTraderConfig, type TraderConfig } from '../../src/traders/config.ts';
import { untilReady } from './ready.ts';
import { type Scope, temporaryDirectory } from './server.ts';

const BLOCK_EVERY_MS = 200;

/** Answers its address when it is ready. */
export async function startDevnet(
  scope: Scope,
  traders: TraderConfig = readTraderConfig(),
): Promise<string> {
  const settings = readSettings({
    DATA_DIR: temporaryDirectory(),
    PORT: '0',
    BLOCK_EVERY_MS: String(BLOCK_EVERY_MS),
  });
  assert(!(settings instanceof BadSettings));
  const app = await startApp({
    settings,
    clock: systemClock,
    rng: systemRng,
    logger: createLogger({ level: 'silent', clock: systemClock }),
    version: 'test',
    devnet: { traders, pace: 0, seed: 1 },
    gateway: { shutdownGraceMs: 5, stopMs: 200 },
  });
  scope.after(() => app.stop('test'));
  const url = `http://127.0.0.1:${app.port}`;
  await untilReady(url);
  return url;
}
