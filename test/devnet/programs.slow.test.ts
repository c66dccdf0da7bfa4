/**
 * Foreign programs as judges: Blaze and Mesh, whole from npm, use a devnet through Ogmios and Kupo.
 * Each pays, mints, locks, and spends with the script as a reference. `npm run programs` installs
 * them apart from what we depend on; without it these tests are skipped.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startDevnet } from '../support/devnetNode.ts';

const SOURCES = join(import.meta.dirname, 'programs');
const INSTALLED = join(import.meta.dirname, '../../var/programs');
const LIMIT_MS = 120_000;
const run = promisify(execFile);

for (const [program, library] of [
  ['blaze', '@blaze-cardano/sdk'],
  ['mesh', '@meshsdk/core'],
] as const) {
  const isInstalled = existsSync(join(INSTALLED, 'node_modules', library));
  const skip = isInstalled ? false : `${library} is not installed: npm run programs`;
  test(`${library} pays, mints, locks and unlocks with a reference script`, { skip }, async (t) => {
    const devnet = await startDevnet(t, { paceMs: 50 });
    const script = join(INSTALLED, `${program}.mjs`);
    cpSync(join(SOURCES, `${program}.mjs`), script);
    const urls = [devnet.ogmiosUrl, devnet.kupoUrl, devnet.devnetUrl];
    const { stdout } = await run(process.execPath, [script, ...urls], { timeout: LIMIT_MS });
    const done = stdout.split('\n').filter((line) => /^(pay|mint|lock|unlock)$/.test(line));
    assert.deepEqual(done, ['pay', 'mint', 'lock', 'unlock'], stdout);
  });
}
