import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseAsset, parseAssetOrAlias } from '../../../src/engine/market/asset.ts';

const POLICY = 'ab'.repeat(28);

test('an asset id is taken in any hex case and answered in lower case', () => {
  assert.equal(parseAsset('.'), '.');
  assert.equal(parseAsset(`${POLICY}.`), `${POLICY}.`);
  assert.equal(parseAsset(`${POLICY.toUpperCase()}.4F4B`), `${POLICY}.4f4b`);
  assert.equal(parseAsset(`${POLICY}.${'0f'.repeat(32)}`), `${POLICY}.${'0f'.repeat(32)}`);
});

test('invalid asset ids are refused', () => {
  const bad = ['', ' ', 'ADA', '0x', 'lovelace', POLICY, `${POLICY}.4`, `${POLICY}.zz`, '../..'];
  bad.push(`${POLICY}ab.4f`, `${POLICY.slice(2)}.4f`, `${POLICY}.${'0f'.repeat(33)}`);
  bad.push(`${POLICY}.4f\n`, `\n${POLICY}.4f`, `${POLICY}.4f.4f`, `${POLICY.slice(1)}ａ.4f`);
  for (const text of bad) assert.equal(parseAsset(text), null, JSON.stringify(text));
});

test('the aliases of the coin are taken where they are allowed, in this spelling only', () => {
  assert.equal(parseAssetOrAlias('ADA'), '.');
  assert.equal(parseAssetOrAlias('0x'), '.');
  assert.equal(parseAssetOrAlias('.'), '.');
  for (const text of ['ada', '0X', 'ADA ']) assert.equal(parseAssetOrAlias(text), null);
});

test('a parsed id parses to itself', () => {
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF') });
  fc.assert(
    fc.property(hex, (text) => {
      const parsed = parseAsset(`${POLICY}.${text}`);
      assert.equal(parsed !== null, text.length % 2 === 0 && text.length <= 64);
      if (parsed !== null) assert.equal(parseAsset(parsed), parsed);
    }),
  );
});
