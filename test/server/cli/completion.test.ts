/** Completions, computed by the shells themselves. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { COMMANDS } from '../../../src/server/cli/commands.ts';
import { completionScript } from '../../../src/server/cli/completion.ts';

/** Completions of bash for a line, run in bash itself. */
function offered(words: readonly string[]): string[] {
  const script = `${completionScript('bash', '/x', COMMANDS)}
COMP_WORDS=(upcurve ${words.join(' ')}${words.at(-1) === '' ? "''" : ''})
COMP_CWORD=${words.length}
_upcurve; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  assert.equal(stderr, '');
  return stdout.split('\n').filter((word) => word !== '');
}

test('bash completes commands, words and options', () => {
  assert.deepEqual(offered(['wa']), ['watch', 'wallet']);
  assert.deepEqual(offered(['wallet', 'b']), ['balance']);
  assert.deepEqual(offered(['replay', '--s']), ['--speed', '--strict']);
  assert.deepEqual(offered(['help', 'ver']), ['verify']);
});
