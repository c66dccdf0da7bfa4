/**
 * The protocol parameters that decide what a transaction costs and how large it may be.
 * Source: Conway; the values are mainnet's, which the embedded ledger shares.
 */
import { COST_MODELS, PROTOCOL } from '../ledger/parameters.ts';
import type { Ratio } from '../market/ratio.ts';

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
  readonly costModelV2: readonly number[];
}

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
