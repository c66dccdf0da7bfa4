/** docs/protocol.md: its tables equal the code's, and the sections that comments cite exist. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readExamples } from '../../src/api/docs/examples.ts';
import { CATALOGUE } from '../../src/engine/runtime/errors.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/protocol.md'), 'utf8');

test('each cause has its row, with status, number and whether to try again', () => {
  const rows = [...PAGE.matchAll(/^\| `(\w+)` \| (\d{3}) \| (\d{4}) \| (yes|no) \|$/gm)];
  const stated = rows.map(([, cause, status, code, retry]) => [cause, status, code, retry]);
  const known = Object.entries(CATALOGUE).map(([cause, { status, code, retry }]) => {
    return [cause, String(status), String(code), retry ? 'yes' : 'no'];
  });
  assert.deepEqual(stated, known);
});

test('the topics are those of the server', () => {
  const [, list = ''] = /The topics: ([^.]+)\./.exec(PAGE) ?? [];
  const stated = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const known = Object.keys(readExamples().topics).filter((name) => name !== 'socket');
  assert.deepEqual(stated.toSorted(), known.toSorted());
});

test('the close codes are those that the server sends', () => {
  const stated = [...PAGE.matchAll(/^\| (4\d{3}) \|/gm)].map(([, code]) => code);
  const source = readFileSync(join(ROOT, 'src/engine/runtime/events.ts'), 'utf8');
  const [, list = ''] = /const CLOSE_CODES.* = \[([^\]]+)\]/.exec(source) ?? [];
  assert.deepEqual(stated, list.match(/\b4\d{3}\b/g));
});

test('each section that a comment cites is on the page', () => {
  const sections = [...PAGE.matchAll(/^##+ (\d+(?:\.\d)?)\.? /gm)].map(([, number]) => number);
  let cited = 0;
  for (const file of globSync('{src,test,clients}/**/*.{ts,tsx,py}', { cwd: ROOT })) {
    if (file.includes('node_modules') || file.endsWith('docs/protocol.test.ts')) continue;
    const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\s*\n\s*(\*|\/\/|#) ?/g, ' ');
    for (const [, list = ''] of text.matchAll(/protocol\.md,? (?:sections? )?(\d[\d., and]*)/g)) {
      for (const [number] of list.matchAll(/\d+(?:\.\d)?/g)) {
        assert.ok(sections.includes(number), `${file} cites section ${number}`);
        cited += 1;
      }
    }
    assert.doesNotMatch(text, /\bapi\.md (section|\d)/, file);
  }
  assert.ok(cited > 40, `${cited} citations were read`);
});
