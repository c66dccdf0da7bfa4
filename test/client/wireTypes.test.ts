/** What the client says of the wire is what the server's schemas say. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { Client } from '../../src/client/index.ts';
import { startDevnet } from '../support/devnet.ts';
import { coveredRoutes, wireFilesOf } from './wireTypes.ts';

const FOLDER = new URL('../../src/client/wire/', import.meta.url);
const ASSET = `${'ab'.repeat(28)}.00`;

test('types of the wire are those of the schemas, and each route has its method', async (t) => {
  const url = await startDevnet(t);
  const files = await wireFilesOf(url);
  const help = 'run `node test/client/writeWireTypes.ts`';
  assert.deepEqual(readdirSync(FOLDER).sort(), files.map(({ name }) => name).sort(), help);
  for (const { name, text } of files) {
    assert.equal(readFileSync(new URL(name, FOLDER), 'utf8'), text, `${name}: ${help}`);
  }
  const document = parse(await (await fetch(`${url}/v1/docs/openapi`)).text());
  const routes = [...coveredRoutes(document).values()];
  assert.deepEqual((await calledRoutes()).sort(), routes.sort());
});

/** `<method> <path>` of every method, with path parameters by name. */
async function calledRoutes(): Promise<string[]> {
  const called = new Set<string>();
  const client = new Client({
    url: 'http://127.0.0.1:1',
    fetch: async (url, { method }) => {
      const path = new URL(url).pathname.replace(`/${encodeURIComponent(ASSET)}`, '/{assetId}');
      called.add(`${method?.toLowerCase()} ${path}`);
      return new Response('null');
    },
  });
  for (const group of Object.values(client)) {
    const isGroup = typeof group === 'object' || typeof group === 'function';
    if (group === client.connection || !isGroup) continue;
    for (const [name, method] of Object.entries(group as object)) {
      const input = name === 'launch' ? { image: new Blob([]) } : ASSET;
      // trust: groups hold methods only; what they are given does not matter here
      await (method as (...input: unknown[]) => Promise<unknown>)(input, {}, {});
    }
  }
  client.close();
  return [...called];
}
