/** The validators against the list of known faults, and each rule against a planted fault. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { validatorSource } from '../../../src/cardano/validators/compile.ts';
import { VALIDATOR_NAMES, VALIDATORS } from '../../../src/cardano/validators/deploy.ts';
import { GUARDS } from './guards.ts';
import {
  compiledFindings,
  type Finding,
  guardFindings,
  patternFindings,
  redeemerFindings,
  type Sources,
  withoutComments,
} from './lint.ts';

const SOURCES: Sources = new Map(
  ['market', ...VALIDATOR_NAMES].map((name) => [name, withoutComments(validatorSource(name))]),
);
const ACTIONS = join(import.meta.dirname, 'actions');
const ATTACKS = readdirSync(ACTIONS)
  .map((name) => readFileSync(join(ACTIONS, name), 'utf8'))
  .join('\n');
const SCRIPTS = VALIDATOR_NAMES.map((title) => {
  const { cborHex: compiledCode, hash } = VALIDATORS[title];
  return { title, compiledCode, hash };
});

function findings(sources: Sources, attacks = ATTACKS): Finding[] {
  return [
    ...patternFindings(sources),
    ...redeemerFindings(sources),
    ...guardFindings(sources, GUARDS, attacks),
  ];
}

test('no known fault stands in the sources', () => {
  assert.deepEqual(findings(SOURCES), []);
});

test('no known fault stands in what they compile to', () => {
  assert.deepEqual(compiledFindings(SCRIPTS, SOURCES), []);
});

/** Faults that the test plants in a source, with the rule that must find each. */
const PLANTED: readonly (readonly [rule: string, name: string, from: string, to: string])[] = [
  [
    'double satisfaction',
    'order',
    'tx.outputs.get(index)',
    'tx.outputs.find((o: TxOutput) -> Bool { o.address == order.redeemer })',
  ],
  ['double satisfaction', 'ammPool', '"payout belongs to an input"', '"payout"'],
  ['double satisfaction', 'curvePool', '"not my index"', '"index"'],
  ['double satisfaction', 'market', '"a script is not listed once"', '"list"'],
  [
    'missing stake part',
    'curvePool',
    'next.address == own.address',
    'next.address.credential == own.address.credential',
  ],
  ['missing stake part', 'order', '"wrong address"', '"address"'],
  [
    'time range',
    'order',
    'tx.time_range.start >= order.refund_after',
    'tx.time_range.contains(order.refund_after)',
  ],
  [
    'time range',
    'vesting',
    'tx.time_range.start >= lock.unlock',
    'tx.time_range.end >= lock.unlock',
  ],
  ['time range', 'vesting', '"still locked"', '"locked"'],
  ['unbounded value', 'curvePool', 'coin_of(next.value) == coin', 'coin_of(next.value) >= coin'],
  ['unbounded value', 'ammPool', '"tokens changed"', '"tokens"'],
  [
    'unbounded datum',
    'curvePool',
    'next.datum.inline.as[CurveDatum::Curve] == datum',
    'next.datum.inline.as[CurveDatum::Curve].nft == datum.nft',
  ],
  [
    'unbounded datum',
    'market',
    'module market',
    'module market func f(o: TxOutput) -> DatumHash { o.datum.get_hash() }',
  ],
  ['reference script', 'curvePool', '"reference script on the pool"', '"script"'],
  ['reference script', 'order', '"reference script on the refund"', '"script"'],
  ['authority', 'ammPool', '"executor signature missing"', '"signature"'],
  ['authority', 'market', '"settings at another address"', '"address"'],
  ['unknown redeemer', 'vesting', 'Never => false', 'Never => true'],
  ['unknown redeemer', 'order', '    Never\n}', '    Never\n    Sweep\n}'],
  ['unknown redeemer', 'tokenPolicy', 'assert(accepted, "no such redeemer")', '()'],
  ['guards', 'vesting', 'Never => false', 'Sweep => { true },\n        Never => false'],
  ['rounding', 'market', 'got * den >= spent * num', 'got / spent >= num / den'],
  ['empty check', 'order', 'assert(refunds(', 'assert(true || refunds('],
];

test('each planted fault is found, by its rule', () => {
  for (const [rule, name, from, to] of PLANTED) {
    const source = SOURCES.get(name) ?? '';
    const changed = source.replaceAll(from, to);
    assert.notEqual(changed, source, `${name} has ${from}`);
    const found = findings(new Map([...SOURCES, [name, changed]]));
    assert.ok(
      found.some((finding) => finding.rule === rule),
      `${rule} in ${name}: ${JSON.stringify(found)}`,
    );
  }
});

test('a switch whose result is dropped is found', () => {
  const source = SOURCES.get('order') ?? '';
  const dropped = source.replace('accepted: Bool = redeemer.switch {', 'redeemer.switch {');
  assert.notEqual(dropped, source);
  const found = redeemerFindings(new Map([['order', dropped]]));
  assert.ok(found.some(({ what }) => what === 'a switch whose result is dropped'));
});

test('a check that no attack has met is found, and so is a review of what is gone', () => {
  const fewer = ATTACKS.replaceAll("'wrong refund'", "'refund'");
  const [finding, ...more] = findings(SOURCES, fewer);
  assert.equal(finding?.what, 'no attack meets the check "wrong refund"');
  assert.equal(more.length, 0);
  const { what } = patternFindings(new Map([...SOURCES, ['ammPool', '']]))[0] ?? {};
  assert.equal(what, 'reviewed, and not there any more');
});

test('a wrong hash, a debug build and scripts that no transaction takes are found', () => {
  const [first = assert.fail(), ...others] = SCRIPTS;
  const rules = (scripts: typeof SCRIPTS) =>
    compiledFindings(scripts, SOURCES).map(({ rule }) => rule);
  assert.deepEqual(rules([{ ...first, hash: '00'.repeat(28) }, ...others]), ['hash']);
  const traced = first.compiledCode + Buffer.from('creator signature missing').toString('hex');
  assert.deepEqual(rules([{ ...first, compiledCode: traced }, ...others]), ['hash', 'debug build']);
  const large = { ...first, compiledCode: first.compiledCode + '00'.repeat(15_500) };
  assert.deepEqual(rules([large, ...others]), ['size', 'hash']);
});
