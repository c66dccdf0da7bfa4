/** The command line: help, settings that are wrong, two servers on one directory. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { freePorts } from '../../src/server/cli/localServers.ts';
import { TABLE } from '../../src/server/settings/table.ts';
import { parsed } from '../server/cli/parsed.ts';
import { runProgram, startServer, temporaryDirectory } from '../support/server.ts';

test('--help lists every setting and command, help of a command its options', async () => {
  const { exit, program } = await runProgram(['--help'], { DATA_DIR: temporaryDirectory() });
  assert.equal(exit.code, 0);
  for (const key of Object.keys(TABLE.properties))
    assert.match(program.text, new RegExp(`  ${key} `));
  for (const name of ['replay FILE', 'verify', 'help [COMMAND]']) {
    assert(program.text.includes(`npm start -- ${name}`), name);
  }
  const one = await runProgram(['help', 'replay'], { DATA_DIR: temporaryDirectory() });
  assert.equal(one.exit.code, 0);
  for (const option of ['--speed', '--lateness', '--exit']) {
    assert(one.program.text.includes(option), option);
  }
  const version = await runProgram(['--version'], { DATA_DIR: temporaryDirectory() });
  assert.match(version.program.text, /^\d+\.\d+\.\d+\n$/);
});

test('all bad settings are reported at once, and nothing is started', async () => {
  const bad = { PORT: '70000', LOG_LEVEL: 'loud', COMMIT_EVERY_MS: '0', TRUSTED_PROXIES: 'x' };
  const { exit, program } = await runProgram([], { DATA_DIR: temporaryDirectory(), ...bad });
  assert.equal(exit.code, 2);
  for (const key of Object.keys(bad)) assert.match(program.text, new RegExp(`  ${key}: `));
  assert.equal(program.log.length, 0);
});

test('a command that cannot be meant is refused in one line, which names the help', async () => {
  const wrong = [
    ['replay'],
    ['replay', 'a', 'b'],
    ['replay', 'a', '--speed', '0'],
    ['replay', 'a', '--lateness', 'soon'],
    ['fly'],
    ['--exit'],
    ['--unknown'],
  ];
  for (const args of wrong) assert.equal(typeof parsed(args), 'string', args.join(' '));
  const { exit, program } = await runProgram(['fly'], { DATA_DIR: temporaryDirectory() });
  assert.equal(exit.code, 2);
  assert.equal(program.text, 'unknown command: fly\nSee npm start -- help\n');
});

test('another server on the same port or directory is refused; the first continues', async (t) => {
  const env = { DATA_DIR: temporaryDirectory() };
  const first = await startServer(t, [], env);
  const unused = `${temporaryDirectory()}/data`;
  for (const key of ['PORT', 'ADMIN_PORT']) {
    const onPort = { NETWORK: 'devnet', DATA_DIR: unused, [key]: String(first.port) };
    const taken = await runProgram([], onPort);
    assert.equal(taken.exit.code, 1);
    const said = `127.0.0.1:${first.port}: another program uses it.* ${key}=`;
    assert.match(taken.program.text, new RegExp(said));
    assert.equal(existsSync(unused), false, 'no chain was made');
  }
  const elsewhere = await runProgram([], { DATA_DIR: unused, HOST: '192.0.2.1', PORT: '8080' });
  assert.match(elsewhere.program.text, /HOST=192\.0\.2\.1: EADDRNOTAVAIL/);
  const second = await runProgram([], env);
  assert.equal(second.exit.code, 1);
  assert.match(second.program.text, /upcurve cannot continue: /);
  assert.equal((await first.get('/health/ready')).status, 200);
});

test('servers that share a port start beside each other', async (t) => {
  const [port] = await freePorts(1, systemRng);
  const shared = () => ({ DATA_DIR: temporaryDirectory(), PORT: `${port}`, PORT_SHARED: 'true' });
  assert.equal((await startServer(t, [], shared())).port, port);
  assert.equal((await startServer(t, [], shared())).port, port);
});
