/**
 * `deploy`: puts our validators on a public test network, through Ogmios and Kupo, paid by a key
 * file: looks up what exists, prepares and shows the transactions, signs, sends and waits. Writes
 * the file that DEPLOYMENT_FILE then names. Mainnet already has a launchpad.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseAddress } from '../../cardano/codec/address.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import type { Utxo } from '../../cardano/codec/output.ts';
import type { Deployment } from '../../cardano/datums/deployment.ts';
import { signersHash } from '../../cardano/datums/signers.ts';
import { Key } from '../../cardano/keys/keys.ts';
import type { UtxoLookup } from '../../cardano/ledger/port.ts';
import { addWitnesses } from '../../cardano/transactions/witness.ts';
import { validatorParameters } from '../../cardano/validators/compile.ts';
import {
  compileValidators,
  DEPLOYED,
  deployedCode,
  deploymentOf,
  validatorsFor,
} from '../../cardano/validators/deploy.ts';
import type { Point } from '../../chain/port.ts';
import { formatUnits } from '../../engine/market/decimal.ts';
import { assert } from '../../engine/runtime/assert.ts';
import {
  deploymentText,
  parseDeployment,
  parseSigners,
  parseTerms,
} from '../settings/deployments.ts';
import { secretFrom } from '../settings/keyFiles.ts';
import type { Secret } from '../settings/secrets.ts';
import type { DeployCommand } from './commands/deploy.ts';
import {
  type NodeAccess,
  type NodeCommandDeps,
  scriptsOf,
  waitForBlock,
  withNode,
} from './nodeAccess.ts';
import {
  type ChainContents,
  DEFAULT_TERMS,
  type DeployRequest,
  type DeployStep,
  type PreparedDeployment,
  prepareDeployment,
  scriptsKeyHash,
  type TradingTerms,
  termsFaults,
} from './prepareDeployment.ts';
import { Progress } from './progress.ts';

/** Returns the exit code. Throws with a remedy if it cannot continue. */
export async function runDeploy(command: DeployCommand, appDeps: NodeCommandDeps): Promise<number> {
  const { say } = appDeps;
  const { out } = command;
  if (existsSync(out)) throw new Error(`${out} is there already: name another with --out`);
  const order = await orderOf(command, appDeps);
  const result = await withNode(appDeps, (place) => deploy(order, place));
  if (result === null) return 0;
  const text = deploymentText(result.deployment, result.start, result.code);
  writeFileSync(out, text, { flag: 'wx' });
  say(`Wrote ${out}: start the server with DEPLOYMENT_FILE=${out}`);
  return 0;
}

async function orderOf(
  { network, keyFile, parameters, signers, isDryRun }: DeployCommand,
  { settings, secrets }: NodeCommandDeps,
): Promise<DeployParams> {
  const { executor, fee, collateral } = secrets;
  if (executor === null || fee === null || collateral === null) {
    throw new Error(
      'the keys of the deployment are missing: set EXECUTOR_KEY_FILE and COLLATERAL_KEY_FILE ' +
        '(and FEE_KEY_FILE, if the fee address has another key)',
    );
  }
  const payer = new Key((keyFile === null ? executor : secretFrom(keyFile)).reveal());
  const hashOf = (secret: Secret) => new Key(secret.reveal()).hash;
  const [executorKeyHash, feeKeyHash] = [hashOf(executor), hashOf(fee)];
  const collateralKeyHash = hashOf(collateral);
  if ([executorKeyHash, feeKeyHash, payer.hash].includes(collateralKeyHash)) {
    throw new Error('the collateral key must own nothing else: use a separate key for it');
  }
  const trading = parameters === null ? DEFAULT_TERMS : readTerms(parameters);
  const terms: DeployRequest['terms'] = {
    ...trading,
    validators: await validatorsFor(trading),
    signers: parseSigners(readFileSync(signers, 'utf8'), signers),
    refundAfterMs: settings.ORDER_REFUND_AFTER_MS,
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash },
  };
  const callersCollaterals = settings.CALLERS_COLLATERALS;
  return { network, terms, payer, isDryRun, callersCollaterals };
}

/** Throws with every fault of the file. */
function readTerms(path: string): TradingTerms {
  const terms = parseTerms(readFileSync(path, 'utf8'), path);
  const faults = termsFaults(terms);
  if (faults.length === 0) return terms;
  throw new Error(`${path} has terms that cannot work:\n${faults.map((f) => `  ${f}`).join('\n')}`);
}

interface DeployParams extends Omit<DeployRequest, 'payerKeyHash'> {
  readonly payer: Key;
  readonly isDryRun: boolean;
}

interface DeployResult {
  readonly deployment: Deployment;
  /** Code of its scripts. */
  readonly code: ReturnType<typeof deployedCode>;
  /** Following begins after this block. */
  readonly start: Point | null;
}

/** null: a dry run. Throws with a remedy if it cannot continue. */
export async function deploy(order: DeployParams, place: NodeAccess): Promise<DeployResult | null> {
  const { payer, terms } = order;
  const found = await lookUp(payer, terms, place);
  const { parameters } = place;
  const prepared = prepareDeployment({ ...order, payerKeyHash: payer.hash }, found, {
    parameters,
    evaluate: scriptsOf(place),
  });
  if ('outcome' in prepared) throw new Error(`it cannot be paid for: ${prepared.message}`);
  show(prepared, found.wallet, place);
  if (order.isDryRun) {
    place.say('Nothing was sent: this was a dry run.');
    return null;
  }
  const tip = await place.tip();
  const progress = new Progress('deploy', place.clock, place.terminal);
  for (const [done, step] of prepared.steps.entries()) {
    // Elsewhere the lines of each step say as much.
    const shown = () => {
      if (place.terminal.draw !== undefined) progress.show(done, prepared.steps.length);
    };
    await send(step, payer, place, shown).finally(() => progress.end());
  }
  const start = tip === null ? null : { slot: tip.slot, hash: tip.hash };
  return { deployment: prepared.deployment, code: prepared.code, start };
}

async function lookUp(
  { hash }: Key,
  { collateralKeyHash, feeKeyHash, signers }: DeployRequest['terms'],
  { utxos }: NodeAccess,
): Promise<ChainContents> {
  const of = (keyHash: string) => utxos.byPaymentKey(keyHash, 'spendable');
  return {
    wallet: await of(hash),
    scripts: await of(scriptsKeyHash()),
    settings: await of(signersHash(signers)),
    collaterals: collateralKeyHash === hash ? [] : await of(collateralKeyHash),
    funding: feeKeyHash === hash ? [] : await of(feeKeyHash),
  };
}

function show(prepared: PreparedDeployment, wallet: readonly Utxo[], { say }: NodeAccess): void {
  for (const { title, outputs, built } of prepared.steps) {
    say(`${title}: transaction ${built.id}`);
    say(`  ${built.bytes.length} bytes, fee ${ada(built.feeLovelace)}`);
    for (const { name, output } of outputs) {
      say(`  ${name.padEnd(13)} ${ada(output.value.lovelace).padStart(16)}  ${output.address}`);
    }
  }
  if (prepared.steps.length === 0) say('Everything is deployed already.');
  const { lockedLovelace, setAsideLovelace, feesLovelace } = prepared;
  const held = wallet.reduce((sum, { output }) => sum + output.value.lovelace, 0n);
  say(`Locked for good with the scripts   ${ada(lockedLovelace)}`);
  say(`Set aside, yours to spend again    ${ada(setAsideLovelace)}`);
  say(`Network fees                       ${ada(feesLovelace)}`);
  const total = lockedLovelace + setAsideLovelace + feesLovelace;
  say(`In all                             ${ada(total)} of ${ada(held)}`);
}

async function send(
  step: DeployStep,
  payer: Key,
  place: NodeAccess,
  waiting: () => void,
): Promise<void> {
  const { title, built } = step;
  const { submitter, utxos } = place;
  const { publicKey } = payer;
  const signature = payer.sign(fromHex(built.id));
  const outcome = await submitter.submit(addWitnesses(built.bytes, [{ publicKey, signature }]));
  if (outcome.outcome === 'refused') {
    throw new Error(`${title}: the network refused it (${outcome.reason}): ${outcome.message}`);
  }
  await waitForBlock(place, title, () => isInBlock(step, utxos), waiting);
}

/** Kupo calls an output spendable when a block has it. */
async function isInBlock({ built, outputs }: DeployStep, utxos: UtxoLookup): Promise<boolean> {
  const [first] = outputs;
  const payment = parseAddress(first?.output.address ?? '')?.payment;
  assert(payment !== undefined, 'a step makes something, at an address of ours');
  const held = await utxos.byPaymentKey(payment.hash, 'spendable');
  return held.some(({ ref }) => ref.txHash === built.id);
}

function ada(lovelace: bigint): string {
  return `${formatUnits(lovelace, 6)} ADA`;
}

const TEST_NETWORKS = ['preprod', 'preview'] as const;

/**
 * `deploy --check FILE`: compiles the sources that lie here with the parameters of a deployment and
 * compares, so that everybody can see that its code is this code. Needs no node and no key.
 * Returns the exit code. Throws with a remedy if the file is no whole deployment of ours.
 */
export async function checkDeployment(file: string, say: (line: string) => void): Promise<number> {
  const text = readFileSync(file, 'utf8');
  const read = TEST_NETWORKS.map((network) => parseDeployment(network, text, file));
  const found = read.find(({ mismatch }) => mismatch === null) ?? read[0];
  const deployment = found?.complete ?? null;
  if (deployment === null) {
    const missing = found?.missing.join(', ') ?? '';
    const why = missing === '' ? 'it is no test network of ours' : `it does not know ${missing}`;
    throw new Error(`${file} cannot be checked: ${why}; name a file that deploy wrote`);
  }
  const { curve, fees } = deployment;
  const validators = await compileValidators(validatorParameters(curve, fees));
  const prepared = { ...deployment, validators };
  const { scripts } = deployment;
  const refs = {
    launchPolicy: scripts.launchPolicy.ref,
    curvePool: scripts.curvePool.ref,
    order: scripts.order.ref,
    ammPool: scripts.ammPool.ref,
    vesting: scripts.vesting.ref,
  };
  const compiled = deploymentOf(prepared, deployedCode(prepared), refs, deployment.settings.ref);
  const same = [
    ...DEPLOYED.map((name) => [name, scripts[name].hash === compiled.scripts[name].hash] as const),
    ['tokenPolicy', deployment.tokenPolicyTemplate === compiled.tokenPolicyTemplate] as const,
    ['settings', deployment.settings.policyId === compiled.settings.policyId] as const,
  ];
  for (const [name, isSame] of same) say(`${name.padEnd(13)} ${isSame ? 'the same' : 'DIFFERS'}`);
  const differ = same.filter(([, isSame]) => !isSame).length;
  say(differ === 0 ? 'The scripts are these sources.' : `${differ} are not these sources.`);
  return differ === 0 ? 0 : 1;
}
