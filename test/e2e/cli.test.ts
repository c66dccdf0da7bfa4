/** The command line: help, settings that are wrong, two servers on one directory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TABLE } from '../../src/config/table.ts';
import { Program, runProgram, startServer, temporaryDirectory } from '../support/server.ts';

test('--help lists every setting and every option, and exits with 0', async () => {
  const { exit, program } = await runProgram(['--help'], { DATA_DIR: temporaryDirectory() });
  assert.equal(exit.code, 0);
  for (const key of Object.keys(TABLE.properties))
    assert.match(program.text, new RegExp(`  ${key} `));
  for (const option of ['--speed', '--lateness', '--exit', '--verify', '--help']) {
    assert(program.text.includes(option), option);
  }
});

test('all bad settings are reported at once, and nothing is started', async () => {
  const bad = { PORT: '70000', LOG_LEVEL: 'loud', COMMIT_EVERY_MS: '0', TRUSTED_PROXIES: 'x' };
  const { exit, program } = await runProgram([], { DATA_DIR: temporaryDirectory(), ...bad });
  assert.equal(exit.code, 2);
  for (const key of Object.keys(bad)) assert.match(program.text, new RegExp(`  ${key}: `));
  assert.equal(program.log.length, 0);
});

test('what the command line cannot mean is refused with the usage', async () => {
  const env = { DATA_DIR: temporaryDirectory() };
  const wrong = [
    ['replay'],
    ['replay', 'a', 'b'],
    ['replay', 'a', '--speed', '0'],
    ['replay', 'a', '--lateness', 'soon'],
    ['fly'],
    ['--exit'],
    ['--unknown'],
  ];
  const ends = await Promise.all(wrong.map((args) => runProgram(args, env)));
  for (const [index, { exit, program }] of ends.entries()) {
    assert.equal(exit.code, 2, wrong[index]?.join(' '));
    assert.match(program.text, /npm start -- replay FILE/);
  }
});

test('a port that is taken: said, and exit 1', async (t) => {
  const first = await startServer(t, [], { DATA_DIR: temporaryDirectory() });
  const env = { DATA_DIR: temporaryDirectory(), PORT: String(first.port) };
  const { exit, program } = await runProgram([], env);
  assert.equal(exit.code, 1);
  assert.match(program.text, new RegExp(`upcurve could not go on: .*${first.port}`));
});

test('a second server on the same directory is refused, and the first goes on', async (t) => {
  const env = { DATA_DIR: temporaryDirectory() };
  const first = await startServer(t, [], env);
  const second = new Program([], env);
  t.after(() => second.kill());
  const exit = await second.ended(5_000);
  assert.equal(exit.code, 1);
  assert.match(second.text, /upcurve could not go on: /);
  assert.equal((await first.get('/health/ready')).status, 200);
});
