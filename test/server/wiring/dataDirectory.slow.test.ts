/** DATA_DIR where it cannot be made, or where its disk does not answer. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { checkNoOldLedger, makeDataDirectory } from '../../../src/server/wiring/dataDirectory.ts';
import { Program, temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

test('it is made with its parents, and may be there already', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'a', 'b');
  for (const _ of [1, 2]) await makeDataDirectory(directory, { clock: systemClock });
  assert.ok(existsSync(directory));
});

test('a disk that does not answer is given up with a message', async () => {
  const hangs = { clock: systemClock, deadlineMs: 20, command: ['sleep', '600', '--'] } as const;
  await assert.rejects(
    makeDataDirectory('1', hangs),
    /DATA_DIR=1 does not answer for 0\.02 s: look at its disk/,
  );
});

test('below a file system without new directories the start is refused', async (scope) => {
  if (!existsSync('/proc/self')) return scope.skip('no /proc');
  const program = new Program([], { DATA_DIR: '/proc/upcurve/data', PORT: '0' });
  scope.after(() => program.kill());
  assert.deepEqual(await program.ended(), { code: 1, signal: null });
  assert.match(program.text, /DATA_DIR=\/proc\/upcurve\/data cannot be used: .*set another/s);
});

test('SIGTERM ends a start whose directory does not answer, and --verify too', async (scope) => {
  // A mkdir and an ls that hang, as on a network disk that is away.
  const bin = temporaryDirectory(scope);
  const marks = join(bin, 'marks');
  mkdirSync(marks);
  for (const name of ['mkdir', 'ls']) {
    writeFileSync(join(bin, name), `#!/bin/sh\n: > ${marks}/${name}\nexec sleep 600\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const env = {
    DATA_DIR: join(bin, 'data'),
    PORT: '0',
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  };
  for (const [name, line] of [
    ['mkdir', []],
    ['ls', ['--verify']],
  ] as const) {
    const program = new Program([...line], env);
    scope.after(() => program.kill());
    await until(`${name} hangs`, () => existsSync(join(marks, name)));
    program.signal('SIGTERM');
    assert.deepEqual(await program.ended(), { code: 0, signal: null }, program.text);
  }
});

test('--verify on a directory that is no node makes nothing and fails', async (scope) => {
  const directory = temporaryDirectory(scope);
  for (const [dataDir, said] of [
    [join(directory, 'missing'), /DATA_DIR=\S+missing cannot be used/],
    [directory, /There is no log\.sqlite in DATA_DIR=\S+: nothing was verified/],
  ] as const) {
    const program = new Program(['--verify'], { DATA_DIR: dataDir });
    scope.after(() => program.kill());
    assert.equal((await program.ended()).code, 1);
    assert.match(program.text, said);
  }
  assert.deepEqual(
    [existsSync(join(directory, 'missing')), existsSync(join(directory, 'log.sqlite'))],
    [false, false],
  );
});

test('a devnet of version 0.4 is refused until it is moved aside', async (scope) => {
  const DATA_DIR = temporaryDirectory(scope);
  writeFileSync(join(DATA_DIR, 'ledger.sqlite'), '');
  for (const NETWORK of ['none', 'preprod'] as const) checkNoOldLedger({ NETWORK, DATA_DIR });
  const program = new Program([], { DATA_DIR, PORT: '0', NETWORK: 'devnet' });
  scope.after(() => program.kill());
  assert.equal((await program.ended()).code, 2);
  assert.match(program.text, /ledger\.sqlite is a devnet of version 0\.4.*npm start -- reset/s);
  assert.deepEqual(readdirSync(DATA_DIR), ['ledger.sqlite'], 'nothing was made beside it');
  const reset = new Program(['reset'], { DATA_DIR, NETWORK: 'devnet' });
  scope.after(() => reset.kill());
  assert.equal((await reset.ended()).code, 0, reset.text);
  checkNoOldLedger({ NETWORK: 'devnet', DATA_DIR });
});
