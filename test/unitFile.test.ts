/** The unit file of docs/one-node.md, as systemd's own check of hardening judges it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from './support/server.ts';

/** Highest exposure allowed. A service without any limit has 10. */
const MAX_EXPOSED = 2;

function unitFile(): string {
  const guide = readFileSync(join(import.meta.dirname, '../docs/one-node.md'), 'utf8');
  return /```ini\n([^`]+)```/.exec(guide)?.[1] ?? '';
}

test('the unit file is read again by a signal, and locked in as far as V8 allows', (t) => {
  const unit = unitFile();
  assert.match(unit, /^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
  // Compiled code is written and run: this one would stop the process.
  assert.doesNotMatch(unit, /MemoryDenyWriteExecute/);
  const file = join(temporaryDirectory(t), 'upcurve.service');
  writeFileSync(file, unit);
  const most = `--threshold=${MAX_EXPOSED * 10}`;
  const judged = spawnSync('systemd-analyze', ['security', '--offline=true', most, file], {
    encoding: 'utf8',
  });
  if (judged.error !== undefined) return t.skip('systemd-analyze is missing');
  assert.equal(judged.status, 0, `${judged.stdout}${judged.stderr}`);
});
