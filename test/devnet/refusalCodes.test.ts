/**
 * Refusals of a node by the code of Ogmios: each transaction breaks one rule of the ledger. The
 * published schema judges the answers, codes and data alike.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeRefs } from '../../src/cardano/codec/encode.ts';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { startDevnet } from '../support/devnetNode.ts';
import { TEXT_544 } from '../support/parameters.ts';
import { type RawPlan, rawTransaction } from '../support/rawTransaction.ts';
import { ADA, pay, plain } from './judged.ts';
import { asked, memberOf, type Told } from './ogmiosAsked.ts';
import { bodyCases, scriptCases, stakingCases } from './refusalCases.ts';
import { lockedByHash, place } from './refusalPlace.ts';

test('each has the code of the rule that it breaks, and data by the schema', async (scope) => {
  const here = place();
  const { ogmiosUrl } = await startDevnet(scope, here.options);
  const client = await asked(scope, ogmiosUrl);
  const submit = (plan: RawPlan): Promise<Told> => {
    const cbor = toHex(rawTransaction(plan).bytes);
    return client.ask('submitTransaction', { transaction: { cbor } });
  };
  const { error: made } = await submit(lockedByHash(here).plan);
  assert.equal(made, undefined, JSON.stringify(made));
  const cases = [...bodyCases(here), ...scriptCases(here), ...stakingCases(here)];
  assert.ok(cases.length >= 60);
  const wrong: string[] = [];
  for (const [what, code, plan] of cases) {
    const { error } = await submit(plan);
    if (error?.code === code) continue;
    wrong.push(`${what}: ${code} expected, not ${JSON.stringify(error)?.slice(0, 300)}`);
  }
  assert.deepEqual(wrong, []);
});

test('a refusal asks for the least fee and the least amount', async (scope) => {
  const here = place();
  const { ogmiosUrl } = await startDevnet(scope, here.options);
  const client = await asked(scope, ogmiosUrl);
  const submit = (plan: RawPlan): Promise<Told> => {
    const cbor = toHex(rawTransaction(plan).bytes);
    return client.ask('submitTransaction', { transaction: { cbor } });
  };
  /** Fees and amounts of the same length, so that the size stays. */
  const paying = (feeLovelace: bigint, toBob = 10n * ADA) =>
    plain(here, {
      feeLovelace,
      outputs: [pay('bob', toBob), pay('alice', 1_000n * ADA - feeLovelace - toBob)],
    });
  const asksFor = async (plan: RawPlan, ...path: (string | number)[]): Promise<bigint> => {
    const found = memberOf((await submit(plan)).error?.data, ...path, 'ada', 'lovelace');
    assert.equal(typeof found, 'number');
    return BigInt(Number(found));
  };
  const fee = await asksFor(paying(100_000n), 'minimumRequiredFee');
  assert.equal((await submit(paying(fee - 1n))).error?.code, 3122);
  const outputs = 'insufficientlyFundedOutputs';
  const small = paying(fee, 500_000n);
  const least = await asksFor(small, outputs, 0, 'minimumRequiredValue');
  const listed = memberOf((await submit(small)).error?.data, outputs, 'length');
  assert.equal(listed, 1, 'only the output that lacks something');
  assert.equal((await submit(paying(fee, least - 1n))).error?.code, 3125);
  assert.equal((await submit(paying(fee, least))).error, undefined);
});

test('until protocol version 10 a transaction may not refer to what it spends', async (scope) => {
  const here = place();
  const plan = plain(here, { fields: { 18: encodeRefs(here.mine.slice(0, 1)) } });
  const cbor = toHex(rawTransaction(plan).bytes);
  for (const [parameters, code] of [
    [TEXT_544, 3164],
    [undefined, undefined],
  ] as const) {
    const options = parameters === undefined ? here.options : { ...here.options, parameters };
    const { ogmiosUrl } = await startDevnet(scope, { ...options, file: ':memory:' });
    const client = await asked(scope, ogmiosUrl);
    const { error } = await client.ask('submitTransaction', { transaction: { cbor } });
    assert.equal(error?.code, code, JSON.stringify(error));
  }
});
