/** API keys of a running process: SIGHUP, a bad file, and that no key ever shows. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from '../../../src/client/index.ts';
import { refusalOf } from '../../support/apiError.ts';
import { runProgram, startServer, temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const OLD = 'upc_0ld-5ecre7-of-a-b0t';
const NEW = 'upc_new-5ecre7-of-a-b0t';
const WRONG = 'upc_gue55ed-by-a-stranger';

function keysOf(...keys: readonly (readonly [name: string, secret: string])[]): string {
  const list = keys.map(([name, secret]) => {
    const limits = { read: { perSecond: 50, burst: 77 } };
    return { name, sha256: hash('sha256', secret), limits };
  });
  return JSON.stringify({ keys: list });
}

test('SIGHUP reads the keys again, a bad file changes nothing, no key ever shows', async (t) => {
  const directory = temporaryDirectory(t);
  const file = join(directory, 'api-keys.json');
  writeFileSync(file, keysOf(['old', OLD]));
  const env = { DATA_DIR: directory, API_KEYS_FILE: file, LOG_LEVEL: 'trace' };
  const server = await startServer(t, [], env);
  const { program, url } = server;
  const logged = (event: string, count: number) =>
    until(`${count} ${event}`, () => program.events(event).length === count);
  const seen: string[] = [];
  const clients = [OLD, NEW, WRONG].map((key) => new Client({ url, key }));
  t.after(() => {
    for (const client of clients) client.close();
  });
  const [old, fresh, wrong] = clients;
  assert(old !== undefined && fresh !== undefined && wrong !== undefined);
  const refused = async (client: Client) => {
    const error = await refusalOf(client.server.limits());
    seen.push(error.message);
    return [error.status, error.cause];
  };

  const { data } = await old.server.limits();
  assert.deepEqual([data.caller, data.classes.read.limit, data.exempt], ['old', 77, false]);
  const health = old.health();
  await health.ready();
  assert.equal((await old.server.limits()).data.sockets.open, 1);
  assert.deepEqual(await refused(fresh), [401, 'UNKNOWN_KEY']);
  const guess = wrong.health();
  await until('the guess is closed', () => wrong.connection.state.is === 'closed');
  assert.match(String(wrong.connection.state.why), /4501/);
  guess.close();

  writeFileSync(file, `{"keys": [{"name": "new", "sha256": "${NEW}"}]}`);
  program.signal('SIGHUP');
  await logged('apiKeysRefused', 1);
  assert.equal((await old.server.limits()).data.caller, 'old');
  assert.equal(old.connection.state.is, 'open');

  writeFileSync(file, keysOf(['new', NEW]));
  program.signal('SIGHUP');
  await logged('apiKeysRead', 1);
  assert.deepEqual(program.events('apiKeysRead')[0]?.revoked, ['old']);
  assert.equal((await fresh.server.limits()).data.caller, 'new');
  assert.deepEqual(await refused(old), [401, 'UNKNOWN_KEY']);
  await until('its socket ends', () => old.connection.state.is === 'closed');
  assert.match(String(old.connection.state.why), /revoked.*4501/);

  seen.push(await (await server.get('/metrics')).text());
  await server.stop();
  seen.push(JSON.stringify(program.log), program.text);
  for (const text of seen) {
    for (const secret of [OLD, NEW, WRONG]) assert(!text.includes(secret), text);
    for (const secret of [OLD, NEW]) assert(!text.includes(hash('sha256', secret)), text);
  }
});

test('a start with a bad file is refused, with the file and the place of the fault', async (t) => {
  const directory = temporaryDirectory(t);
  const file = join(directory, 'api-keys.json');
  writeFileSync(file, `{"keys": [{"name": "new", "sha256": "${NEW}"}]}`);
  const { exit, program } = await runProgram([], { DATA_DIR: directory, API_KEYS_FILE: file });
  assert.equal(exit.code, 2);
  assert.match(program.text, /API_KEYS_FILE=.*api-keys\.json cannot be used.*keys\.0\.sha256/s);
  assert(!program.text.includes(NEW));
});
