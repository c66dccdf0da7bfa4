/** Which servers this program was tried with: a devnet that speaks as each, and others. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { readParameters } from '../../src/cardano/ledger/ogmiosParameters.ts';
import { isTried, ServerVersions } from '../../src/chain/serverVersions.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { startDevnet } from '../support/devnetNode.ts';
import { until } from '../support/until.ts';

test('versions that were tried, and others', () => {
  for (const version of ['v6.14.0 (435189a)', 'v7.0.0', '7.0.1'])
    assert.ok(isTried('Ogmios', version));
  for (const version of ['v6.5.0', 'v7.1.0', 'v8.0.0', '', '16.14.0']) {
    assert.ok(!isTried('Ogmios', version), version);
  }
  assert.ok(isTried('Kupo', 'v2.11.0') && !isTried('Kupo', 'v2.9.0') && !isTried('Kupo', 'v3.0.0'));
});

test('a devnet speaks as Ogmios 6 or 7, and both are read alike', async (t) => {
  const spoken = await Promise.all(
    ([6, 7] as const).map(async (ogmiosMajor) => {
      const { ogmiosUrl } = await startDevnet(t, { ogmiosMajor });
      const at = ogmiosUrl.replace(/^ws/, 'http');
      const body = JSON.stringify({
        jsonrpc: '2.0',
        method: 'queryLedgerState/protocolParameters',
      });
      const answer = await fetch(at, { method: 'POST', body });
      const { result } = (await answer.json()) as { result: Record<string, unknown> };
      const health = (await (await fetch(`${at}/health`)).json()) as { version: string };
      assert.ok(isTried('Ogmios', health.version), health.version);
      return result;
    }),
  );
  const [six, seven] = spoken.map((result) => Object.keys(result));
  const only = (own: readonly string[] = [], other: readonly string[] = []) =>
    own.filter((name) => !other.includes(name));
  assert.deepEqual(only(six, seven), ['maxReferenceScriptsSize']);
  assert.deepEqual(only(seven, six), ['maxReferenceScriptsSizePerTransaction']);
  const read = spoken.map((result) => readParameters(result));
  assert.deepEqual(read[0], read[1]);
});

test('an untried version is reported once, and a server that does not answer is not', async (t) => {
  const server = createServer((request, response) => {
    const isOgmios = request.url === '/ogmios/health';
    response.end(isOgmios ? '{"version":"v5.6.0"}' : 'no JSON');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const at = `127.0.0.1:${address.port}`;
  const told: string[] = [];
  const versions = new ServerVersions({
    urls: { ogmios: `ws://${at}/ogmios`, kupo: `http://${at}/kupo` },
    clock: systemClock,
    untriedVersion: (name, version) => told.push(`${name} ${version}`),
  });
  versions.start();
  t.after(() => versions.stop());
  await until('its word', () => told.length === 1);
  assert.deepEqual(told, ['Ogmios v5.6.0']);
});
