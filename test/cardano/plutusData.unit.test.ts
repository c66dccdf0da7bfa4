/** Plutus data as the chain serialises it, compared with Lucid's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CML, Data, Constr as LucidConstr } from '@lucid-evolution/lucid';
import fc from 'fast-check';
import { fromHex, toHex } from '../../src/cardano/codec/hex.ts';
import {
  Constr,
  decodePlutusData,
  encodePlutusData,
  type PlutusData,
  PlutusMap,
} from '../../src/cardano/codec/plutusData.ts';
import { isFault } from '../../src/engine/runtime/assert.ts';

const bytes = fc.uint8Array({ maxLength: 200 }).map(toHex);
const integers = fc.oneof(
  fc.bigInt({ min: -1000n, max: 1000n }),
  fc.bigInt({ min: -(1n << 65n), max: 1n << 65n }),
  fc.bigInt({ min: -(1n << 500n), max: 1n << 500n }),
);

/** Maps of at most `maxEntries`. */
function dataWith(maxEntries: number): fc.Arbitrary<PlutusData> {
  return fc.letrec<{ data: PlutusData }>((tie) => ({
    data: fc.oneof(
      { depthSize: 'small' },
      integers,
      bytes,
      fc.array(tie('data'), { maxLength: 5 }),
      fc
        .tuple(fc.oneof(fc.nat(8), fc.nat(127)), fc.array(tie('data'), { maxLength: 5 }))
        .map(([index, fields]) => new Constr(index, fields)),
      fc
        .uniqueArray(fc.tuple(integers, tie('data')), {
          maxLength: maxEntries,
          selector: ([key]) => key,
        })
        .map((entries) => new PlutusMap(entries)),
    ),
  })).data;
}

const anyData = dataWith(4);

function asLucid(data: PlutusData): Data {
  if (typeof data === 'bigint' || typeof data === 'string') return data;
  if (data instanceof Constr) return new LucidConstr(Number(data.index), data.fields.map(asLucid));
  if (data instanceof PlutusMap) {
    return new Map(data.entries.map(([key, each]) => [asLucid(key), asLucid(each)]));
  }
  return data.map(asLucid);
}

test('decodes what it encodes', () => {
  fc.assert(
    fc.property(anyData, (data) => {
      assert.deepEqual(decodePlutusData(encodePlutusData(data)), data);
    }),
  );
});

test('encodes byte for byte as Lucid does, maps apart, which the chain writes definite', () => {
  fc.assert(
    fc.property(dataWith(0), (data) => {
      assert.equal(toHex(encodePlutusData(data)), Data.to(asLucid(data)));
    }),
  );
});

test('decodes canonical spellings, too', () => {
  fc.assert(
    fc.property(anyData, (data) => {
      const encoded = toHex(encodePlutusData(data));
      const canonical = CML.PlutusData.from_cbor_hex(encoded).to_canonical_cbor_hex();
      const found = decodePlutusData(fromHex(canonical));
      assert.equal(Data.to(asLucid(found)), Data.to(Data.from(canonical)));
    }),
  );
});

test('writes constructors from 128 on as a pair of index and fields', () => {
  const data = new Constr(128, [1n]);
  assert.equal(toHex(encodePlutusData(data)), 'd8668218809f01ff');
  assert.deepEqual(decodePlutusData(fromHex('d8668218809f01ff')), data);
  assert.deepEqual(decodePlutusData(fromHex('d8669f18808101ff')), data);
});

test('keeps the index of a constructor that a number would round', () => {
  const written = 'd866821b0020000000000001' + '80';
  const data = decodePlutusData(fromHex(written));
  assert.ok(data instanceof Constr);
  assert.equal(data.index, 2n ** 53n + 1n);
  assert.equal(toHex(encodePlutusData(data)), written);
  assert.throws(() => decodePlutusData(fromHex('d866822080')), /constructor/);
});

test('writes maps with their length', () => {
  const map = new PlutusMap([[0n, [1n]]]);
  assert.equal(toHex(encodePlutusData(map)), 'a1009f01ff');
  assert.equal(toHex(encodePlutusData(new PlutusMap([]))), 'a0');
});

for (const [what, hex] of [
  ['text', '6161'],
  ['true', 'f5'],
  ['a float', 'f93c00'],
  ['an unknown tag', 'd8ff80'],
  ['a constructor without list', 'd87900'],
  ['a general constructor without fields', 'd8668100'],
] as const) {
  test(`refuses ${what}`, () => {
    assert.throws(() => decodePlutusData(fromHex(hex)), { kind: 'malformedCbor' });
  });
}

test('refuses or reads any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (data) => {
      try {
        decodePlutusData(data);
      } catch (error) {
        assert.ok(isFault(error, 'malformedCbor'), String(error));
      }
    }),
    { numRuns: 3_000 },
  );
});
