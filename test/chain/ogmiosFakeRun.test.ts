/** The small Cardano that people try a real network's set-up against, in a process of its own. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { getServerHealth } from '@cardano-ogmios/client';
import { readDeployment } from '../../src/server/settings/deployments.ts';
import { connectionOf } from '../support/ogmios/scene.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';

const RUN = join(import.meta.dirname, '../support/ogmios/run.ts');
const LIMIT_MS = 60_000;

test('serves an Ogmios, a Kupo and a deployment until it is told to end', async (scope) => {
  const child = spawn(process.execPath, [RUN, '0', temporaryDirectory()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  scope.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const exited = once(child, 'exit');
  await until(
    () => `it says how to follow it: ${said}`,
    () => said.includes('npm start'),
    LIMIT_MS,
  );
  const told = (name: string) => new RegExp(`${name}=(\\S+)`).exec(said)?.[1] ?? assert.fail(said);
  const connection = connectionOf({ port: Number(new URL(told('OGMIOS_URL')).port) });
  const { network, lastKnownTip } = await untilAsked(
    'blocks are made',
    () => getServerHealth({ connection }),
    ({ lastKnownTip: tip }) => tip.height >= 3,
    LIMIT_MS,
  );
  assert.equal(network, 'preprod');
  const kupo = await fetch(`${told('KUPO_URL')}/health`, {
    headers: { accept: 'application/json' },
  });
  assert.equal(kupo.status, 200);
  assert.ok(lastKnownTip.slot > 0);
  const deployment = readDeployment('preprod', told('DEPLOYMENT_FILE'));
  assert.ok(deployment.complete, `nothing is missing: ${deployment.missing}`);
  assert.equal(deployment.mismatch, null);
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
});
