/** Outputs told in JSON become the bytes that we would have read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatAddress } from '../../src/cardano/codec/address.ts';
import { encodeOutput } from '../../src/cardano/codec/encode.ts';
import { foreignOutput, SCRIPT_LANGUAGES } from '../../src/cardano/codec/foreignOutput.ts';
import { decodeOutput } from '../../src/cardano/codec/output.ts';
import { asValue } from '../../src/cardano/codec/value.ts';

const credential = fc.record({
  kind: fc.constantFrom('key' as const, 'script' as const),
  hash: fc.uint8Array({ minLength: 28, maxLength: 28 }).map((b) => Buffer.from(b).toString('hex')),
});
const address = fc
  .record({
    network: fc.constantFrom('mainnet' as const, 'testnet' as const),
    payment: credential,
    stake: fc.option(credential),
  })
  .map((parts) => formatAddress({ ...parts, pointer: false }));
const bytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((b) => Buffer.from(b).toString('hex'));
const value = fc
  .tuple(
    fc.bigInt(0n, (1n << 63n) - 1n),
    fc.array(fc.tuple(bytes(28, 28), bytes(0, 32), fc.bigInt(1n, (1n << 63n) - 1n)), {
      maxLength: 4,
    }),
  )
  .map(([lovelace, assets]) =>
    asValue(
      lovelace,
      assets.map(([policy, name, amount]) => [`${policy}.${name}`, amount] as const),
    ),
  );

test('an output is the same whether it was read or told', () => {
  const datum = fc.option(fc.constantFrom('00', 'd87980', '9f0102ff'), { nil: undefined });
  const script = fc.option(bytes(1, 80), { nil: undefined });
  fc.assert(
    fc.property(address, value, datum, script, (to, worth, data, code) => {
      const plan = { address: to, value: worth };
      const written = encodeOutput({
        ...plan,
        ...(data === undefined ? {} : { datum: data }),
        ...(code === undefined ? {} : { script: code }),
      });
      const told = foreignOutput({
        ...plan,
        datum: data === undefined ? null : { inline: data },
        script: code === undefined ? null : { language: 'plutus:v2', code },
      });
      assert.deepEqual(told, decodeOutput(written));
    }),
  );
});

test('scripts of every language, datums by hash and Byron addresses can be read back', () => {
  const byron = 'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi';
  for (const language of SCRIPT_LANGUAGES) {
    const told = foreignOutput({
      address: byron,
      value: asValue(5n, []),
      datum: { hash: 'ab'.repeat(32) },
      script: {
        language,
        code: '8200581cabababababababababababababababababababababababababababab',
      },
    });
    assert.ok(told);
    const read = decodeOutput(Buffer.from(told.cbor, 'hex'));
    assert.deepEqual(told, read);
    assert.equal(read.datum, null);
    assert.match(read.address, /^82d818/);
  }
});

test('an invalid address is reported as such', () => {
  const rest = { value: asValue(1n, []), datum: null, script: null };
  for (const text of [
    '',
    'nowhere',
    'stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw',
  ]) {
    assert.equal(foreignOutput({ address: text, ...rest }), null, text);
  }
});
