/**
 * The protocol parameters, as one value: the values by which transactions are built, costed and
 * judged. A node reports them; nothing else in the code knows a cost model, a price or a limit of
 * the ledger.
 */
import type { Ratio } from '../../engine/market/ratio.ts';
import type { SlotConfig } from '../codec/slots.ts';

/** The parameters of the Conway era that decide the cost and the maximal size of a transaction. */
export interface ProtocolParameters {
  readonly feePerByteLovelace: bigint;
  readonly feeFixedLovelace: bigint;
  /** Lovelace per unit. */
  readonly memoryPrice: Ratio;
  readonly cpuPrice: Ratio;
  /** Price of a byte of reference scripts; every further tier of bytes costs a fifth more. */
  readonly referenceByteLovelace: bigint;
  readonly referenceTierBytes: bigint;
  /** An output holds this much per byte. */
  readonly outputByteLovelace: bigint;
  readonly maxBytes: number;
  readonly maxValueBytes: number;
  /** Limit of one transaction. */
  readonly maxMemory: bigint;
  readonly maxCpu: bigint;
  readonly maxBlockBytes: number;
  readonly maxBlockMemory: bigint;
  readonly maxBlockCpu: bigint;
  readonly collateralPercent: bigint;
  readonly maxCollateralInputs: number;
  /**
   * Cost models of PlutusV1, V2 and V3: the numbers in the order of the ledger; empty: the node has
   * none.
   */
  readonly costModels: readonly [CostModel, CostModel, CostModel];
  readonly version: { readonly major: number; readonly minor: number };
}

/** Everything that building and judging a transaction needs besides the outputs that it names. */
export interface LedgerTerms {
  readonly parameters: ProtocolParameters;
  readonly slots: SlotConfig;
}

type CostModel = readonly (number | bigint)[];

/** The least fee of a plain payment of `bytes`. */
export function minFeeLovelace(
  { feeFixedLovelace, feePerByteLovelace }: ProtocolParameters,
  bytes: number,
): bigint {
  return feeFixedLovelace + feePerByteLovelace * BigInt(bytes);
}

/**
 * Protocol versions and lengths of cost models with which Scalus 0.17 was compared with another
 * evaluator: mainnet's from epoch 544 on. Later ones may give scripts other costs.
 */
const EVALUATED_VERSIONS = [10, 11];
const EVALUATED_LENGTHS = [
  [166, 332],
  [175, 332],
  [297, 350],
] as const;

/**
 * Parameters that the script evaluator does not know, as a text for people; null: it knows all
 * parameters.
 */
export function unknownToEvaluator({ version, costModels }: ProtocolParameters): string | null {
  const unknown = [
    ...(EVALUATED_VERSIONS.includes(version.major) ? [] : [`protocol version ${version.major}`]),
    ...EVALUATED_LENGTHS.flatMap((lengths, at) => {
      const length = costModels[at]?.length ?? 0;
      if (lengths.some((known) => known === length)) return [];
      return [`a cost model of Plutus V${at + 1} with ${length} entries`];
    }),
  ];
  return unknown.length === 0 ? null : unknown.join(', ');
}
