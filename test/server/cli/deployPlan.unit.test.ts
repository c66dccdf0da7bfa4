/** What deploying would send, from what lies on the chain already. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastLovelace } from '../../../src/cardano/build/cost.ts';
import type { Utxo } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { DEFAULT_PARAMETERS } from '../../../src/cardano/ledger/parameters.ts';
import { DEPLOYED } from '../../../src/cardano/validators/deploy.ts';
import { DEFAULT_CURVE } from '../../../src/engine/market/curve.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../../src/engine/market/pool.ts';
import { parseCommand } from '../../../src/server/cli/commands.ts';
import {
  type ChainContents,
  type DeployPlan,
  type DeployRequest,
  planDeployment,
  SCRIPTS_ADDRESS,
} from '../../../src/server/cli/deployPlan.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  COLLATERAL_OWNER,
  EXECUTOR,
  refused,
  signedBy,
} from '../../cardano/build/world.ts';

const REQUEST: DeployRequest = {
  network: 'preview',
  market: {
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
    refundAfterMs: 1_200_000,
    executorKeyHash: EXECUTOR.key.hash,
    feeKeyHash: BOB.key.hash,
    collateralKeyHash: COLLATERAL_OWNER.key.hash,
  },
  payerKeyHash: ALICE.key.hash,
};

const EMPTY: ChainContents = { wallet: [], scripts: [], collaterals: [], funding: [] };

function planned(found: Partial<ChainContents>): DeployPlan {
  const plan = planDeployment(REQUEST, { ...EMPTY, ...found }, DEFAULT_PARAMETERS);
  assert.ok(!('outcome' in plan), 'message' in plan ? plan.message : '');
  return plan;
}

function outputsOf({ steps }: DeployPlan): Utxo[] {
  return steps.flatMap(({ built }) =>
    decodeTransaction(built.bytes).outputs.map((output, index) => {
      return { ref: { txHash: built.id, index }, output };
    }),
  );
}

test('all scripts are published with the least lovelace, and found where it says', () => {
  const wallet = [ada(ALICE, 300n * ADA)];
  const plan = planned({ wallet });
  const [scripts, reserves] = plan.steps;
  assert.deepEqual(
    scripts?.outputs.map(({ name }) => name),
    [...DEPLOYED],
  );
  assert.equal(reserves?.outputs.length, 10);
  const all = outputsOf(plan);
  for (const name of DEPLOYED) {
    const { hash, ref } = plan.deployment.scripts[name];
    const found = all.find(
      (each) => each.ref.txHash === ref.txHash && each.ref.index === ref.index,
    );
    assert.equal(found?.output.scriptHash, hash, name);
    assert.equal(found?.output.address, SCRIPTS_ADDRESS);
  }
  for (const { output } of scripts?.outputs ?? []) {
    assert.equal(output.value.lovelace, leastLovelace(DEFAULT_PARAMETERS, output));
  }
  assert.equal(plan.setAsideLovelace, 125n * ADA);
  assert.equal(plan.deployment.network, 'preview');
  const spent = plan.lockedLovelace + plan.setAsideLovelace + plan.feesLovelace;
  const left = all.at(-1)?.output;
  assert.equal(left?.value.lovelace, 300n * ADA - spent, 'to the lovelace');
  let known: readonly Utxo[] = wallet;
  for (const { built } of plan.steps) {
    assert.equal(refused(signedBy(built.bytes, [ALICE]), known), null, 'the ledger takes it');
    known = [...known, ...all];
  }
});

test('an interrupted deployment continues where it stopped', () => {
  const plan = planned({ wallet: [ada(ALICE, 300n * ADA)] });
  const all = outputsOf(plan);
  const scripts = all.filter(({ output }) => output.scriptHash !== null);
  const wallet = [ada(ALICE, 200n * ADA)];
  const rest = planned({ wallet, scripts });
  assert.deepEqual(
    rest.steps.map(({ title }) => title),
    ['Collateral and funding outputs'],
  );
  assert.deepEqual(rest.deployment, plan.deployment);
  const [, , ...three] = scripts;
  const more = planned({ wallet, scripts: three, funding: Array(4).fill(ada(BOB, 20n * ADA)) });
  assert.deepEqual(
    more.steps.map(({ outputs }) => outputs.map(({ name }) => name)),
    [
      ['launchPolicy', 'curvePool'],
      ['collateral', 'collateral', 'collateral', 'collateral', 'collateral', 'funding'],
    ],
  );
  const collaterals = Array(5).fill(ada(COLLATERAL_OWNER, 5n * ADA));
  const done = planned({ scripts, collaterals, funding: Array(5).fill(ada(BOB, 20n * ADA)) });
  assert.deepEqual([done.steps, done.feesLovelace], [[], 0n]);
});

test('the refusal of a poor wallet names the missing amount', () => {
  const plan = planDeployment(
    REQUEST,
    { ...EMPTY, wallet: [ada(ALICE, 20n * ADA)] },
    DEFAULT_PARAMETERS,
  );
  assert.ok('outcome' in plan);
  assert.equal(plan.reason, 'FUNDS');
  assert.match(plan.message, /lovelace/);
});

test('the command line names network, key, file and a dry run', () => {
  assert.deepEqual(parseCommand(['deploy', '--network', 'preview']), {
    name: 'deploy',
    network: 'preview',
    keyFile: null,
    isDryRun: false,
    out: './deployment.preview.json',
  });
  const all = ['deploy', '--network', 'preprod', '--key', 'k', '--dry-run', '--out', 'o'];
  assert.deepEqual(parseCommand(all), {
    ...{ name: 'deploy', network: 'preprod', keyFile: 'k', isDryRun: true, out: 'o' },
  });
  assert.match(String(parseCommand(['serve', '--dry-run'])), /--dry-run goes with deploy/);
});
