/**
 * `rotate`: names another executor or fee address, in three steps, so that signers need no node and
 * no key leaves its machine: `make` writes a transaction into a file, each signer adds a signature
 * to the file or to a copy, `submit` puts the signatures together and sends it.
 *
 * The file is a text envelope of cardano-cli: its signatures count, too.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  type Address,
  formatAddress,
  keyAddressProblem,
  parseKeyAddress,
} from '../../cardano/codec/address.ts';
import { blake2b224 } from '../../cardano/codec/hash.ts';
import { fromHex, isHex, toHex } from '../../cardano/codec/hex.ts';
import { datumOf, type Utxo } from '../../cardano/codec/output.ts';
import { decodeTransaction, type Transaction } from '../../cardano/codec/transaction.ts';
import { readSettingsData, type SettingsDatum, settingsData } from '../../cardano/datums/datums.ts';
import {
  type Deployment,
  type SettingsPlace,
  settingsAddress,
  settingsNft,
} from '../../cardano/datums/deployment.ts';
import { signersScript } from '../../cardano/datums/signers.ts';
import { assemble } from '../../cardano/transactions/assemble.ts';
import {
  dataHex,
  type PlannedOutput,
  planOf,
  type TransactionPlan,
} from '../../cardano/transactions/plan.ts';
import { addWitnesses, isSignedBy } from '../../cardano/transactions/witness.ts';
import { keyAddress } from '../../cardano/validators/deploy.ts';
import { newestSettingsOf } from '../../chain/settings.ts';
import { formatUnits } from '../../engine/market/decimal.ts';
import type { RotateCommand } from './commands/rotate.ts';
import { deploymentOn, keyFrom } from './namedDeployment.ts';
import { type NodeAccess, type NodeCommandDeps, waitForBlock, withNode } from './nodeAccess.ts';
import { fundingFor } from './prepareDeployment.ts';

/** Returns the exit code. Throws with a remedy if it cannot continue. */
export async function runRotate(command: RotateCommand, appDeps: NodeCommandDeps): Promise<number> {
  const deployment = deploymentFor(command, appDeps);
  if (command.step === 'sign') sign(command, deployment, appDeps);
  else if (command.step === 'make') {
    await withNode(appDeps, (place) => make(command, deployment, place, appDeps));
  } else await withNode(appDeps, (place) => submit(command.files, deployment, place));
  return 0;
}

function deploymentFor(
  { network }: RotateCommand,
  appDeps: Pick<NodeCommandDeps, 'settings' | 'rng'>,
): Deployment {
  const { complete, missing } = deploymentOn(network, appDeps);
  if (complete !== null) return complete;
  const lacks = missing.length === 0 ? 'it is another network’s' : `it lacks ${missing.join(', ')}`;
  throw new Error(`the deployment has no settings to rotate (${lacks}): set DEPLOYMENT_FILE`);
}

async function make(
  { key, executor, feeAddress, isFunded, out }: RotateCommand & { readonly step: 'make' },
  deployment: Deployment,
  { utxos, parameters, say }: NodeAccess,
  appDeps: Pick<NodeCommandDeps, 'settings' | 'rng'>,
): Promise<void> {
  const { settings, addressNetwork } = deployment;
  const now = await newestSettingsOf(settings.ref, utxos, deployment);
  if (now === null) throw new Error(TAKEN_AWAY);
  const feeText = feeAddress ?? now.roles.feeAddress;
  const fee = parseKeyAddress(feeText, addressNetwork);
  if (fee === null) throw new Error(`--fee-address: ${keyAddressProblem(feeText, addressNetwork)}`);
  const payer = keyFrom(key, appDeps);
  const wallet = await utxos.byPaymentKey(payer.hash, 'spendable');
  const next = { executor: executor ?? now.roles.executorKeyHash, fee };
  const plan = planRotation(settings, now.utxo, next, wallet, keyAddress(payer.hash));
  const lacks = feeAddress === null ? [] : await lackingFunding(fee, utxos);
  const funding = isFunded ? lacks : [];
  const built = assemble(
    { ...plan, outputs: [...plan.outputs, ...funding] },
    { parameters, evaluate: noScripts },
  );
  if (built.outcome === 'refused') {
    const why = `it cannot be built: ${built.message}`;
    throw new Error(funding.length === 0 ? why : `${why}; ${fundingNote(funding)}`);
  }
  const { publicKey } = payer;
  const signature = payer.sign(fromHex(built.id));
  const bytes = addWitnesses(built.bytes, [{ publicKey, signature }]);
  describe(bytes, deployment, say);
  const paid = funding.reduce((sum, { value }) => sum + value.lovelace, built.feeLovelace);
  say(`The payer pays ${formatUnits(paid, 6)} ADA`);
  if (lacks.length > funding.length) {
    const texts = lacks.map(({ value }) => `${formatUnits(value.lovelace, 6)} ADA`);
    say(`Batches need outputs at ${formatAddress(fee)} that are not there: ${texts.join(', ')}`);
  }
  writeFileSync(out, envelope(bytes), { flag: 'wx' });
  say(`Wrote ${out}: ${settings.required} of ${settings.keyHashes.length} signers sign it`);
}

/** Outputs that batches need at a fee address and that are not there yet. */
async function lackingFunding(
  fee: Address,
  utxos: NodeAccess['utxos'],
): Promise<readonly PlannedOutput[]> {
  const address = formatAddress(fee);
  const held = await utxos.byPaymentKey(fee.payment.hash, 'spendable');
  return fundingFor(
    address,
    held.filter(({ output }) => output.address === address),
  );
}

function fundingNote(funding: readonly PlannedOutput[]): string {
  const all = funding.reduce((sum, { value }) => sum + value.lovelace, 0n);
  const what = `${formatUnits(all, 6)} ADA of it are outputs that batches need at the fee address`;
  return `${what}: --no-funding leaves them out`;
}

/** The settings' output is spent and made again, by as many signers as their script asks for. */
export function planRotation(
  settings: SettingsPlace,
  held: Utxo,
  next: SettingsDatum,
  wallet: readonly Utxo[],
  changeAddress: string,
): TransactionPlan {
  const { keyHashes } = settings;
  return planOf({
    inputs: [{ utxo: held, redeemer: null }],
    wallet,
    outputs: [
      {
        address: settingsAddress(settings, next.fee.network),
        value: held.output.value,
        datum: dataHex(settingsData(next)),
      },
    ],
    native: { script: toHex(signersScript(settings)), keyHashes },
    changeAddress,
  });
}

function noScripts(): never {
  throw new Error('a rotation runs no Plutus script');
}

/** Needs no node. Shows the signer the transaction's effect before it is signed. */
function sign(
  { file, key }: RotateCommand & { readonly step: 'sign' },
  deployment: Deployment,
  appDeps: Pick<NodeCommandDeps, 'settings' | 'rng' | 'say'>,
): void {
  const signer = keyFrom(key, appDeps);
  const { keyHashes } = deployment.settings;
  if (!keyHashes.includes(signer.hash)) {
    throw new Error(`the key ${signer.hash} is none of the signers: ${keyHashes.join(', ')}`);
  }
  const bytes = transactionIn(file);
  const tx = describe(bytes, deployment, appDeps.say);
  const { publicKey } = signer;
  const signature = signer.sign(fromHex(tx.id));
  writeFileSync(file, envelope(addWitnesses(bytes, [{ publicKey, signature }])));
  appDeps.say(`Signed ${file} with ${signer.hash}`);
}

async function submit(
  files: readonly string[],
  deployment: Deployment,
  place: NodeAccess,
): Promise<void> {
  const { settings } = deployment;
  const bytes = merged(files);
  const tx = describe(bytes, deployment, place.say);
  const signed = signersOf(tx).filter((hash) => settings.keyHashes.includes(hash));
  if (signed.length < settings.required) {
    const lack = settings.keyHashes.filter((hash) => !signed.includes(hash));
    const has = `it has ${signed.length} of ${settings.required} signatures`;
    throw new Error(`${has}: rotate sign it with another of ${lack.join(', ')}`);
  }
  const outcome = await place.submitter.submit(bytes);
  if (outcome.outcome === 'refused') {
    const why = `the network refused it (${outcome.reason}): ${outcome.message}`;
    throw new Error(`${why}; if the settings were rotated meanwhile, make it again`);
  }
  await waitForBlock(place, 'Rotation', async () => {
    const held = await place.utxos.byAsset(settingsNft(settings), 'spendable');
    return held.some(({ ref }) => ref.txHash === tx.id);
  });
}

/** The first file's transaction, with the signatures of all files. */
function merged(files: readonly string[]): Uint8Array {
  const [first = new Uint8Array(), ...others] = files.map(transactionIn);
  const { id } = decodeTransaction(first);
  return others.reduce((bytes, other, at) => {
    const tx = decodeTransaction(other);
    if (tx.id === id) return addWitnesses(bytes, tx.keyWitnesses);
    throw new Error(`${files[at + 1]} holds another transaction than ${files[0]}`);
  }, first);
}

/** Keys whose signatures are right. */
function signersOf({ id, keyWitnesses }: Transaction): string[] {
  return keyWitnesses
    .filter(({ publicKey, signature }) => isSignedBy(publicKey, fromHex(id), signature))
    .map(({ publicKey }) => blake2b224(fromHex(publicKey)));
}

/** Prints the transaction's effect. Throws if it is not a rotation of this deployment. */
function describe(
  bytes: Uint8Array,
  { settings, addressNetwork }: Deployment,
  say: (line: string) => void,
): Transaction {
  const tx = decodeTransaction(bytes);
  const address = settingsAddress(settings, addressNetwork);
  const nft = settingsNft(settings);
  const next = tx.outputs.find((output) => output.value.assets.get(nft) === 1n);
  const datum = next === undefined ? null : readSettingsData(datumOf(next), addressNetwork);
  if (next === undefined || datum === null || next.address !== address) {
    const what = 'this transaction does not leave the settings with their signers';
    throw new Error(`${what}: never sign it`);
  }
  if (tx.mint.size > 0 || tx.hasCertificates || tx.hasWithdrawals) {
    throw new Error('this transaction does more than a rotation: never sign it');
  }
  say(`Transaction ${tx.id}`);
  say(`  executor     ${datum.executor}`);
  say(`  fee address  ${formatAddress(datum.fee)}`);
  for (const output of tx.outputs) {
    if (output === next) continue;
    say(`  pays         ${formatUnits(output.value.lovelace, 6)} ADA to ${output.address}`);
  }
  return tx;
}

const TYPE = 'Tx ConwayEra';

function envelope(bytes: Uint8Array): string {
  const file = { type: TYPE, description: 'upcurve rotation', cborHex: toHex(bytes) };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function transactionIn(file: string): Uint8Array {
  const broken = `${file} holds no transaction: name a file that rotate make wrote`;
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(broken, { cause: error });
  }
  const hex = cborOf(found);
  if (typeof hex !== 'string' || !isHex(hex)) throw new Error(broken);
  try {
    const bytes = fromHex(hex);
    decodeTransaction(bytes);
    return bytes;
  } catch (error) {
    throw new Error(broken, { cause: error });
  }
}

function cborOf(found: unknown): unknown {
  if (typeof found !== 'object' || found === null || !('cborHex' in found)) return null;
  return found.cborHex;
}

const TAKEN_AWAY =
  'the settings are not at the script of their signers: nothing trades until they are put back';
