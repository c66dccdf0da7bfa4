/**
 * Protocol parameters as `queryLedgerState/protocolParameters` answers them: those that a builder
 * reads come from the caller, the rest is mainnet's.
 */

import { COST_MODELS, type ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { JsonValue } from './json.ts';

const ada = (lovelace: bigint): JsonValue => ({ ada: { lovelace } });
const bytes = (count: number): JsonValue => ({ bytes: count });

export function parametersJson(parameters: ProtocolParameters): JsonValue {
  const { memoryPrice, cpuPrice } = parameters;
  return {
    ...COMMON,
    minFeeCoefficient: parameters.feePerByteLovelace,
    minFeeConstant: ada(parameters.feeFixedLovelace),
    minFeeReferenceScripts: {
      range: parameters.referenceTierBytes,
      base: parameters.referenceByteLovelace,
      multiplier: 1.2,
    },
    minUtxoDepositCoefficient: parameters.outputByteLovelace,
    maxTransactionSize: bytes(parameters.mostBytes),
    maxValueSize: bytes(parameters.mostValueBytes),
    collateralPercentage: parameters.collateralPercent,
    maxCollateralInputs: parameters.mostCollateralInputs,
    scriptExecutionPrices: {
      memory: `${memoryPrice.numerator}/${memoryPrice.denominator}`,
      cpu: `${cpuPrice.numerator}/${cpuPrice.denominator}`,
    },
    maxExecutionUnitsPerTransaction: { memory: parameters.mostMemory, cpu: parameters.mostCpu },
    plutusCostModels: {
      'plutus:v1': COST_MODELS[0] ?? [],
      'plutus:v2': parameters.costModelV2,
      'plutus:v3': COST_MODELS[2] ?? [],
    },
  };
}

const COMMON = {
  minUtxoDepositConstant: ada(0n),
  maxBlockBodySize: bytes(90_112),
  maxBlockHeaderSize: bytes(1_100),
  stakeCredentialDeposit: ada(2_000_000n),
  stakePoolDeposit: ada(500_000_000n),
  stakePoolRetirementEpochBound: 18,
  stakePoolPledgeInfluence: '3/10',
  minStakePoolCost: ada(170_000_000n),
  desiredNumberOfStakePools: 500,
  monetaryExpansion: '3/1000',
  treasuryExpansion: '1/5',
  maxExecutionUnitsPerBlock: { memory: 62_000_000, cpu: 20_000_000_000 },
  maxReferenceScriptsSize: bytes(204_800),
  stakePoolVotingThresholds: {
    noConfidence: '51/100',
    constitutionalCommittee: { default: '51/100', stateOfNoConfidence: '51/100' },
    hardForkInitiation: '51/100',
    protocolParametersUpdate: { security: '51/100' },
  },
  delegateRepresentativeVotingThresholds: {
    noConfidence: '67/100',
    constitution: '3/4',
    constitutionalCommittee: { default: '67/100', stateOfNoConfidence: '3/5' },
    hardForkInitiation: '3/5',
    protocolParametersUpdate: {
      network: '67/100',
      economic: '67/100',
      technical: '67/100',
      governance: '3/4',
    },
    treasuryWithdrawals: '67/100',
  },
  constitutionalCommitteeMinSize: 7,
  constitutionalCommitteeMaxTermLength: 146,
  governanceActionLifetime: 6,
  governanceActionDeposit: ada(100_000_000_000n),
  delegateRepresentativeDeposit: ada(500_000_000n),
  delegateRepresentativeMaxIdleTime: 20,
  version: { major: 10, minor: 0 },
} as const;
