/** The file of API keys: its valid content, and messages that never repeat a key. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readApiKeys } from '../../../src/server/settings/apiKeysFile.ts';
import { temporaryDirectory } from '../../support/server.ts';

const QUOTA = { perSecond: 10, burst: 20 };
const DEFAULTS = { read: QUOTA, build: QUOTA, launch: QUOTA, sockets: 7 };
const SHA = 'ab'.repeat(32);
const SECRET = 'upc_51d8a2c04e';

function read(content: unknown) {
  const file = join(temporaryDirectory(), 'keys.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readApiKeys(file, DEFAULTS);
}

test('a key has the limits that the file names, and those of an address otherwise', () => {
  const limits = { read: { perSecond: 0.5, burst: 3 }, sockets: 0 };
  assert.deepEqual(
    read({
      keys: [
        { name: 'a', sha256: SHA.toUpperCase() },
        { name: 'b', sha256: '0'.repeat(64), limits },
      ],
    }),
    [
      { name: 'a', sha256: SHA, limits: DEFAULTS },
      { name: 'b', sha256: '0'.repeat(64), limits: { ...DEFAULTS, ...limits } },
    ],
  );
  assert.deepEqual(read({ keys: [] }), []);
});

test('a bad file is refused with the place of the fault, and without its content', () => {
  const one = { name: 'a', sha256: SHA };
  const bad: readonly (readonly [content: unknown, expected: RegExp])[] = [
    ['', /no JSON/],
    [`{"keys": [${SECRET}]}`, /no JSON/],
    [[], /object/],
    [{}, /keys is required/],
    [{ keys: {} }, /keys/],
    [{ keys: [{ name: 'a' }] }, /keys\.0\.sha256 is required/],
    [
      { keys: [{ ...one, sha256: SECRET }] },
      /keys\.0\.sha256 must match pattern .*: 64 hex digits/,
    ],
    [{ keys: [{ ...one, name: `${SECRET}:` }] }, /keys\.0\.name must match/],
    [{ keys: [one, { ...one, sha256: '1'.repeat(64) }] }, /keys\.1\.name stands there twice/],
    [{ keys: [one, { ...one, name: 'b' }] }, /keys\.1\.sha256 stands there twice/],
    [{ keys: [{ ...one, [SECRET]: 1 }] }, /keys\.0 must not have additional/],
    [{ keys: [{ ...one, name: SECRET }] }, /keys\.0\.name must match/],
    [{ [SECRET]: [] }, /the file/],
    [{ keys: [{ ...one, limits: { reads: QUOTA } }] }, /keys\.0\.limits/],
    [{ keys: [{ ...one, limits: { read: { ...QUOTA, burst: 0 } } }] }, /limits\.read\.burst/],
    [
      { keys: [{ ...one, limits: { read: { ...QUOTA, perSecond: 0 } } }] },
      /limits\.read\.perSecond/,
    ],
  ];
  for (const [content, expected] of bad) {
    const found = read(content);
    assert(typeof found === 'string', JSON.stringify(content));
    assert.match(found, expected);
    assert(!found.includes(SECRET), found);
  }
  const missing = readApiKeys(join(temporaryDirectory(), 'none.json'), DEFAULTS);
  assert.match(String(missing), /cannot be read \(ENOENT\)/);
});
