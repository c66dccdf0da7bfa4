/**
 * Refusals of the ledger, with their reasons: one transaction for each rule of phase 1. Our own
 * checks find the faults that Scalus lets through (checks.ts). Scripts: scriptRefusals.test.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress } from '../../src/cardano/codec/address.ts';
import {
  array,
  byteString,
  encodeOutput,
  encodeRef,
  encodeRefs,
  map,
  tagged,
  uint,
} from '../../src/cardano/codec/encode.ts';
import { fromHex, toHex } from '../../src/cardano/codec/hex.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../src/cardano/codec/value.ts';
import { addressOf } from '../support/ledgerWorld.ts';
import { ALWAYS_HASH, rawTransaction } from '../support/rawTransaction.ts';
import {
  ADA,
  accepts,
  alice,
  bob,
  CLASS_NAME,
  FEE,
  first,
  pay,
  place,
  plain,
  refuses,
  TOKEN,
} from './judged.ts';

/** Fees do not count the byte of the validity flag. */
const UNCOUNTED_BYTES = 1;

accepts('a plain payment', (here) => plain(here));
accepts('inputs under the tag of a set', (here) =>
  plain(here, { fields: { 0: tagged(258, encodeRefs([first(here.mine)])) } }),
);
accepts('an unneeded witness', (here) => plain(here, { keys: [alice, bob] }));
accepts('the least fee', (here) => {
  const fee = (feeLovelace: bigint) =>
    plain(here, { feeLovelace, outputs: [pay('bob', 1000n * ADA - feeLovelace)] });
  const bytes = rawTransaction(fee(160_000n)).bytes.length;
  return fee(155_381n + 44n * BigInt(bytes - UNCOUNTED_BYTES));
});
accepts('our network id', (here) => plain(here, { fields: { 15: uint(0) } }));
accepts('an interval around the slot', (here) =>
  plain(here, { fields: { 3: uint(1), 8: uint(0) } }),
);

refuses('lovelace from nowhere', 'VALUE_NOT_CONSERVED', /not conserved/, (here) =>
  plain(here, { outputs: [pay('bob', 11n * ADA), pay('alice', 990n * ADA - FEE)] }),
);
refuses('lovelace that vanish', 'VALUE_NOT_CONSERVED', /not conserved/, (here) =>
  plain(here, { outputs: [pay('bob', 10n * ADA)] }),
);
refuses('a token without a mint', 'VALUE_NOT_CONSERVED', /not conserved/, (here) =>
  plain(here, {
    outputs: [
      { address: addressOf('bob'), value: asValue(10n * ADA, [[TOKEN, 5n]]) },
      pay('alice', 990n * ADA - FEE),
    ],
  }),
);
refuses('a zero fee', 'FEE_TOO_SMALL', /minimum required/, (here) =>
  plain(here, { feeLovelace: 0n, outputs: [pay('bob', 10n * ADA), pay('alice', 990n * ADA)] }),
);
refuses('a fee one lovelace short', 'FEE_TOO_SMALL', /minimum required/, (here) => {
  const fee = (feeLovelace: bigint) =>
    plain(here, { feeLovelace, outputs: [pay('bob', 1000n * ADA - feeLovelace)] });
  const bytes = rawTransaction(fee(160_000n)).bytes.length;
  return fee(155_381n + 44n * BigInt(bytes - UNCOUNTED_BYTES) - 1n);
});
refuses('no signature at all', 'SIGNATURE_MISSING', /key hashes/, (here) =>
  plain(here, { keys: [] }),
);
refuses("somebody else's signature", 'SIGNATURE_MISSING', /key hashes/, (here) =>
  plain(here, { keys: [bob] }),
);
refuses('a required signer who did not sign', 'SIGNATURE_MISSING', /key hashes/, (here) =>
  plain(here, { fields: { 14: array([byteString(fromHex(bob.hash))]) } }),
);
refuses('a signature of other bytes', 'BAD_SIGNATURE', /verified signatures/, (here) => {
  const key = { ...alice, sign: () => alice.sign(Uint8Array.of(1)) };
  return plain(here, { keys: [key] });
});
refuses('an interval that has ended', 'EXPIRED', /before slot 0/, (here) =>
  plain(here, { fields: { 3: uint(0) } }),
);
refuses('an interval still to begin', 'NOT_YET_VALID', /from slot 1/, (here) =>
  plain(here, { fields: { 8: uint(1) } }),
);
/** CBOR of -1, and of 2^64. */
const MINUS_ONE = Uint8Array.of(0x20);
const TOO_MUCH = Buffer.concat([Uint8Array.of(0xc2), byteString(fromHex(`01${'00'.repeat(8)}`))]);
const UNSIGNED_FIELDS = [
  ['fee', 2],
  ['end of validity', 3],
  ['start of validity', 8],
  ['total collateral', 17],
] as const;
for (const [what, field] of UNSIGNED_FIELDS) {
  refuses(`a negative ${what}`, 'MALFORMED', new RegExp(`its ${what} is -1`), (here) =>
    plain(here, { fields: { [field]: MINUS_ONE } }),
  );
  refuses(`a ${what} of 2^64`, 'MALFORMED', /./, (here) =>
    plain(here, { fields: { [field]: TOO_MUCH } }),
  );
}
refuses('an input with a negative index', 'MALFORMED', /names the output/, (here) => {
  const odd = array([byteString(fromHex(first(here.mine).txHash)), MINUS_ONE]);
  return plain(here, { fields: { 0: array([odd]) } });
});
refuses('an output below min-ADA', 'OUTPUT_TOO_SMALL', /too small/, (here) =>
  plain(here, { outputs: [pay('bob', 800_000n), pay('alice', 1000n * ADA - FEE - 800_000n)] }),
);
refuses('an input that never was', 'INPUT_SPENT', /is unknown/, (here) =>
  plain(here, { inputs: [{ txHash: 'cc'.repeat(32), index: 0 }] }),
);
refuses('a reference input that never was', 'INPUT_SPENT', /is unknown/, (here) =>
  plain(here, { fields: { 18: encodeRefs([{ txHash: 'cc'.repeat(32), index: 0 }]) } }),
);
refuses('no inputs', 'MALFORMED', /./, (here) => plain(here, { inputs: [] }));
refuses('an input named twice', 'MALFORMED', /input twice/, (here) => {
  const ref = encodeRef(first(here.mine));
  return plain(here, { fields: { 0: array([ref, ref]) } });
});
refuses('an input named twice in two spellings', 'MALFORMED', /input twice/, (here) => {
  const { txHash, index } = first(here.mine);
  const long = array([byteString(fromHex(txHash)), Uint8Array.of(0x19, 0, index)]);
  return plain(here, { fields: { 0: array([encodeRef({ txHash, index }), long]) } });
});
refuses('another network in the body', 'REFUSED', /[Ww]rong network/, (here) =>
  plain(here, { fields: { 15: uint(1) } }),
);
refuses('an address of mainnet', 'REFUSED', /[Ww]rong network/, (here) => {
  const payment = { kind: 'key', hash: bob.hash } as const;
  const address = formatAddress({ network: 'mainnet', payment, stake: null, pointer: false });
  const outputs = [{ address, value: coins(10n * ADA) }, pay('alice', 990n * ADA - FEE)];
  return plain(here, { outputs });
});
refuses('a hash of auxiliary data that is not there', 'REFUSED', /auxiliary/, (here) =>
  plain(here, { fields: { 7: byteString(new Uint8Array(32)) } }),
);
refuses('auxiliary data without hash', 'REFUSED', /auxiliary/, (here) =>
  plain(here, { auxiliary: map([[uint(1), uint(2)]]) }),
);
refuses('auxiliary data with another hash', 'REFUSED', /auxiliary/, (here) =>
  plain(here, {
    auxiliary: map([[uint(1), uint(2)]]),
    fields: { 7: byteString(new Uint8Array(32)) },
  }),
);
refuses('a script data hash without scripts', 'REFUSED', /script data hash/, (here) =>
  plain(here, { fields: { 11: byteString(new Uint8Array(32)) } }),
);
refuses('a certificate', 'REFUSED', /no staking/, (here) =>
  plain(here, {
    fields: { 4: array([array([uint(0), array([uint(0), byteString(fromHex(alice.hash))])])]) },
  }),
);
refuses('a withdrawal', 'REFUSED', /no staking/, (here) =>
  plain(here, { fields: { 5: map([[byteString(fromHex(`e0${alice.hash}`)), uint(0)]]) } }),
);
refuses('a donation', 'REFUSED', /no staking/, (here) => plain(here, { fields: { 22: uint(1) } }));
refuses('an unknown field', 'MALFORMED', /./, (here) => plain(here, { fields: { 99: uint(1) } }));
refuses('is_valid false though nothing fails', 'SCRIPT_FAILED', /flag/, (here) =>
  plain(here, { isValid: false }),
);
refuses('too many bytes', 'LIMITS_EXCEEDED', /bytes, at most 16384/, (here) =>
  plain(here, {
    feeLovelace: 10n * ADA,
    outputs: [pay('alice', 490n * ADA), ...Array.from({ length: 500 }, () => pay('bob', ADA))],
  }),
);
/** Bob's output with a bundle written by hand. */
function bundled(amounts: Uint8Array): Uint8Array {
  const value = array([uint(10n * ADA), map([[byteString(fromHex(ALWAYS_HASH)), amounts]])]);
  return map([
    [uint(0), byteString(fromHex(`60${bob.hash}`))],
    [uint(1), value],
  ]);
}

const NAME = byteString(fromHex('746f6b'));

for (const [what, outputs] of [
  ['0 of a token', [bundled(map([[NAME, uint(0)]]))]],
  [
    'less than nothing of a token',
    [bundled(map([[NAME, Uint8Array.of(0x24)]])), bundled(map([[NAME, uint(5)]]))],
  ],
  [
    'a token named twice',
    [
      bundled(
        map([
          [NAME, uint(5)],
          [NAME, uint(5)],
        ]),
      ),
    ],
  ],
] as const) {
  refuses(`an output with ${what}`, 'MALFORMED', /0 of|nothing|twice/, (here) =>
    plain(here, {
      fields: {
        1: array([
          ...outputs,
          encodeOutput(pay('alice', 1000n * ADA - BigInt(outputs.length) * 10n * ADA - FEE)),
        ]),
      },
    }),
  );
}
refuses('more lovelace than there can be', 'MALFORMED', /./, (here) =>
  plain(here, { outputs: [pay('bob', (1n << 64n) - 1n), pay('alice', 1000n * ADA - FEE + 1n)] }),
);

refuses('an output to no address', 'MALFORMED', /address/, (here) => {
  const lovelace = uint(1000n * ADA - FEE);
  const output = map([
    [uint(0), byteString(new Uint8Array(900))],
    [uint(1), lovelace],
  ]);
  return plain(here, { fields: { 1: array([output]) } });
});

test('INPUT_SPENT: an input of one that waits, or of one in a block', () => {
  const here = place();
  const { bytes, id } = rawTransaction(plain(here));
  const rival = rawTransaction(plain(here, { outputs: [pay('bob', 1000n * ADA - FEE)] })).bytes;
  assert.equal(here.ledger.submit(bytes).outcome, 'accepted');
  const refused = here.ledger.submit(rival);
  assert.equal(refused.outcome === 'refused' && refused.reason, 'INPUT_SPENT');
  assert.ok(refused.outcome === 'refused' && refused.message.includes(`spent by ${id}`));
  here.ledger.forge();
  const late = here.ledger.submit(rival);
  assert.equal(late.outcome === 'refused' && late.reason, 'INPUT_SPENT');
  assert.deepEqual(
    here.ledger.submit(bytes),
    { outcome: 'accepted', txHash: id },
    'again: no harm',
  );
});

test('MALFORMED: bytes that are no transaction', () => {
  const here = place();
  const { bytes } = rawTransaction(plain(here));
  const garbage: [string, Uint8Array][] = [
    ['nothing', new Uint8Array(0)],
    ['four bytes', Uint8Array.of(1, 2, 3, 4)],
    ['a text', Buffer.from('84a300')],
    ['a byte too many', Buffer.concat([bytes, Uint8Array.of(0)])],
    ['a byte too few', bytes.subarray(0, -1)],
    ['an array without end', new Uint8Array(10_000).fill(0x9f)],
    ['a length that is not there', Buffer.from('9bffffffffffffffff', 'hex')],
    ['zeros', new Uint8Array(16_000)],
  ];
  for (const [what, each] of garbage) {
    const outcome = here.ledger.submit(each);
    assert.equal(outcome.outcome === 'refused' && outcome.reason, 'MALFORMED', what);
  }
  assert.equal(here.ledger.submit(bytes).outcome, 'accepted');
});

test('refuses a valid transaction with any one byte changed, and never throws', () => {
  const here = place();
  const { bytes, id } = rawTransaction(plain(here));
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Uint8Array.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const outcome = here.ledger.submit(changed);
    assert.equal(outcome.outcome, 'refused', `byte ${at}`);
  }
  assert.deepEqual(here.ledger.submit(bytes), { outcome: 'accepted', txHash: id });
});

/** Legal CBOR, which a Cardano node takes; `docs/devnet.md` says that this ledger does not. */
for (const part of ['body', 'witnessSet'] as const) {
  test(`MALFORMED: the ${part} as a map of indefinite length`, () => {
    const here = place();
    const { bytes } = rawTransaction(plain(here));
    const whole = toHex(bytes);
    const map = toHex(decodeTransaction(bytes)[part]);
    assert.match(map, /^a[0-9]/, 'a short map of definite length');
    const outcome = here.ledger.submit(fromHex(whole.replace(map, `bf${map.slice(2)}ff`)));
    assert.ok(outcome.outcome === 'refused');
    assert.equal(outcome.reason, 'MALFORMED');
    assert.match(outcome.message, /a map of definite length but got a map of indefinite length/);
    assert.doesNotMatch(outcome.message, CLASS_NAME);
  });
}
