import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { readSecrets, SECRET_NAMES } from '../../../src/server/settings/secrets.ts';
import { temporaryDirectory } from '../../support/server.ts';

test('makes keys on the first start, readable by the owner only, and keeps them', () => {
  const directory = temporaryDirectory();
  const made = readSecrets(directory, systemRng);
  const file = join(directory, 'keys.json');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const again = readSecrets(directory, systemRng);
  const seeds = SECRET_NAMES.map((name) => made[name].reveal());
  assert.deepEqual(
    seeds,
    SECRET_NAMES.map((name) => again[name].reveal()),
  );
  assert.equal(new Set(seeds).size, SECRET_NAMES.length);
  for (const seed of seeds) assert.match(seed, /^[0-9a-f]{64}$/);
  const other = readSecrets(temporaryDirectory(), systemRng);
  assert.notEqual(other.executor.reveal(), made.executor.reveal());
});

test('secrets do not show in logs, texts or JSON', () => {
  const secrets = readSecrets(temporaryDirectory(), systemRng);
  const seed = secrets.fee.reveal();
  for (const text of [inspect(secrets), JSON.stringify(secrets), `${secrets.fee}`]) {
    assert.ok(!text.includes(seed));
    assert.match(text, /secret/);
  }
});

test('refuses a broken file by name, without its content', () => {
  const directory = temporaryDirectory();
  readSecrets(directory, systemRng);
  const file = join(directory, 'keys.json');
  const good = readFileSync(file, 'utf8');
  const executor = readSecrets(directory, systemRng).executor.reveal();
  for (const bad of ['', 'null', '{}', good.replace(executor, executor.slice(2)), '[1]']) {
    writeFileSync(file, bad);
    assert.throws(
      () => readSecrets(directory, systemRng),
      (error: Error) => {
        assert.match(error.message, /keys\.json: "executor"/);
        assert.ok(!error.message.includes(executor.slice(2)));
        return true;
      },
    );
  }
});
