/** Content ids against published ones, and against a tree built by hand. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { cidOf, isCid } from '../../../src/api/images/cid.ts';

const CHUNK = 262_144;

/** `ipfs add --cid-version=1` (js-ipfs-unixfs and Kubo's own tests; zeros: published by others). */
const VECTORS: readonly [Buffer, string][] = [
  [Buffer.from('hello world'), 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'],
  [Buffer.alloc(0), 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'],
  [Buffer.alloc(1), 'bafkreidogqfzz75tpkmjzjke425xqcrmpcib2p5tg44hnbirumdbpl5adu'],
  [Buffer.alloc(CHUNK - 1), 'bafkreic6iqyxuiad5dem4bzgyy336yoi6tegdqa4e5vt24gq3btool5cra'],
  [Buffer.alloc(CHUNK), 'bafkreiekhhjkxu4ztk3tyng3er3ijhg56mb44oe3gwbgquhzu4afrg2ksa'],
  [Buffer.alloc(CHUNK + 1), 'bafybeigllfqgfpqydppr6cmv56g7ax4wyhruzswvcefv6j5kj77nzttfki'],
  [Buffer.alloc(5 << 20), 'bafybeid7mu43g4fehkxhdkl4x3lu4pybxuxpg57it6r6z7e36soj7h2yd4'],
];

test('ids are those of ipfs add --cid-version=1', async () => {
  for (const [bytes, cid] of VECTORS) {
    assert.equal(await cidOf(bytes), cid);
    assert.ok(isCid(cid));
  }
});

test('ids are those of a tree built by hand', async () => {
  const sizes = fc.oneof(
    fc.integer({ min: 0, max: 3 * CHUNK }),
    fc.constantFrom(CHUNK, CHUNK + 1, 2 * CHUNK, 5 << 20),
  );
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(255), async (size, seed) => {
      const bytes = Buffer.alloc(size, Buffer.from([seed, 1, 2, seed ^ 10, 3, 4, 5]));
      const inside = Buffer.concat([Buffer.alloc(3), bytes]).subarray(3);
      assert.equal(await cidOf(inside), treeOf(bytes));
    }),
    { numRuns: 30 },
  );
});

test('only the one spelling of our ids is one', async () => {
  const cid = await cidOf(Buffer.from('hello world'));
  const wrong = [
    '',
    '../..',
    cid.toUpperCase(),
    `${cid}a`,
    cid.slice(0, -1),
    `${cid.slice(0, -1)}f`,
    `${cid}/..`,
    `${cid}\n`,
    `../../${cid}`,
    cid.replace('bafkrei', 'bafyrei'),
    'Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD',
    `bafkrgqbqt3gerhas23vuzrapkdeqf4vu2dwxp3srdj6hvg6nhsug2tgyn6mj${'a'.repeat(48)}`,
  ];
  for (const text of wrong) assert.ok(!isCid(text), text);
});

/** UnixFS and dag-pb by their protobuf schemas: links first, then a file node with its sizes. */
function treeOf(bytes: Buffer): string {
  const leaves: Buffer[] = [];
  for (let at = 0; at < Math.max(1, bytes.length); at += CHUNK) {
    leaves.push(bytes.subarray(at, at + CHUNK));
  }
  const [only] = leaves;
  if (leaves.length === 1 && only !== undefined) return textOf(idOf(0x55, only));
  const links = leaves.map((leaf) => {
    const link = [
      bytesField(1, idOf(0x55, leaf)),
      bytesField(2, Buffer.alloc(0)),
      intField(3, leaf.length),
    ];
    return bytesField(2, Buffer.concat(link));
  });
  const sizes = leaves.map((leaf) => intField(4, leaf.length));
  const file = Buffer.concat([intField(1, 2), intField(3, bytes.length), ...sizes]);
  return textOf(idOf(0x70, Buffer.concat([...links, bytesField(1, file)])));
}

function idOf(codec: number, block: Buffer): Buffer {
  return Buffer.concat([Buffer.from([1, codec, 0x12, 32]), hash('sha256', block, 'buffer')]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

function intField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

function bytesField(field: number, content: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

function textOf(id: Buffer): string {
  const bits = Array.from(id, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  const letters = groups.map((group) => {
    return 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(group.padEnd(5, '0'), 2)];
  });
  return `b${letters.join('')}`;
}
