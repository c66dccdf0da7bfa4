/** The reader of CBOR: valid input as another library reads it, hostile input without harm. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CML } from '@lucid-evolution/lucid';
import fc from 'fast-check';
import {
  ARRAY,
  BYTES,
  bytesOf,
  cborHead,
  entriesOf,
  type Item,
  integerOf,
  MAP,
  NEGATIVE,
  numberOf,
  readCbor,
  setElementsOf,
  span,
  TAG,
  TEXT,
  UNSIGNED,
} from '../../src/cardano/codec/cbor.ts';
import { fromHex, toHex } from '../../src/cardano/codec/hex.ts';
import { isFault } from '../../src/engine/runtime/assert.ts';

type Plain = bigint | Uint8Array | string | Plain[] | [Plain, Plain][];

/** Values of transaction metadata: CML writes them, strings of at most 64 bytes. */
const anyValue: fc.Arbitrary<CML.TransactionMetadatum> = fc.letrec<{
  value: CML.TransactionMetadatum;
}>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc
      .bigInt({ min: -(1n << 63n), max: (1n << 64n) - 1n })
      .map((value) => CML.TransactionMetadatum.new_int(CML.Int.from_str(String(value)))),
    fc.uint8Array({ maxLength: 64 }).map((value) => CML.TransactionMetadatum.new_bytes(value)),
    fc
      .string({ unit: 'binary', maxLength: 16 })
      .map((value) => CML.TransactionMetadatum.new_text(value)),
    fc.array(tie('value'), { maxLength: 30 }).map((values) => {
      const list = CML.MetadatumList.new();
      for (const value of values) list.add(value);
      return CML.TransactionMetadatum.new_list(list);
    }),
    fc.array(fc.tuple(fc.nat(), tie('value')), { maxLength: 5 }).map((entries) => {
      const map = CML.MetadatumMap.new();
      for (const [key, value] of entries) {
        map.set(CML.TransactionMetadatum.new_int(CML.Int.from_str(String(key))), value);
      }
      return CML.TransactionMetadatum.new_map(map);
    }),
  ),
})).value;

function ours(bytes: Uint8Array, item: Item): Plain {
  if (item.major === UNSIGNED || item.major === NEGATIVE) return integerOf(bytes, item);
  if (item.major === BYTES) return Uint8Array.from(bytesOf(bytes, item));
  if (item.major === TEXT) {
    return Buffer.from(bytes.subarray(item.contentStart, item.end)).toString('utf8');
  }
  if (item.major === ARRAY) return item.items.map((each) => ours(bytes, each));
  assert.equal(item.major, MAP);
  return entriesOf(item).map(([key, each]) => [ours(bytes, key), ours(bytes, each)]);
}

function theirs(value: CML.TransactionMetadatum): Plain {
  const list = value.as_list();
  const map = value.as_map();
  if (list !== undefined) {
    return Array.from({ length: list.len() }, (_, at) => theirs(list.get(at)));
  }
  if (map !== undefined) {
    const keys = map.keys();
    return Array.from({ length: map.len() }, (_, at): [Plain, Plain] => {
      const each = map.get(keys.get(at));
      assert.ok(each);
      return [theirs(keys.get(at)), theirs(each)];
    });
  }
  const integer = value.as_int();
  return integer !== undefined
    ? BigInt(integer.to_str())
    : (value.as_text() ?? value.as_bytes() ?? assert.fail('another kind'));
}

test('reads what CML writes, to the last byte', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const bytes = value.to_cbor_bytes();
      const item = readCbor(bytes);
      assert.deepEqual(ours(bytes, item), theirs(value));
      assert.deepEqual(span(bytes, item), bytes);
    }),
  );
});

test('reads or refuses any bytes, without ever throwing anything else', () => {
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.array(fc.constantFrom(0x9f, 0xbf, 0x5f, 0xff, 0xc2, 0x9b, 0xbb, 0xdb, 0x81, 0x00), {
      maxLength: 400,
    }),
  );
  fc.assert(
    fc.property(hostile, (data) => {
      const bytes = Uint8Array.from(data);
      try {
        assert.equal(readCbor(bytes).end, bytes.length);
      } catch (error) {
        assert.ok(isFault(error, 'malformedCbor'), String(error));
      }
    }),
    { numRuns: 5_000 },
  );
});

for (const [what, hex] of [
  ['nothing', ''],
  ['a byte after the end', '0000'],
  ['an array that announces more than there is', '9bffffffffffffffff00'],
  ['a string that announces more than there is', '5bffffffffffffffff00'],
  ['a nest of 10,000 arrays', '81'.repeat(10_000)],
  ['a nest of 10,000 endless arrays', '9f'.repeat(10_000)],
  ['a break without a beginning', 'ff'],
  ['an endless integer', '1f'],
  ['an endless tag', 'df00ff'],
  ['a reserved length', '1c'],
  ['a chunk of text in bytes', '5f6161ff'],
  ['a chunk in chunks', '5f5f4100ffff'],
  ['a key without value', 'bf00ff'],
] as const) {
  test(`refuses ${what}`, () => {
    assert.throws(() => readCbor(fromHex(hex)), { kind: 'malformedCbor' });
  });
}

test('reads every spelling of an integer', () => {
  for (const [hex, expected] of [
    ['17', 23n],
    ['1817', 23n],
    ['190017', 23n],
    ['1a00000017', 23n],
    ['1b0000000000000017', 23n],
    ['3bffffffffffffffff', -(1n << 64n)],
    ['c249010000000000000000', 1n << 64n],
    ['c349010000000000000000', -1n - (1n << 64n)],
    ['c240', 0n],
    ['c25f42010040ff', 256n],
  ] as const) {
    const bytes = fromHex(hex);
    assert.equal(integerOf(bytes, readCbor(bytes)), expected, hex);
  }
  const large = fromHex('1b0020000000000000');
  assert.throws(() => numberOf(large, readCbor(large)), { kind: 'malformedCbor' });
});

test('joins chunks of bytes', () => {
  const bytes = fromHex('5f420102404103ff');
  assert.equal(toHex(bytesOf(bytes, readCbor(bytes))), '010203');
});

test('takes a set with its tag and without', () => {
  for (const hex of ['820102', 'd90102820102', '9f0102ff', 'd901029f0102ff']) {
    const bytes = fromHex(hex);
    const found = setElementsOf(readCbor(bytes)).map((item) => integerOf(bytes, item));
    assert.deepEqual(found, [1n, 2n], hex);
  }
  assert.throws(() => setElementsOf(readCbor(fromHex('d90101820102'))), { kind: 'malformedCbor' });
});

test('writes heads with the shortest length', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), (argument) => {
      const written = CML.PlutusData.new_integer(CML.BigInteger.from_str(String(argument)));
      assert.equal(toHex(cborHead(UNSIGNED, argument)), written.to_cbor_hex());
    }),
  );
  assert.equal(toHex(cborHead(TAG, 258)), 'd90102');
});
