/**
 * Protocol parameters of the devnet's ledger: those that Scalus judges by, and the limits it leaves
 * to us. The builder builds for them. Tests compare them with Lucid's and with what Scalus accepts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ratio } from '../../engine/market/ratio.ts';

export const PROTOCOL = {
  minFeePerByteLovelace: 44n,
  minFeeFixedLovelace: 155_381n,
  maxTransactionBytes: 16_384,
  maxTransactionMemory: 14_000_000n,
  maxTransactionCpu: 10_000_000_000n,
  maxBlockBytes: 90_112,
  maxBlockMemory: 62_000_000n,
  maxBlockCpu: 20_000_000_000n,
  lovelacePerOutputByte: 4310n,
  /** An output pays for these bytes beside its own. */
  outputOverheadBytes: 160n,
} as const;

/** What a plain payment of `bytes` pays at least. */
export function minFeeLovelace(bytes: number): bigint {
  return PROTOCOL.minFeeFixedLovelace + PROTOCOL.minFeePerByteLovelace * BigInt(bytes);
}

/** Plutus V1, V2, V3: the numbers in the order of the ledger. */
export const COST_MODELS: readonly (readonly number[])[] = readCostModels();

function readCostModels(): number[][] {
  const path = join(import.meta.dirname, 'costModels.json');
  // trust: our own committed file, compared with Lucid's by a test
  const models = JSON.parse(readFileSync(path, 'utf8')) as Record<string, number[]>;
  return ['PlutusV1', 'PlutusV2', 'PlutusV3'].map((language) => models[language] ?? []);
}

/** The protocol parameters that decide what a transaction costs and how large it may be: Conway. */
export interface ProtocolParameters {
  readonly feePerByteLovelace: bigint;
  readonly feeFixedLovelace: bigint;
  /** Lovelace per unit. */
  readonly memoryPrice: Ratio;
  readonly cpuPrice: Ratio;
  /** Of scripts in references; every further tier of bytes costs a fifth more. */
  readonly referenceByteLovelace: bigint;
  readonly referenceTierBytes: bigint;
  /** An output holds this much per byte. */
  readonly outputByteLovelace: bigint;
  readonly mostBytes: number;
  readonly mostValueBytes: number;
  readonly mostMemory: bigint;
  readonly mostCpu: bigint;
  readonly collateralPercent: bigint;
  readonly mostCollateralInputs: number;
  /** Of PlutusV2, the one language of our scripts. */
  readonly costModelV2: readonly (number | bigint)[];
}

/** The protocol parameters of mainnet, which the devnet shares. */
export const DEFAULT_PARAMETERS: ProtocolParameters = {
  feePerByteLovelace: PROTOCOL.minFeePerByteLovelace,
  feeFixedLovelace: PROTOCOL.minFeeFixedLovelace,
  memoryPrice: { numerator: 577n, denominator: 10_000n },
  cpuPrice: { numerator: 721n, denominator: 10_000_000n },
  referenceByteLovelace: 15n,
  referenceTierBytes: 25_600n,
  outputByteLovelace: PROTOCOL.lovelacePerOutputByte,
  mostBytes: PROTOCOL.maxTransactionBytes,
  mostValueBytes: 5000,
  mostMemory: PROTOCOL.maxTransactionMemory,
  mostCpu: PROTOCOL.maxTransactionCpu,
  collateralPercent: 150n,
  mostCollateralInputs: 3,
  costModelV2: COST_MODELS[1] ?? [],
};
