/**
 * Walks all routes of the OpenAPI document with all rules of HTTP that apply: a new route is tried
 * once it has its sample request.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { DevnetWorld } from '../../e2e/devnet/world.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { RULES } from './httpRules.ts';
import { DOCUMENTED_ENV, DOCUMENTED_KEY } from './requests.ts';
import { type Asked, samplesOf } from './routeRequests.ts';
import { setStage } from './stage.ts';

test('every route keeps the rules of HTTP', { timeout: 300_000 }, async (t) => {
  const file = join(temporaryDirectory(t), 'api-keys.json');
  const keys = [{ name: 'example', sha256: hash('sha256', DOCUMENTED_KEY) }];
  writeFileSync(file, JSON.stringify({ keys }));
  const env = { ...DOCUMENTED_ENV, API_KEYS_FILE: file, WEBHOOK_PRIVATE_RANGES: '127.0.0.1' };
  const world = await DevnetWorld.start(t, { env });
  const stage = await setStage(world);
  const openapi = parse(await (await fetch(`${world.url}/v1/docs/openapi`)).text());
  for (const { name, applies, check } of RULES) {
    await t.test(name, async () => {
      const webhook = await registered(world.url, stage.asset);
      const routes = samplesOf(openapi, { ...stage, webhook });
      assert.ok(routes.length > 60);
      const faults: string[] = [];
      for (const asked of routes.filter(applies)) {
        await check(world.port, asked).catch((error) => {
          faults.push(`${nameOf(asked)}: ${error instanceof Error ? error.message : error}`);
        });
      }
      assert.deepEqual(faults, []);
    });
  }
});

function nameOf({ method, target }: Asked): string {
  return `${method} ${target.slice(0, 60)}`;
}

async function registered(url: string, asset: string): Promise<string> {
  const answer = await fetch(`${url}/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${DOCUMENTED_KEY}` },
    body: JSON.stringify({
      url: 'https://127.0.0.1:9443/hook',
      topics: [{ topic: 'Trades', data: { asset } }],
    }),
  });
  const body: unknown = await answer.json();
  return String(Reflect.get(Object(body), 'id'));
}
