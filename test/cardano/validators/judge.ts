/**
 * Judges a planned transaction: Lucid builds it, Scalus evaluates its scripts and checks the signed
 * whole (phase 1 and 2). For the deployed release build, Lucid's own evaluator must come to the
 * same verdict and budget; the debug build is there to say which check refused.
 *
 * Assumes: the plan's inputs come in ledger order; the bank's input follows them, its change comes
 *          last, so that input i and output i belong together as the plan has them.
 */
import assert from 'node:assert/strict';
import {
  type Assets,
  CML,
  Data,
  type EvalRedeemer,
  Lucid,
  type LucidEvolution,
  mintingPolicyToId,
  type Provider,
  paymentCredentialOf,
  type Script,
  type TxBuilder,
  type UTxO,
  utxoToCore,
} from '@lucid-evolution/lucid';
import scalus from 'scalus';
import type { ProtocolParameters } from '../../../src/cardano/ledger/parameters.ts';
import { ScalusParameters } from '../../../src/cardano/ledger/scalus.ts';
import { lucidParameters } from '../../support/lucidParameters.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { ADA, BANK, type Key, SLOT_MS, START_MS, utxo, type World } from './world.ts';

export interface Input {
  readonly utxo: UTxO;
  /** Set for outputs of scripts only. */
  readonly redeemer?: Data;
}

export interface Output {
  readonly address: string;
  readonly assets: Assets;
  /** Inline. */
  readonly datum?: Data;
  readonly scriptRef?: Script;
}

export interface Mint {
  readonly policy: Script;
  readonly assets: Assets;
  /** Not of a native script. */
  readonly redeemer?: Data;
}

export interface Plan {
  readonly inputs: readonly Input[];
  readonly outputs: readonly Output[];
  readonly mints?: readonly Mint[];
  /** The outputs with settings that it refers to; absent: the ones in force, where they count. */
  readonly settings?: readonly UTxO[];
  readonly signers: readonly Key[];
  /** Lower bound of validity. */
  readonly fromMs?: number;
}

export interface Cost {
  readonly mem: bigint;
  readonly cpu: bigint;
}

export type Verdict =
  | {
      readonly accepted: true;
      /** By redeemer: `spend 0`, `mint 1`. */
      readonly costs: ReadonlyMap<string, Cost>;
      readonly sizeBytes: number;
    }
  /**
   * `traces`: messages of the failing script, the last one at the end; empty in the release build.
   */
  | { readonly accepted: false; readonly traces: readonly string[]; readonly error: string };

const slots = new scalus.SlotConfig(START_MS, 0, SLOT_MS);
const inForce = new ScalusParameters(scalus, slots);
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

function ledger(utxos: readonly UTxO[]): Uint8Array {
  const entries = utxos.map((held) => {
    const core = utxoToCore(held);
    return core.input().to_cbor_hex() + core.output().to_cbor_hex();
  });
  return bytes(`b9${entries.length.toString(16).padStart(4, '0')}${entries.join('')}`);
}

interface Refusal {
  readonly traces: readonly string[];
  readonly error: string;
}

/** Scalus throws an object with `message` and `logs`, which is no Error. */
function whyOf(thrown: unknown): Refusal {
  const logs = typeof thrown === 'object' && thrown && 'logs' in thrown ? thrown.logs : [];
  const error = typeof thrown === 'object' && thrown && 'message' in thrown ? thrown.message : '';
  return { traces: Array.isArray(logs) ? logs.map(String) : [], error: String(error) };
}

/** A provider that only evaluates, and remembers why Scalus refused. */
function evaluator(parameters: ProtocolParameters, refused: (refusal: Refusal) => void): Provider {
  const costModels = parameters.costModels.map((model) => model.map(Number));
  const none = async (): Promise<never> => {
    throw new Error('the plan names everything');
  };
  return {
    ...{ getUtxos: none, getUtxosWithUnit: none, getUtxoByUnit: none, getUtxosByOutRef: none },
    ...{ getDelegation: none, getDatum: none, awaitTx: none, submitTx: none },
    getProtocolParameters: async () => lucidParameters(parameters),
    evaluateTx: async (tx, utxos = []): Promise<EvalRedeemer[]> => {
      try {
        const ran = scalus.Scalus.evalPlutusScripts(bytes(tx), ledger(utxos), slots, costModels);
        return ran.map(({ tag, index, budget }) => ({
          redeemer_tag: tag === 'Mint' ? 'mint' : 'spend',
          redeemer_index: index,
          ex_units: { mem: Number(budget.memory), steps: Number(budget.steps) },
        }));
      } catch (error) {
        refused(whyOf(error));
        throw error;
      }
    },
  };
}

const FUNDS = utxo('ff', 0, BANK.enterprise, { lovelace: 40_000n * ADA });
const COLLATERAL = utxo('ff', 1, BANK.enterprise, { lovelace: 20n * ADA });

function draft(lucid: LucidEvolution, world: World, plan: Plan): TxBuilder {
  let tx = lucid.newTx();
  const needed = neededScripts(plan);
  for (const [hash, held] of world.references) if (needed.has(hash)) tx = tx.readFrom([held]);
  const settings = settingsOf(world, plan);
  if (settings.length > 0) tx = tx.readFrom([...settings]);
  for (const { utxo: spent, redeemer } of plan.inputs) {
    tx = tx.collectFrom([spent], encoded(redeemer));
  }
  for (const { policy, assets, redeemer } of plan.mints ?? []) {
    if (!world.references.has(mintingPolicyToId(policy))) tx = tx.attach.MintingPolicy(policy);
    tx = tx.mintAssets(assets, encoded(redeemer));
  }
  for (const { address, assets, datum, scriptRef } of plan.outputs) {
    const value = encoded(datum);
    const inline = value === undefined ? undefined : ({ kind: 'inline', value } as const);
    tx = tx.pay.ToAddressWithData(address, inline, assets, scriptRef);
  }
  for (const { pkh } of plan.signers) tx = tx.addSignerKey(pkh);
  if (plan.fromMs !== undefined) tx = tx.validFrom(plan.fromMs);
  return tx.collectFrom([FUNDS]);
}

const READERS = ['curvePool', 'ammPool'] as const;

function settingsOf(world: World, plan: Plan): readonly UTxO[] {
  const needed = neededScripts(plan);
  const reads = needed.has(world.policyId) || READERS.some((name) => needed.has(world.hash(name)));
  return plan.settings ?? (reads ? [world.settings] : []);
}

const encoded = (data: Data | undefined): string | undefined =>
  data === undefined ? undefined : Data.to(data);

function neededScripts({ inputs, mints = [] }: Plan): Set<string> {
  const owners = inputs.map(({ utxo: { address } }) => paymentCredentialOf(address).hash);
  return new Set([...owners, ...mints.map(({ policy }) => mintingPolicyToId(policy))]);
}

/** Lucid raises small outputs and reorders inputs without a word; then it is not our plan. */
function asPlanned(body: CML.TransactionBody, plan: Plan): void {
  const spent = [...plan.inputs.map((input) => input.utxo), FUNDS];
  assert.equal(body.inputs().len(), spent.length);
  for (const [i, { txHash, outputIndex }] of spent.entries()) {
    assert.equal(body.inputs().get(i).transaction_id().to_hex(), txHash);
    assert.equal(body.inputs().get(i).index(), BigInt(outputIndex));
  }
  for (const [i, { address, assets }] of plan.outputs.entries()) {
    const made = body.outputs().get(i);
    assert.equal(made.address().to_bech32(), address);
    assert.equal(made.amount().coin(), assets.lovelace, `lovelace of output ${i}`);
  }
}

function costsOf(tx: CML.Transaction): Map<string, Cost> {
  const costs = new Map<string, Cost>();
  const redeemers = tx.witness_set().redeemers()?.to_flat_format();
  for (let i = 0; i < (redeemers?.len() ?? 0); i++) {
    const redeemer = redeemers?.get(i);
    if (!redeemer) continue;
    const tag = redeemer.tag() === CML.RedeemerTag.Mint ? 'mint' : 'spend';
    const units = redeemer.ex_units();
    costs.set(`${tag} ${redeemer.index()}`, { mem: units.mem(), cpu: units.steps() });
  }
  return costs;
}

export async function judge(
  world: World,
  plan: Plan,
  parameters: ProtocolParameters = PARAMETERS,
): Promise<Verdict> {
  let refusal: Refusal | null = null;
  inForce.install(parameters);
  const provider = evaluator(parameters, (why) => {
    refusal = why;
  });
  const lucid = await Lucid(provider, 'Custom');
  lucid.selectWallet.fromAddress(BANK.enterprise, [COLLATERAL]);
  const complete = async (localUPLCEval: boolean) => {
    // Coin selection stays on though nothing is left to select: without it Lucid 0.4.34 forgets
    // the fee of reference scripts that mint.
    const options = { localUPLCEval, presetWalletInputs: [COLLATERAL] };
    return draft(lucid, world, plan).complete(options);
  };
  const byScalus = await complete(false).catch((error: unknown) => {
    if (refusal === null) throw error;
    return null;
  });
  const isDeployed = world.build === 'release';
  const byLucid = isDeployed ? await complete(true).catch(() => null) : byScalus;
  if (byScalus === null) {
    assert.equal(byLucid, null, "Lucid's evaluator refuses too");
    assert.ok(refusal);
    // trust: assigned in the provider's callback, which narrowing does not see
    return { accepted: false, ...(refusal as Refusal) };
  }
  assert.ok(byLucid, "Lucid's evaluator accepts too");
  const costs = costsOf(byScalus.toTransaction());
  assert.deepEqual(costsOf(byLucid.toTransaction()), costs, 'the same budget by both evaluators');
  asPlanned(byScalus.toTransaction().body(), plan);
  const signing = [BANK, ...plan.signers].reduce(
    (tx, { secret }) => tx.sign.withPrivateKey(secret),
    byScalus,
  );
  const signed = (await signing.complete()).toCBOR();
  submitted(world, plan, signed);
  return { accepted: true, costs, sizeBytes: signed.length / 2 };
}

/** The ledger's rules on the signed transaction, phase 1 and 2. */
function submitted(world: World, plan: Plan, signedHex: string): void {
  const inputs = plan.inputs.map((input) => input.utxo);
  const held = [...inputs, FUNDS, COLLATERAL, ...settingsOf(world, plan)];
  const emulator = new scalus.Emulator(ledger([...held, ...world.references.values()]), slots);
  if (plan.fromMs !== undefined) emulator.setSlot(Math.ceil((plan.fromMs - START_MS) / SLOT_MS));
  const result = emulator.submitTx(bytes(signedHex));
  assert.ok(result.isSuccess, result.error);
}
