/** Transactions of any content, for what reads and writes them as JSON. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { scriptAddress } from '../../../src/cardano/codec/address.ts';
import { array, byteString, uint } from '../../../src/cardano/codec/encode.ts';
import { type ForeignOutput, foreignOutput } from '../../../src/cardano/codec/foreignOutput.ts';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import { compareRefs, type Output } from '../../../src/cardano/codec/output.ts';
import { Constr, encodePlutusData } from '../../../src/cardano/codec/plutusData.ts';
import { PURPOSES, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue } from '../../../src/cardano/codec/value.ts';
import { addressOf } from '../../support/ledgerWorld.ts';

/** With the prototype that objects have. */
function record<T>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<T> {
  return fc.record<T>(model, { noNullPrototype: true });
}

const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(toHex);
const anyHex = (most: number) => fc.uint8Array({ maxLength: most }).map(toHex);
/** Also what no `number` holds. */
const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: 100_000_000n }),
  fc.bigInt({ min: 1n << 53n, max: (1n << 64n) - 1n }),
);
const slot = fc.option(fc.nat(200_000_000));
const ref = record({ txHash: hex(32), index: fc.nat(300) });

/** Few policies, so that one has several names; amounts are never zero. */
const assets = fc
  .uniqueArray(fc.tuple(fc.constantFrom('aa', 'bb', '11'), anyHex(32), amount), {
    maxLength: 5,
    selector: ([policy, name]) => `${policy}.${name}`,
  })
  .map((list) =>
    list
      .map(([policy, name, held]) => [policy.repeat(28), name, (held >> 1n) + 1n] as const)
      .sort(([p, n], [q, m]) => compare(p, q) || n.length - m.length || compare(n, m))
      .map(([policy, name, held]) => [`${policy}.${name}`, held] as const),
  );

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const data = fc
  .tuple(fc.nat(9), anyHex(100), amount)
  .map(([tag, bytes, number]) => new Constr(tag, [bytes, number, [new Constr(0, [])]]));

const native = hex(28).map((key) => {
  const signature = array([uint(0), byteString(fromHex(key))]);
  const either = array([uint(3), uint(1), array([signature, array([uint(4), uint(77)])])]);
  return { language: 'native' as const, code: toHex(array([uint(1), array([either])])) };
});
const script: fc.Arbitrary<ForeignOutput['script']> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  native,
  record({
    language: fc.constantFrom('plutus:v1' as const, 'plutus:v2' as const, 'plutus:v3' as const),
    code: anyHex(60),
  }),
);

const output: fc.Arbitrary<Output> = record({
  address: fc.oneof(
    fc.constantFrom(addressOf('alice'), addressOf('bob')),
    hex(28).map((hash) => scriptAddress('mainnet', hash, { kind: 'key', hash })),
    // Byron's.
    hex(40).map((text) => `82d818${text}`),
  ),
  value: fc.tuple(amount, assets).map(([lovelace, held]) => asValue(lovelace, held)),
  datum: fc.oneof(
    fc.constant(null),
    data.map((inline) => ({ inline: toHex(encodePlutusData(inline)) })),
    hex(32).map((hash) => ({ hash })),
  ),
  script,
}).map((foreign) => foreignOutput(foreign) ?? assert.fail('it has an address'));

const none = new Uint8Array(0);

export const anyTransaction: fc.Arbitrary<Transaction> = record({
  id: hex(32),
  bytes: fc.constant(none),
  body: fc.constant(none),
  witnessSet: fc.constant(none),
  isValid: fc.boolean(),
  inputs: fc.array(ref, { maxLength: 4 }).map((refs) => refs.sort(compareRefs)),
  referenceInputs: fc.array(ref, { maxLength: 2 }),
  collateralInputs: fc.array(ref, { maxLength: 2 }),
  outputs: fc.array(output, { maxLength: 4 }),
  collateralReturn: fc.option(output),
  totalCollateralLovelace: fc.option(amount),
  feeLovelace: amount,
  mint: assets.map((list) => new Map(list.map(([asset, held], at) => [asset, sign(at) * held]))),
  validFromSlot: slot,
  validToSlot: slot,
  requiredSigners: fc.array(hex(28), { maxLength: 2 }),
  hasCertificates: fc.constant(false),
  hasWithdrawals: fc.constant(false),
  redeemers: fc.array(
    record({
      purpose: fc.constantFrom(...PURPOSES),
      index: fc.nat(100),
      data,
      memory: amount,
      cpu: amount,
    }),
    { maxLength: 3 },
  ),
  keyWitnesses: fc.array(
    record({ publicKey: hex(32), signature: fc.uint8Array({ minLength: 64, maxLength: 64 }) }),
    { maxLength: 2 },
  ),
});

function sign(at: number): bigint {
  return at % 2 === 0 ? 1n : -1n;
}
