/** The table in docs/conform.md equals the present results of the services. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CLAUSES } from '../../../../src/server/cli/conform/run.ts';
import {
  centrifugoService,
  centrifugoVersion,
  FOREIGN_CLAUSES,
  foreignTable,
  plainService,
} from './foreign.ts';

const version = centrifugoVersion();
const skip = version === null && 'centrifugo is not on the PATH (see docs/conform.md)';
const tableOf = (text: string) => text.split('\n').filter((line) => line.startsWith('| '));

/** The cells of a service, by its column. */
function column(rows: readonly string[], name: string): string[] {
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  const at = cells[0]?.findIndex((head) => head.startsWith(name)) ?? -1;
  assert(at > 0, `a column ${name} of ${rows[0]}`);
  return cells.slice(1).map((row) => row[at] ?? '');
}

const documented = tableOf(readFileSync('docs/conform.md', 'utf8')).filter((row) =>
  /^\| (clause \||order: |resume: |loss told: )/.test(row),
);

test('a plain ws server keeps and misses what docs/conform.md says', async (t) => {
  const found = tableOf(await foreignTable([await plainService(t)]));
  assert.deepEqual(column(found, 'ws'), column(documented, 'ws'), found.join('\n'));
});

test('the clauses of conform that stand beside them exist', () => {
  const ids = new Set(CLAUSES.map(({ id }) => id));
  assert.deepEqual(
    FOREIGN_CLAUSES.filter(({ own }) => !ids.has(own)),
    [],
  );
});

test('Centrifugo keeps and misses what docs/conform.md says', { skip }, async (t) => {
  const found = tableOf(await foreignTable([await centrifugoService(t)]));
  assert.deepEqual(column(found, 'Centrifugo'), column(documented, 'Centrifugo'), found.join('\n'));
});
