/**
 * Parameters of scripts, filled in as Scalus does for terms of any shape, and as Lucid for ours:
 * Aiken's code in it writes some builtins of other scripts in another way.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { applyDoubleCborEncoding, applyParamsToScript } from '@lucid-evolution/lucid';
import fc from 'fast-check';
import type * as scalus from 'scalus';
import { byteString } from '../../src/cardano/codec/encode.ts';
import { applyDataArgument } from '../../src/cardano/codec/flatScript.ts';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { encodePlutusData } from '../../src/cardano/codec/plutusData.ts';
import { VALIDATORS } from '../../src/cardano/validators/deploy.ts';
import { isFault } from '../../src/engine/runtime/assert.ts';

// trust: the package is CommonJS; its declaration file describes its exports
const { Scalus } = createRequire(import.meta.url)('scalus') as typeof scalus;

const argument = ['ab'.repeat(28), 12n];
const argumentJson = `{"list":[{"bytes":"${'ab'.repeat(28)}"},{"int":12}]}`;

/** Bits as text, whose length says where a string's whole bytes begin. */
type Part = (before: number) => string;

const bits = (value: number, count: number) => value.toString(2).padStart(count, '0');
const fixed =
  (text: string): Part =>
  () =>
    text;
const sequence =
  (...parts: readonly Part[]): Part =>
  (before) =>
    parts.reduce((text, part) => text + part(before + text.length), '');

function natural(value: bigint): Part {
  const groups = value === 0n ? [0] : [];
  for (let left = value; left > 0n; left >>= 7n) groups.push(Number(left & 127n));
  const last = groups.length - 1;
  return fixed(groups.map((group, at) => bits(group + (at < last ? 128 : 0), 8)).join(''));
}

function text(content: Uint8Array): Part {
  return (before) => {
    let written = '1'.padStart(8 - (before % 8), '0');
    for (let at = 0; at < content.length; at += 255) {
      const block = content.subarray(at, at + 255);
      written += [block.length, ...block].map((byte) => bits(byte, 8)).join('');
    }
    return `${written}00000000`;
  };
}

const list = (items: readonly Part[]) =>
  sequence(...items.map((item) => sequence(fixed('1'), item)), fixed('0'));

interface Constant {
  readonly type: readonly number[];
  readonly value: Part;
}

const bytes = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 600 }));
const constants = fc.letrec<{ constant: Constant }>((tie) => ({
  constant: fc.oneof(
    { depthSize: 'small' },
    fc.bigInt({ min: 0n, max: 1n << 200n }).map((value) => ({ type: [0], value: natural(value) })),
    bytes.map((content) => ({ type: [1], value: text(content) })),
    fc.string().map((value) => ({ type: [2], value: text(Buffer.from(value)) })),
    fc.constant({ type: [3], value: fixed('') }),
    fc.boolean().map((value) => ({ type: [4], value: fixed(value ? '1' : '0') })),
    fc.tuple(tie('constant'), fc.nat(3)).map(([{ type, value }, count]) => ({
      type: [7, 5, ...type],
      value: list(Array.from({ length: count }, () => value)),
    })),
    fc.tuple(tie('constant'), tie('constant')).map(([first, second]) => ({
      type: [7, 7, 6, ...first.type, ...second.type],
      value: sequence(first.value, second.value),
    })),
    fc.bigInt().map((value) => ({ type: [8], value: text(encodePlutusData([value, 'ff00'])) })),
  ),
})).constant;

const tag = (value: number) => fixed(bits(value, 4));
const terms = fc.letrec<{ term: Part }>((tie) => ({
  term: fc.oneof(
    { depthSize: 'medium' },
    constants.map(({ type, value }) => sequence(tag(4), list(type.map(tag)), value)),
    // Each variable is bound by one of the lambdas around the whole term.
    fc.integer({ min: 1, max: 200 }).map((index) => sequence(tag(0), natural(BigInt(index)))),
    fc.constant(tag(6)),
    fc.nat(50).map((builtin) => sequence(tag(7), fixed(bits(builtin, 7)))),
    fc.tuple(fc.constantFrom(1, 2, 5), tie('term')).map(([kind, term]) => {
      return sequence(tag(kind), term);
    }),
    fc.tuple(tie('term'), tie('term')).map((both) => sequence(tag(3), ...both)),
    fc
      .tuple(fc.bigInt({ min: 0n, max: 1000n }), fc.array(tie('term'), { maxLength: 3 }))
      .map(([index, fields]) => sequence(tag(8), natural(index), list(fields))),
    fc
      .tuple(tie('term'), fc.array(tie('term'), { maxLength: 3 }))
      .map(([scrutinee, branches]) => sequence(tag(9), scrutinee, list(branches))),
  ),
})).term;

const VERSION = sequence(natural(1n), natural(1n), natural(0n));
const LAMBDAS = fixed(bits(2, 4).repeat(200));

function scriptOf(term: Part): string {
  const written = sequence(VERSION, LAMBDAS, term)(0);
  const whole = written + '1'.padStart(8 - (written.length % 8), '0');
  const flat = Uint8Array.from({ length: whole.length / 8 }, (_, at) =>
    Number.parseInt(whole.slice(at * 8, at * 8 + 8), 2),
  );
  return toHex(byteString(byteString(flat)));
}

test('fills in the parameter of any script as Scalus does', () => {
  fc.assert(
    fc.property(terms, (term) => {
      const script = scriptOf(term);
      const expected = Scalus.applyDataArgToScript(script, argumentJson);
      assert.equal(applyDataArgument(script, argument), expected);
    }),
  );
});

test('fills in one parameter of the validators after the other, as Lucid does', () => {
  for (const { cborHex } of Object.values(VALIDATORS)) {
    const script = applyDoubleCborEncoding(cborHex);
    const once = applyDataArgument(script, argument);
    assert.equal(applyDataArgument(once, 7n), applyParamsToScript(script, [argument, 7n]));
  }
});

test('refuses what is no script', () => {
  const script = applyDoubleCborEncoding(VALIDATORS.tokenPolicy.cborHex);
  const cut = toHex(byteString(byteString(Uint8Array.of(1, 0, 0, 0x33))));
  for (const wrong of [script.slice(0, -2), cut, '4101', '']) {
    assert.throws(
      () => applyDataArgument(wrong, 7n),
      (error) => isFault(error, 'malformedCbor'),
    );
  }
});
