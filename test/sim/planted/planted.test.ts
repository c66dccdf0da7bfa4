/** The planted faults stay usable: each applies to the present tree, and describes its fault. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { APPLY, patchOf, plantedFaults, ROOT } from './planted.ts';

test('every planted fault applies to the tree and touches only src/', () => {
  const faults = plantedFaults();
  assert.equal(faults.length, 49);
  for (const fault of faults) {
    assert.match(fault, /^[a-z]+(-[a-z]+)+$/);
    const text = readFileSync(patchOf(fault), 'utf8');
    const [description = '', changes = ''] = text.split(/^diff /m);
    assert.match(description, /^[A-Z][\s\S]+\.\n/, `${fault} begins with what it breaks`);
    assert.notEqual(changes, '', `${fault} has a diff`);
    for (const [, file] of text.matchAll(/^\+\+\+ b\/(.*)$/gm)) assert.match(file ?? '', /^src\//);
    execFileSync('git', [...APPLY, '--check', patchOf(fault)], { cwd: ROOT });
  }
});
