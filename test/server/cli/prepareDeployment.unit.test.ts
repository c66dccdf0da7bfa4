/** The transactions that a deployment sends, given the outputs that are already on the chain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refText, type Utxo } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import { callersCollateralAddress } from '../../../src/cardano/datums/deployment.ts';
import { minLovelace } from '../../../src/cardano/transactions/cost.ts';
import { DEPLOYED } from '../../../src/cardano/validators/deploy.ts';
import { DEFAULT_CURVE } from '../../../src/engine/market/curve.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { DEFAULT_THRESHOLD_LOVELACE } from '../../../src/engine/market/pool.ts';
import { SCRIPTS_ADDRESS } from '../../../src/server/cli/deploySettings.ts';
import {
  type ChainContents,
  DEFAULT_TERMS,
  type DeployRequest,
  type PreparedDeployment,
  prepareDeployment,
  termsFaults,
} from '../../../src/server/cli/prepareDeployment.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  COLLATERAL_OWNER,
  EXECUTOR,
  evaluate,
  refused,
  SIGNERS,
  signedBy,
  utxo,
} from '../../cardano/transactions/world.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { parsed } from './parsed.ts';

const REQUEST: DeployRequest = {
  network: 'preview',
  terms: {
    curve: DEFAULT_CURVE,
    fees: DEFAULT_FEES,
    thresholdLovelace: DEFAULT_THRESHOLD_LOVELACE,
    refundAfterMs: 1_200_000,
    executorKeyHash: EXECUTOR.key.hash,
    feeKeyHash: BOB.key.hash,
    collateralKeyHash: COLLATERAL_OWNER.key.hash,
    signers: { required: 2, keyHashes: SIGNERS.map(({ key }) => key.hash) },
  },
  payerKeyHash: ALICE.key.hash,
  callersCollaterals: 2,
};

const AROUND = { parameters: PARAMETERS, evaluate };
const NOTHING = { wallet: [], scripts: [], collaterals: [], funding: [] };
const EMPTY: ChainContents = { ...NOTHING, settings: [] };

function planned(found: Partial<ChainContents>): PreparedDeployment {
  const plan = prepareDeployment(REQUEST, { ...EMPTY, ...found }, AROUND);
  assert.ok(!('outcome' in plan), 'message' in plan ? plan.message : '');
  return plan;
}

function outputsOf({ steps }: PreparedDeployment): Utxo[] {
  return steps.flatMap(({ built }) =>
    decodeTransaction(built.bytes).outputs.map((output, index) => {
      return { ref: { txHash: built.id, index }, output };
    }),
  );
}

test('all scripts are published with the least lovelace, and found where it says', () => {
  const wallet = [ada(ALICE, 300n * ADA)];
  const plan = planned({ wallet });
  const [, scripts, reserves] = plan.steps;
  assert.deepEqual(
    scripts?.outputs.map(({ name }) => name),
    [...DEPLOYED],
  );
  assert.equal(reserves?.outputs.length, 12);
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
    assert.equal(output.value.lovelace, minLovelace(PARAMETERS, output));
  }
  assert.equal(plan.setAsideLovelace, 135n * ADA);
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
  const scripts = all.filter(({ output }) => output.address === SCRIPTS_ADDRESS);
  const settings = all.filter(({ ref }) => refText(ref) === refText(plan.deployment.settings.ref));
  assert.equal(settings.length, 1);
  const wallet = [ada(ALICE, 200n * ADA)];
  const rest = planned({ wallet, scripts, settings });
  assert.deepEqual(
    rest.steps.map(({ title }) => title),
    ['Collateral and funding outputs'],
  );
  assert.deepEqual(rest.deployment, plan.deployment);
  const [seed, , , ...three] = scripts;
  assert.ok(seed);
  const some = { scripts: [seed, ...three], settings };
  const more = planned({ wallet, ...some, funding: Array(4).fill(ada(BOB, 20n * ADA)) });
  assert.deepEqual(
    more.steps.map(({ outputs }) => outputs.map(({ name }) => name)),
    [
      ['launchPolicy', 'curvePool'],
      [...Array(5).fill('collateral'), ...Array(2).fill('for callers'), 'funding'],
    ],
  );
  const { hash } = COLLATERAL_OWNER.key;
  const address = callersCollateralAddress(hash, 'testnet');
  const forCallers = utxo({ address, value: coins(5n * ADA) });
  const collaterals = [
    ...Array(5).fill(ada(COLLATERAL_OWNER, 5n * ADA)),
    ...Array(2).fill(forCallers),
  ];
  const done = planned({
    scripts,
    settings,
    collaterals,
    funding: Array(5).fill(ada(BOB, 20n * ADA)),
  });
  assert.deepEqual([done.steps, done.feesLovelace], [[], 0n]);
});

test('a record of a seed whose NFT is not there is not believed', () => {
  const plan = planned({ wallet: [ada(ALICE, 300n * ADA)] });
  const scripts = outputsOf(plan).filter(({ output }) => output.address === SCRIPTS_ADDRESS);
  const again = planned({ wallet: [ada(ALICE, 200n * ADA)], scripts });
  assert.equal(again.steps[0]?.title, 'Settings');
  assert.notEqual(again.deployment.settings.policyId, plan.deployment.settings.policyId);
});

test('the refusal of a poor wallet names the missing amount', () => {
  const plan = prepareDeployment(REQUEST, { ...EMPTY, wallet: [ada(ALICE, 20n * ADA)] }, AROUND);
  assert.ok('outcome' in plan);
  assert.equal(plan.reason, 'FUNDS');
  assert.match(plan.message, /lovelace/);
});

test('the command line names network, key, file and a dry run', () => {
  assert.match(String(parsed(['deploy', '--network', 'preview'])), /needs --signers FILE/);
  assert.deepEqual(parsed(['deploy', '--network', 'preview', '--signers', 's']), {
    name: 'deploy',
    network: 'preview',
    signers: 's',
    keyFile: null,
    isDryRun: false,
    out: './deployment.preview.json',
    parameters: null,
  });
  const all = ['deploy', '--network', 'preprod', '--key', 'k', '--dry-run', '--out', 'o'];
  assert.deepEqual(parsed([...all, '--signers', 's']), {
    signers: 's',
    ...{ name: 'deploy', network: 'preprod', keyFile: 'k', isDryRun: true, out: 'o' },
    parameters: null,
  });
  assert.match(String(parsed(['serve', '--dry-run'])), /--dry-run goes with deploy/);
});

test('terms that cannot work are refused before anything is sent', () => {
  assert.deepEqual(termsFaults(DEFAULT_TERMS), []);
  const { curve, fees } = DEFAULT_TERMS;
  const faulty = termsFaults({
    curve: { aNum: 0n, bNum: 0n, supply: 0n },
    thresholdLovelace: 1n,
    fees: {
      ...{ ...fees, percentFee: 100n, creatorFeePer10k: 9_990n, lpFeePer10k: 10_000n },
      ...{ refundFeeLovelace: 1_100_001n, fixedFeeLovelace: 1_100_001n },
      poolKeepLovelace: 2_999_999n,
    },
  });
  assert.deepEqual(
    faulty.map((fault) => fault.split(/[:,]/)[0]),
    [
      ...['curve.supply', 'curve.aNum', 'thresholdLovelace', 'fees.percentFee'],
      ...['fees.creatorFeePer10k', 'fees.lpFeePer10k', 'fees.refundFeeLovelace'],
      ...['fees.fixedFeeLovelace', 'fees.poolKeepLovelace'],
    ],
  );
  const small = { ...DEFAULT_TERMS, curve: { ...curve, supply: 700_000_000n } };
  assert.match(termsFaults(small).join(), /sells every token/);
});
