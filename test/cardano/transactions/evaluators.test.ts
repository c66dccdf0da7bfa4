/**
 * Evaluators of scripts: upcurve where it knows the node's parameters, else the node, else no one.
 * The units of both are compared, and the larger ones used.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { decodeTransaction, totalUnits } from '../../../src/cardano/codec/transaction.ts';
import type { LedgerTerms, ProtocolParameters } from '../../../src/cardano/ledger/parameters.ts';
import type { AskEvaluator } from '../../../src/cardano/transactions/assemble.ts';
import { planLaunch } from '../../../src/cardano/transactions/launch.ts';
import { LiveBuilder } from '../../../src/cardano/transactions/liveBuilder.ts';
import { planCancel, planOrder } from '../../../src/cardano/transactions/order.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { quoteLaunch } from '../../../src/engine/market/quote.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure, Unavailable } from '../../../src/engine/runtime/errors.ts';
import { PARAMETERS, PARAMETERS_544 } from '../../support/parameters.ts';
import { until } from '../../support/until.ts';
import {
  ADA,
  ALICE,
  ada,
  COLLATERAL,
  DEPLOYMENT,
  evaluate,
  NOW_MS,
  orderOf,
  REFERENCES,
  SETTINGS,
  SLOTS,
  utxo,
} from './world.ts';

const nodeEvaluates: AskEvaluator = async (...question) => evaluate(...question);
const refuses: AskEvaluator = () => Promise.reject(new Error('unknown method'));

/** Another program's: what ours finds, times `percent`. */
const finds =
  (percent: bigint): AskEvaluator =>
  async (...question) => {
    const found = evaluate(...question);
    if (found.outcome === 'failed') return found;
    const budgets = found.budgets.map(({ memory, cpu, ...place }) => {
      return { ...place, memory: (memory * percent) / 100n, cpu: (cpu * percent) / 100n };
    });
    return { ...found, budgets };
  };

function open(
  t: TestContext,
  parameters: ProtocolParameters,
  node: AskEvaluator,
  comparesUnits = false,
) {
  const here = {
    node,
    parameters,
    asked: 0,
    evaluators: [] as string[],
    differing: [] as string[],
  };
  const builder = new LiveBuilder({
    ask: async (): Promise<LedgerTerms> => ({ parameters: here.parameters, slots: SLOTS }),
    evaluate: (...question) => {
      here.asked += 1;
      return here.node(...question);
    },
    comparesUnits,
    clock: {
      ...systemClock,
      after: (ms, run) => systemClock.after(ms < 10_000 ? ms / 100 : ms, run),
    },
    limits: {},
    observer: {
      parametersChanged: () => {},
      parametersFailed: () => {},
      evaluatorChanged: ({ by }) => here.evaluators.push(by),
      unitsDiffer: (...said) => here.differing.push(said.join(' | ')),
    },
  });
  builder.start();
  t.after(() => builder.stop());
  return { builder, here, ready: () => until('it builds', () => builder.parameters !== null) };
}

const order = () =>
  planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), [ada(ALICE, 99n * ADA)], NOW_MS).plan;

function cancel(): TransactionPlan {
  const placed = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), [], NOW_MS).plan;
  const held = utxo(placed.outputs[0] ?? assert.fail());
  const chain = {
    wallet: [],
    references: [REFERENCES.order],
    collateral: COLLATERAL,
    slots: SLOTS,
  };
  const plan = planCancel(DEPLOYMENT, { order: held, changeAddress: ALICE.address }, chain, NOW_MS);
  assert.ok(!(plan instanceof Failure));
  return plan;
}

function launch(): TransactionPlan {
  const { curve, thresholdLovelace, fees } = DEPLOYMENT;
  const quote = quoteLaunch(curve, thresholdLovelace, fees, 5n * ADA);
  assert.ok(quote.outcome === 'launch');
  const socials = { twitter: '', discord: '', telegram: '', website: '' };
  const picture = { logoCID: 'bafkrei', mediaType: 'image/png' };
  const metadata = { ticker: 'DAVE', description: '', launchType: 1, ...picture, socials };
  const request = { creator: ALICE.address, name: 'Dave', metadata, quote };
  const planned = planLaunch(DEPLOYMENT, request, {
    wallet: [ada(ALICE, 300n * ADA)],
    references: [REFERENCES.launchPolicy, SETTINGS],
    collateral: COLLATERAL,
    parameters: PARAMETERS,
  });
  assert.ok(!(planned instanceof Failure));
  return planned.plan;
}

async function unitsOf(builder: LiveBuilder, plan: TransactionPlan) {
  const outcome = await builder.build(plan);
  if (outcome instanceof Failure || outcome.outcome === 'refused') assert.fail(outcome.message);
  return totalUnits(decodeTransaction(outcome.bytes).redeemers);
}

const LATER = { ...PARAMETERS, version: { major: 12, minor: 0 } };
const [V1, V2, V3] = PARAMETERS.costModels;
const LONGER: ProtocolParameters = { ...PARAMETERS, costModels: [V1, [...V2, 1], V3] };

for (const [what, parameters, words] of [
  ['an unknown protocol version', LATER, /protocol version 12/],
  ['a cost model of unknown length', LONGER, /Plutus V2 with 333 entries/],
] as const) {
  test(`with ${what} the node evaluates, and its units stand in the transaction`, async (t) => {
    const { builder, here, ready } = open(t, parameters, finds(200n));
    await ready();
    assert.deepEqual(here.evaluators, ['node']);
    const plan = cancel();
    const twice = await unitsOf(builder, plan);
    const own = open(t, PARAMETERS, refuses);
    await own.ready();
    const once = await unitsOf(own.builder, plan);
    assert.deepEqual(twice, { memory: 2n * once.memory, cpu: 2n * once.cpu });
    assert.equal(own.here.asked, 0, 'known parameters need no node');
    assert.deepEqual(own.here.evaluators, ['upcurve'], 'said from the start');
  });

  test(`with ${what} and no node that evaluates, what runs no script is built`, async (t) => {
    const { builder, here, ready } = open(t, parameters, refuses);
    await ready();
    assert.deepEqual(here.evaluators, ['none']);
    const refused = await builder.build(cancel());
    assert.ok(refused instanceof Failure);
    assert.equal(refused.cause, 'NOT_READY');
    assert.match(refused.message, words);
    assert.match(refused.message, /unknown method.*install a version/);
    assert.equal(builder.cannotRunScripts, refused.message);
    const plain = await builder.build(order());
    assert.ok(!(plain instanceof Failure) && plain.outcome === 'built');
    here.node = nodeEvaluates;
    await until('the node evaluates', () => here.evaluators.at(-1) === 'node');
    await unitsOf(builder, cancel());
    assert.equal(builder.cannotRunScripts, null);
    here.parameters = PARAMETERS;
    await until('the parameters are known', () => here.evaluators.at(-1) === 'upcurve');
  });
}

test('a node that is away for an evaluation is no reason to give up', async (t) => {
  const { builder, here, ready } = open(t, LATER, nodeEvaluates);
  await ready();
  here.node = () => Promise.reject(new Unavailable(new Failure('NOT_READY', 'it is away')));
  const refused = await builder.build(cancel());
  assert.ok(refused instanceof Failure && refused.cause === 'NOT_READY');
  assert.match(refused.message, /it is away/);
  here.node = nodeEvaluates;
  await unitsOf(builder, cancel());
  assert.deepEqual(here.evaluators, ['node']);
});

test('equal units are compared once for each kind, and again after a change', async (t) => {
  const { builder, here, ready } = open(t, PARAMETERS, nodeEvaluates, true);
  await ready();
  await unitsOf(builder, cancel());
  await unitsOf(builder, cancel());
  assert.equal(here.asked, 1);
  await builder.build(order());
  assert.equal(here.asked, 1, 'no script, no question');
  here.parameters = { ...PARAMETERS, feeFixedLovelace: 160_000n };
  await until('they changed', () => builder.parameters?.parameters.feeFixedLovelace === 160_000n);
  await unitsOf(builder, cancel());
  assert.equal(here.asked, 2);
  assert.deepEqual(here.differing, []);
});

test('units that differ are reported with both numbers, and the larger ones count', async (t) => {
  const plan = cancel();
  const { builder, ready } = open(t, PARAMETERS, nodeEvaluates);
  await ready();
  const ours = await unitsOf(builder, plan);
  for (const [percent, expected] of [
    [150n, { memory: (ours.memory * 150n) / 100n, cpu: (ours.cpu * 150n) / 100n }],
    [50n, ours],
  ] as const) {
    const other = open(t, PARAMETERS, finds(percent), true);
    await other.ready();
    assert.deepEqual(await unitsOf(other.builder, plan), expected);
    const nodes = [(ours.memory * percent) / 100n, (ours.cpu * percent) / 100n].join('/');
    const said = new RegExp(`^spend .*#.*${ours.memory}/${ours.cpu}.*${nodes}`);
    assert.match(other.here.differing[0] ?? '', said);
    const { length } = other.here.differing;
    await unitsOf(other.builder, plan);
    assert.equal(other.here.differing.length, 2 * length, 'compared each time');
  }
});

test('a node that cannot be asked delays nothing that our evaluator knows', async (t) => {
  const { builder, here, ready } = open(t, PARAMETERS, refuses, true);
  await ready();
  await unitsOf(builder, cancel());
  here.node = nodeEvaluates;
  await unitsOf(builder, cancel());
  await unitsOf(builder, cancel());
  assert.equal(here.asked, 2, 'compared when it can be');
});

test('the same plan takes other units under the parameters of epoch 544', async (t) => {
  const [today, before] = [open(t, PARAMETERS, refuses), open(t, PARAMETERS_544, refuses)];
  await today.ready();
  await before.ready();
  const plan = launch();
  const [now, then] = [await unitsOf(today.builder, plan), await unitsOf(before.builder, plan)];
  assert.ok(now.cpu > then.cpu, `${now.cpu} and ${then.cpu}`);
});
