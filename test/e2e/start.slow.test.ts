/** `npm start`: the output in a terminal, the output in a log file, and how both end. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { Program, temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';

const NPM = { npm_config_update_notifier: 'false' };

function has(program: string): boolean {
  const { error, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return error === undefined && (program !== 'script' || stdout.includes('util-linux'));
}

async function urlIn(program: Program, text: () => string): Promise<string> {
  const found = () => /http:\/\/127\.0\.0\.1:\d+/.exec(text())?.[0];
  await until(
    () => `it listens; it said ${program.text}`,
    () => found() !== undefined || program.exit !== null,
  );
  const url = found();
  assert.ok(url !== undefined, program.text);
  return url;
}

test('SIGTERM to npm stops the server; what is no terminal gets JSON and no warning', async (t) => {
  if (!has('npm')) return t.skip('npm is missing');
  const env = { ...NPM, DATA_DIR: temporaryDirectory() };
  const program = new Program([], env, ['npm', 'start', '--silent']);
  t.after(() => program.kill());
  const url = await urlIn(program, () => JSON.stringify(program.events('listening')));
  // The server takes the types out of the scripts of its pages, with a new feature of Node.
  const script = /src="([^"]+\.js)"/.exec(await (await fetch(`${url}/docs`)).text())?.[1];
  assert.equal((await fetch(`${url}${script}`)).status, 200);
  program.signal('SIGTERM');
  assert.deepEqual(await program.ended(), { code: 0, signal: null });
  assert.equal(program.events('stopped').length, 1);
  await assert.rejects(fetch(url));
  assert.equal(program.text, '');
});

test('a terminal gets plain words first, and Ctrl+C stops the server', async (t) => {
  if (!has('npm')) return t.skip('npm is missing');
  if (!has('script')) return t.skip('script (util-linux) is missing');
  const env = { ...NPM, DATA_DIR: temporaryDirectory() };
  const command = ['script', '-qfec', 'exec npm start --silent', '/dev/null'] as const;
  const program = new Program([], env, command);
  t.after(() => program.kill());
  await urlIn(program, () => /open http\S+/.exec(program.text)?.[0] ?? '');
  program.stdin.write('\u0003');
  assert.equal((await program.ended()).code, 0, program.text);
  const lines = program.text.split(/\r?\n/);
  assert.match(lines[0] ?? '', /^upcurve \S+, without a chain\. Data directory: /);
  assert.match(program.text, /\d\d:\d\d:\d\d info {2}stopping: SIGINT\r?$/m);
  assert.deepEqual(program.log, []);
});

test('a second signal does not cut a stop short', async (t) => {
  const env = { DATA_DIR: temporaryDirectory(), NETWORK: 'devnet' };
  const program = new Program(['--no-history'], env);
  t.after(() => program.kill());
  await urlIn(program, () => JSON.stringify(program.events('listening')));
  program.signal('SIGINT');
  await until('it stops', () => program.events('stopping').length > 0);
  program.signal('SIGINT');
  assert.deepEqual(await program.ended(), { code: 0, signal: null });
  assert.equal(program.events('stopped').length, 1);
});

test('LOG_FORMAT decides where the terminal does not', async (t) => {
  const env = { DATA_DIR: temporaryDirectory(), LOG_FORMAT: 'text' };
  const program = new Program([], env);
  t.after(() => program.kill());
  await urlIn(program, () => program.text);
  program.signal('SIGTERM');
  assert.equal((await program.ended()).code, 0);
  assert.match(program.text, /^\d\d:\d\d:\d\d info {2}listening on http/m);
  assert.doesNotMatch(program.text, /upcurve/, 'a greeting is for a terminal');
  assert.deepEqual(program.log, []);
});
