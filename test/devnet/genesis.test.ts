/** The genesis of the devnet, compared with Lucid where Lucid computes the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applyDoubleCborEncoding,
  applyParamsToScript,
  CML,
  Constr as LucidConstr,
  mintingPolicyToId,
  PROTOCOL_PARAMETERS_DEFAULT,
  validatorToScriptHash,
} from '@lucid-evolution/lucid';
import { applyDataArgument } from '../../src/cardano/codec/flatScript.ts';
import { Constr } from '../../src/cardano/codec/plutusData.ts';
import { capLovelace } from '../../src/cardano/datums/deployment.ts';
import { evaluate } from '../../src/cardano/ledger/scalus.ts';
import { credentialOf } from '../../src/cardano/ledger/utxoSet.ts';
import { DEPLOYED, VALIDATORS } from '../../src/cardano/validators/deploy.ts';
import {
  CALLERS_COLLATERAL,
  COLLATERAL,
  FUNDING,
  genesisUtxosOf,
  makeGenesis,
} from '../../src/cardano/validators/genesis.ts';
import { DevnetCore } from '../../src/devnet/devnet.ts';
import { devnetOptions } from '../support/devnetNode.ts';
import { genesisPlan, keyNamed } from '../support/ledgerWorld.ts';
import { PARAMETERS, PARAMETERS_544 } from '../support/parameters.ts';
import { ALWAYS, NEVER, rawTransaction } from '../support/rawTransaction.ts';
import { minting, place } from './judged.ts';

const plan = genesisPlan();
const { deployment, outputs: plans, aside } = makeGenesis(plan);
const outputs = [plans, aside].flatMap(genesisUtxosOf);

test('reference scripts lie where the deployment says, with the hashes that Lucid computes', () => {
  for (const name of DEPLOYED) {
    const { hash, ref } = deployment.scripts[name];
    const utxo = outputs[ref.index];
    assert.deepEqual(utxo?.ref, ref);
    assert.equal(utxo?.output.scriptHash, hash);
    if (name === 'launchPolicy') continue;
    const script = applyDoubleCborEncoding(VALIDATORS[name].cborHex);
    assert.equal(hash, validatorToScriptHash({ type: 'PlutusV2', script }), name);
    assert.equal(hash, VALIDATORS[name].hash, name);
  }
});

test('the launch policy is the template with the deployment, as Lucid applies it', () => {
  const address = (payment: LucidConstr<string>) =>
    new LucidConstr(0, [payment, new LucidConstr(1, [])]);
  const { curve, settings, scripts } = deployment;
  const parameter = new LucidConstr(0, [
    address(new LucidConstr(1, [scripts.curvePool.hash])),
    curve.aNum,
    curve.bNum,
    capLovelace(deployment),
    scripts.ammPool.hash,
    settings.policyId,
  ]);
  const template = applyDoubleCborEncoding(VALIDATORS.launchPolicy.cborHex);
  const script = applyParamsToScript(template, [parameter]);
  assert.equal(deployment.launchPolicyId, mintingPolicyToId({ type: 'PlutusV2', script }));
});

test('Scalus and Lucid apply a parameter to the same bytes', () => {
  const names = ['00'.repeat(32), 'ff'.repeat(32)];
  for (const name of names) {
    const ours = applyDataArgument(
      deployment.tokenPolicyTemplate,
      new Constr(0, [deployment.launchPolicyId, name]),
    );
    const parameter = new LucidConstr(0, [deployment.launchPolicyId, name]);
    assert.equal(ours, applyParamsToScript(deployment.tokenPolicyTemplate, [parameter]));
  }
});

test('collateral, funding UTxOs and wallets are there, each under its own key', () => {
  const of = (keyHash: string) =>
    outputs.filter((utxo) => credentialOf(utxo) === keyHash).map((u) => u.output.value.lovelace);
  const collaterals = COLLATERAL.outputs + CALLERS_COLLATERAL.outputs;
  assert.deepEqual(of(plan.collateralKeyHash), Array(collaterals).fill(5_000_000n));
  assert.deepEqual(of(plan.feeKeyHash), Array(FUNDING.outputs).fill(100_000_000n));
  assert.deepEqual(of(keyNamed('alice').hash), Array(5).fill(1_000_000_000n));
  assert.deepEqual(of(plan.executorKeyHash), [], 'the executor needs nothing of its own');
});

test('every output holds at least min-ADA', () => {
  for (const { output } of outputs) {
    const decoded = CML.TransactionOutput.from_cbor_hex(output.cbor);
    const least = CML.min_ada_required(decoded, PARAMETERS.outputByteLovelace);
    assert.ok(output.value.lovelace >= least, `${output.value.lovelace} >= ${least}`);
  }
});

test('the same plan gives the same genesis', () => {
  assert.deepEqual(makeGenesis(genesisPlan()), { deployment, outputs: plans, aside });
});

test('scripts lie where they lay before there was collateral for callers', () => {
  const before = '4058ea1fabb64ff76471341bd88d64d8fd8c71c2ac4ce4d00f47298d82194134';
  assert.equal(deployment.scripts.launchPolicy.ref.txHash, before);
});

test('a chain that began without the outputs aside is continued, one with others is not', () => {
  const options = { ...devnetOptions(), genesis: plans };
  DevnetCore.open(options).stop();
  DevnetCore.open({ ...options, aside }).stop();
  assert.throws(() => DevnetCore.open({ ...options, genesis: aside }), /another genesis/);
});

test('the parameters of epoch 544 are those that Lucid has built in', () => {
  const lucid = PROTOCOL_PARAMETERS_DEFAULT;
  const { costModels } = lucid;
  const models = [costModels.PlutusV1, costModels.PlutusV2, costModels.PlutusV3];
  assert.deepEqual(
    PARAMETERS_544.costModels,
    models.map((model) => Object.values(model).map(Number)),
  );
  assert.deepEqual([lucid.minFeeA, lucid.minFeeB, lucid.maxTxSize].map(BigInt), [
    PARAMETERS_544.feePerByteLovelace,
    PARAMETERS_544.feeFixedLovelace,
    BigInt(PARAMETERS_544.maxBytes),
  ]);
  assert.deepEqual([lucid.maxTxExMem, lucid.maxTxExSteps, lucid.coinsPerUtxoByte].map(BigInt), [
    PARAMETERS_544.maxMemory,
    PARAMETERS_544.maxCpu,
    PARAMETERS_544.outputByteLovelace,
  ]);
});

test('evaluates scripts: what they use, or why they fail', () => {
  const here = place();
  const utxos = [...here.ledger.chain.all()];
  const run = (script: string) => {
    const { bytes } = rawTransaction(minting(here, { scripts: [script] }));
    return evaluate(bytes, utxos, here.ledger.terms);
  };
  const fine = run(ALWAYS);
  assert.ok(fine.outcome === 'succeeded');
  const [budget] = fine.budgets;
  assert.deepEqual([budget?.purpose, budget?.index, fine.budgets.length], ['mint', 0, 1]);
  assert.ok(budget && budget.memory > 0n && budget.cpu > 0n);
  const missing = run(NEVER);
  assert.ok(missing.outcome === 'failed' && missing.message !== '');
});
