/** A server that is pointed at a devnet without its scripts ends, and says what to start. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quietTraders } from '../../e2e/devnet/world.ts';
import { newTestApp } from '../../support/app.ts';
import { startDevnet } from '../../support/devnetNode.ts';

test('a devnet without the scripts of the market is refused', async (scope) => {
  const { ogmiosUrl, kupoUrl } = await startDevnet(scope);
  const { app } = await newTestApp(scope, {
    env: { OGMIOS_URL: ogmiosUrl, KUPO_URL: kupoUrl, BLOCK_EVERY_MS: '0' },
    devnet: { traders: quietTraders(), pace: 0, seed: 1 },
  });
  assert.match(await app.failed, /does not hold the scripts of this market.*--launchpad/);
});
