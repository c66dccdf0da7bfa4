/**
 * Signatures merged into transactions of any form: the body and the existing witnesses stay byte
 * for byte.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { array, byteString, hexString, integer, map } from '../../../src/cardano/codec/encode.ts';
import { blake2b256 } from '../../../src/cardano/codec/hash.ts';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { Key } from '../../../src/cardano/keys/keys.ts';
import { planOrder } from '../../../src/cardano/transactions/order.ts';
import { mergeWitnesses } from '../../../src/cardano/transactions/witness.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { ADA, ALICE, ada, BOB, built, DEPLOYMENT, NOW_MS, orderOf, refused } from './world.ts';

function witness(key: Key, id: string): Uint8Array {
  return array([hexString(key.publicKey), byteString(key.sign(fromHex(id)))]);
}

function witnessSet(id: string, keys: readonly Key[]): string {
  return toHex(map([[integer(0), array(keys.map((key) => witness(key, id)))]]));
}

/** A body as foreign software writes it: sets under tag 258, indefinite lists, long integers. */
const FOREIGN_BODY = Buffer.concat([
  Buffer.from('bf00d901029f825820', 'hex'),
  Buffer.alloc(32, 7),
  Buffer.from('1900ffff019fa2005839', 'hex'),
  Buffer.from('00', 'hex'),
  Buffer.alloc(56, 9),
  Buffer.from('011b00000000000f4240ff021a00030d40ff', 'hex'),
]);

/** Forms of a witness set with the witnesses of these keys: [set, what it is]. */
const FORMS: readonly [string, (items: Uint8Array[]) => Uint8Array][] = [
  ['definite', (items) => map([[integer(0), array(items)]])],
  ['tagged', (items) => concat('a100d90102', array(items))],
  ['indefinite', (items) => concat('bf009f', ...items, 'ffff')],
  ['tagged indefinite', (items) => concat('bf00d901029f', ...items, 'ffff')],
  ['with redeemers', (items) => concat('a205a000', array(items))],
  [
    'long head',
    (items) =>
      concat('b90001', '00', `9900${items.length.toString(16).padStart(2, '0')}`, ...items),
  ],
];

function concat(...parts: (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)),
  );
}

const key = (n: number) => new Key((n + 1).toString(16).padStart(64, '5'));

test('a signature is merged into any form, and nothing else changes', () => {
  const id = blake2b256(FOREIGN_BODY);
  for (const [name, write] of FORMS) {
    for (const before of [0, 1, 23, 24]) {
      const items = Array.from({ length: before }, (_, n) => witness(key(n), id));
      const set = write(items);
      const transaction = concat('84', FOREIGN_BODY, set, 'f5f6');
      const merged = mergeWitnesses(transaction, witnessSet(id, [key(50), key(51)]));
      assert.ok(merged instanceof Uint8Array, name);
      const decoded = decodeTransaction(merged);
      assert.equal(decoded.id, id);
      assert.deepEqual(Buffer.from(decoded.body), FOREIGN_BODY);
      assert.equal(decoded.keyWitnesses.length, before + 2, name);
      for (const item of items) assert.ok(Buffer.from(merged).includes(Buffer.from(item)));
      const tag = Buffer.from('d90102', 'hex');
      assert.equal(Buffer.from(decoded.witnessSet).includes(tag), name.includes('tagged'));
    }
  }
});

test('empty witness sets of both forms take a first signature', () => {
  const id = blake2b256(FOREIGN_BODY);
  for (const set of ['a0', 'bfff', 'a105a0', 'bf05a0ff', 'b90000']) {
    const merged = mergeWitnesses(
      concat('84', FOREIGN_BODY, set, 'f5f6'),
      witnessSet(id, [key(1)]),
    );
    assert.ok(merged instanceof Uint8Array);
    const decoded = decodeTransaction(merged);
    assert.equal(decoded.keyWitnesses.length, 1);
    assert.deepEqual(Buffer.from(decoded.body), FOREIGN_BODY);
  }
});

test('what we built is signed by its owner alone, twice without harm', () => {
  const wallet = [ada(ALICE, 100n * ADA)];
  const transaction = built(
    planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), wallet, NOW_MS).plan,
  );
  const set = witnessSet(transaction.id, [ALICE.key]);
  const once = mergeWitnesses(transaction.bytes, set);
  assert.ok(once instanceof Uint8Array);
  assert.deepEqual(mergeWitnesses(once, set), once);
  assert.equal(refused(once, wallet), null);
});

test('a signature for another body, of another key, or none is refused', () => {
  const wallet = [ada(ALICE, 100n * ADA)];
  const { bytes, id } = built(
    planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), wallet, NOW_MS).plan,
  );
  const forged = toHex(
    map([
      [
        integer(0),
        array([array([hexString(BOB.key.publicKey), byteString(ALICE.key.sign(fromHex(id)))])]),
      ],
    ]),
  );
  const reasonOf = (set: string, transaction = bytes) => {
    const outcome = mergeWitnesses(transaction, set);
    return outcome instanceof Failure ? [outcome.status, outcome.reason] : null;
  };
  assert.deepEqual(reasonOf(witnessSet('ab'.repeat(32), [ALICE.key])), [500, 'BAD_SIGNATURE']);
  assert.deepEqual(reasonOf(forged), [500, 'BAD_SIGNATURE']);
  const garbage = ['', 'a0', 'zz', 'a1', 'a10080', 'a100', '00', 'a100818100', 'a10081820000'];
  for (const set of garbage) assert.deepEqual(reasonOf(set), [500, 'MALFORMED'], set);
  const many = Array.from({ length: 51 }, (_, n) => key(n));
  assert.deepEqual(reasonOf(witnessSet(id, many)), [500, 'MALFORMED']);
  const short = toHex(map([[integer(0), array([array([hexString('ab'), hexString('cd')])])]]));
  assert.deepEqual(reasonOf(short), [500, 'BAD_SIGNATURE']);
  const good = witnessSet(id, [ALICE.key]);
  for (const broken of ['', '84', '80', '84a0a0f5f6', 'f6', '83a0a0f6']) {
    assert.deepEqual(reasonOf(good, Buffer.from(broken, 'hex')), [500, 'MALFORMED'], broken);
  }
});

test('random bytes never throw', () => {
  const { bytes, id } = built(
    planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), [ada(ALICE, 100n * ADA)], NOW_MS).plan,
  );
  const set = Buffer.from(witnessSet(id, [ALICE.key]), 'hex');
  const flips = fc.record({
    at: fc.nat(),
    to: fc.integer({ min: 0, max: 255 }),
    inSet: fc.boolean(),
  });
  fc.assert(
    fc.property(flips, ({ at, to, inSet }) => {
      const target = Buffer.from(inSet ? set : bytes);
      target[at % target.length] = to;
      const outcome = mergeWitnesses(inSet ? bytes : target, toHex(inSet ? target : set));
      assert.ok(outcome instanceof Failure || outcome instanceof Uint8Array);
    }),
    { numRuns: 1000 },
  );
});

test('only key witnesses are taken from what is merged', () => {
  const { bytes, id } = built(
    planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), [ada(ALICE, 100n * ADA)], NOW_MS).plan,
  );
  const set = concat('a200', array([witness(ALICE.key, id)]), '0481d87980');
  const merged = mergeWitnesses(bytes, toHex(set));
  assert.deepEqual(merged, mergeWitnesses(bytes, witnessSet(id, [ALICE.key])));
});
