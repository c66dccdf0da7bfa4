/** Arguments of `conform`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsed as checked } from '../parsed.ts';

const parsed = (line: string) => checked(line.split(' '));

test('conform takes a URL, and reads only unless a devnet is named', () => {
  const usual = { name: 'conform', mayChange: false, waitMs: 20_000, badge: null };
  const url = 'http://127.0.0.1:8080';
  assert.deepEqual(parsed(`conform ${url}/`), { ...usual, url });
  const all = { ...usual, url, mayChange: true, waitMs: 5_000, badge: 'a.svg' };
  assert.deepEqual(parsed(`conform ${url} --devnet --wait 5s --badge a.svg`), all);
});

test('invalid options of conform get a message of one line with the remedy', () => {
  for (const [line, said] of [
    ['conform', /takes the URL of a server/],
    ['conform ws://x', /no http\(s\) URL/],
    ['conform http://x y', /unexpected argument: y/],
    ['conform http://x --wait soon', /--wait takes a duration/],
    ['load http://x --badge a.svg', /--badge goes with conform/],
  ] as const) {
    assert.match(String(parsed(line)), said, line);
  }
});
