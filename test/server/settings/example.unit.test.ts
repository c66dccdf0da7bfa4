import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settingRows } from '../../../src/server/settings/help.ts';

test('config/example.env names every setting with its default, and nothing else', () => {
  const text = readFileSync(new URL('../../../config/example.env', import.meta.url), 'utf8');
  const named = text.split('\n').filter((line) => /^#[A-Z]/.test(line));
  const expected = settingRows().map(({ key, standard }) => `#${key}=${standard}`);
  assert.deepEqual(named, expected);
});
