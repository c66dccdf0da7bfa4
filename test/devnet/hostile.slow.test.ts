/**
 * Hostile bytes: the ledger answers any bytes and continues. An exception in a command would end
 * the ledger's thread.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  encodeAssets,
  encodeOutput,
  encodeRefs,
  tagged,
  uint,
} from '../../src/cardano/codec/encode.ts';
import { scriptHash } from '../../src/cardano/codec/hash.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { REFUSALS, type SubmitOutcome } from '../../src/cardano/ledger/port.ts';
import { utxosOfAsset, utxosOfCredential } from '../../src/cardano/ledger/views.ts';
import { MAX_GIFT_LOVELACE, MIN_GIFT_LOVELACE, payFromFaucet } from '../../src/devnet/faucet.ts';
import type { Ledger } from '../../src/devnet/ledger.ts';
import { addressOf, keyNamed, openTestLedger } from '../support/ledgerWorld.ts';
import { NEVER, type RawPlan, rawTransaction } from '../support/rawTransaction.ts';
import { ADA, first, minting, type Place, pay, place, plain } from './judged.ts';

const NEVER_TOKEN = `${scriptHash(NEVER)}.746f6b`;
const RUNS = { numRuns: Number(process.env.RUNS ?? 100) };

function answered(outcome: SubmitOutcome): void {
  if (outcome.outcome === 'accepted') assert.match(outcome.txHash, /^[0-9a-f]{64}$/);
  else assert.ok(REFUSALS.includes(outcome.reason) && outcome.message.length < 1_500);
}

/** Makes blocks with the accepted transactions, and rolls them back. */
function goesOn(ledger: Ledger): void {
  assert.equal(ledger.forge(2), null);
  ledger.fork(2, 'all');
  while (ledger.isRevalidating) ledger.revalidateOne();
  assert.equal(ledger.forge(2), null);
}

/** One transaction of each kind that the ledger accepts. */
function samples(here: Place): Uint8Array[] {
  const collateral = here.mine.slice(1, 2);
  const failing: RawPlan = minting(here, {
    outputs: [{ address: addressOf('bob'), value: asValue(998n * ADA, [[NEVER_TOKEN, 5n]]) }],
    scripts: [NEVER],
    isValid: false,
    fields: {
      9: encodeAssets(new Map([[NEVER_TOKEN, 5n]])),
      13: encodeRefs(collateral),
      16: encodeOutput(pay('alice', 997n * ADA)),
      17: uint(3n * ADA),
    },
  });
  const plans: RawPlan[] = [
    plain(here),
    plain(here, { fields: { 3: uint(50), 8: uint(0), 15: uint(0) } }),
    plain(here, { fields: { 0: tagged(258, encodeRefs([first(here.mine)])) } }),
    plain(here, { fields: { 18: encodeRefs(here.mine.slice(2, 4)) } }),
    minting(here),
    failing,
  ];
  return plans.map((plan) => rawTransaction(plan).bytes);
}

test('any bytes are answered', () => {
  const { ledger } = openTestLedger();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => answered(ledger.submit(bytes))),
    { numRuns: 2_000 },
  );
  answered(ledger.submit(new Uint8Array(20_000)));
  answered(ledger.submit(new Uint8Array(16_000).fill(0x81)));
  goesOn(ledger);
});

const change = fc.record({
  kind: fc.constantFrom('byte', 'bit', 'cut', 'insert', 'twice'),
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  value: fc.oneof(fc.nat(255), fc.constantFrom(0x00, 0x20, 0x3b, 0x1b, 0x5f, 0x80, 0xc2, 0xff)),
  length: fc.integer({ min: 1, max: 40 }),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(bytes: Buffer, { kind, at, value, length }: Change): Buffer {
  const place = Math.floor(at * bytes.length);
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
  const part = bytes.subarray(place, place + length);
  if (kind === 'cut') return Buffer.concat([before, after.subarray(length)]);
  if (kind === 'insert') return Buffer.concat([before, Uint8Array.of(value), after]);
  if (kind === 'twice') return Buffer.concat([before, part, after]);
  const byte = kind === 'byte' ? value : (bytes[place] ?? 0) ^ (1 << (value % 8));
  return Buffer.concat([before, Uint8Array.of(byte), after.subarray(1)]);
}

test('the samples are such as the ledger takes', () => {
  for (const at of samples(place()).keys()) {
    const here = place();
    const outcome = here.ledger.submit(samples(here)[at] ?? new Uint8Array());
    assert.equal(outcome.outcome, 'accepted', JSON.stringify(outcome));
  }
});

test('any change of a transaction is answered, and what was let in fits into blocks', () => {
  const kinds = samples(place()).length;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(kinds - 1), fc.array(change, { minLength: 1, maxLength: 3 })), {
        minLength: 5,
        maxLength: 15,
      }),
      (tries) => {
        const here = place();
        const originals = samples(here);
        for (const [kind, changes] of tries) {
          const original = Buffer.from(originals[kind] ?? new Uint8Array());
          answered(here.ledger.submit(changes.reduce(changed, original)));
        }
        goesOn(here.ledger);
      },
    ),
    RUNS,
  );
});

/** Signed as it should be, over a body in which one field is another. */
test('any field of a body is answered, signed as it should be', () => {
  const field = fc.integer({ min: -1, max: 24 });
  const value = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 12 }),
    fc
      .constantFrom(
        ...['00', '20', 'f6', '80', 'a0', '40', '60', 'd9010280', '9fff', 'bfff', '5fff', '8100'],
        ...[
          'a10000',
          '3bffffffffffffffff',
          '1bffffffffffffffff',
          'fb7ff8000000000000',
          'c240',
          'f7',
        ],
      )
      .map((hex) => Buffer.from(hex, 'hex')),
  );
  const here = place();
  fc.assert(
    fc.property(field, value, fc.boolean(), (key, bytes, mints) => {
      const fields = key < 0 ? {} : { [key]: bytes };
      const plan = mints ? minting(here, { fields }) : plain(here, { fields });
      answered(here.ledger.submit(rawTransaction(plan).bytes));
    }),
    { numRuns: 1_500 },
  );
  goesOn(here.ledger);
});

test('the faucet answers any address and any amount', () => {
  const { ledger } = openTestLedger();
  const good = addressOf('zoe');
  const key = keyNamed('faucet');
  const address = fc.oneof(
    fc.string(),
    fc.constantFrom(
      ...['', 'addr_test1', 'addr1', good, good.toUpperCase(), `${good} `, good.slice(0, -1)],
      ...['stake_test1', good.replace('addr_test', 'addr'), 'Ae2tdPwUPEZ', '\0', '💥'.repeat(99)],
    ),
    fc.nat(good.length - 1).map((at) => `${good.slice(0, at)}q${good.slice(at + 1)}`),
  );
  const amount = fc.oneof(
    fc.bigInt(),
    fc.bigInt({ min: MIN_GIFT_LOVELACE - 1n, max: MAX_GIFT_LOVELACE + 1n }),
  );
  fc.assert(
    fc.property(address, amount, (to, lovelace) =>
      answered(payFromFaucet(ledger, key, to, lovelace)),
    ),
    RUNS,
  );
  goesOn(ledger);
});

test('lookups answer odd keys, assets and pages', () => {
  const { ledger } = openTestLedger();
  const ref = fc.record({
    txHash: fc.constantFrom('', 'ff', 'ab'.repeat(32)),
    index: fc.integer(),
  });
  const page = fc.record({ after: ref, offset: fc.nat(), limit: fc.nat() }, { requiredKeys: [] });
  const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', keyNamed('alice').hash));
  fc.assert(
    fc.property(name, page, ref, (text, where, asked) => {
      for (const view of ['spendable', 'newest', 'wallet'] as const) {
        assert.ok(Array.isArray(utxosOfCredential(ledger, text, view, where)));
        assert.deepEqual(utxosOfAsset(ledger, text, view), []);
      }
      assert.equal(ledger.output(asked).state, 'unknown');
    }),
    RUNS,
  );
});
