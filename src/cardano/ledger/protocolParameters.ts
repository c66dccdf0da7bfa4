/** The protocol parameters that decide what a transaction costs and how large it may be: Conway. */
import type { Ratio } from '../../engine/market/ratio.ts';

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
