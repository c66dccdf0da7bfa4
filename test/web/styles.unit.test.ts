/** Style sheets name sides as the reader's language has them: start and end, not left and right. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const SIDES = [
  /\b(margin|padding|border|inset|scroll-margin|scroll-padding)-(left|right)\b/,
  /^\s*(left|right):/,
  /\b(text-align|float|clear):\s*(left|right)\b/,
  // One after the other: top, right, bottom, left, of which right and left differ.
  /^\s*(margin|padding|inset):\s*\S+ (\S+) \S+ (?!\2;)\S+;$/,
];

/** Lines that stay as they are when the page is mirrored. */
function physicalLines(css: string): readonly string[] {
  return css.split('\n').filter((line) => SIDES.some((side) => side.test(line)));
}

test('styles name sides by the direction of the text', () => {
  const sheets = globSync('src/web/**/*.css');
  assert(sheets.length > 5, sheets.join());
  const found = sheets.flatMap((path) =>
    physicalLines(readFileSync(path, 'utf8')).map((line) => `${path}: ${line.trim()}`),
  );
  assert.deepEqual(found, []);
});

test('sides are found in each of the ways to name them', () => {
  const physical = [
    ...['  margin-left: 4px;', '  right: 0;', '  text-align: left;', '  inset: 1px 0 1px auto;'],
    ...['  border-right-color: red;', '  padding: 0 0 0 8px;', '  float: right;'],
  ];
  assert.deepEqual(physicalLines(physical.join('\n')), physical);
  const logical = [
    ...['  margin-inline-start: 4px;', '  inset: auto 0 0;', '  text-align: end;'],
    ...['  padding: 1px 2px 3px 2px;', '  inset-inline-end: 0;'],
  ];
  assert.deepEqual(physicalLines(logical.join('\n')), []);
});
