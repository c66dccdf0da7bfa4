/**
 * What the devnet says of its network: eras and protocol parameters. Times are relative to its
 * start, in whole seconds. Source: the consensus layer's hard-fork history.
 */

import { COST_MODELS, type ProtocolParameters } from '../../cardano/ledger/parameters.ts';
import type { JsonValue } from './json.ts';

export const ERAS = ['byron', 'shelley', 'allegra', 'mary', 'alonzo', 'babbage', 'conway'] as const;
export type Era = (typeof ERAS)[number];

export interface EraPlan {
  readonly era: Era;
  readonly startSlot: number;
  readonly startEpoch: number;
  readonly startSeconds: number;
  readonly epochSlots: number;
  readonly slotLengthMs: number;
  readonly safeZoneSlots: number;
}

const SHELLEY = { epochSlots: 432_000, slotLengthMs: 1_000, safeZoneSlots: 129_600 };

/** One era from the first slot on, as a network of today begins. */
export function oneEra(slotLengthMs: number, startSlot = 0): readonly EraPlan[] {
  const start = { era: 'conway', startSlot, startEpoch: 0, startSeconds: 0 } as const;
  return [{ ...start, ...SHELLEY, slotLengthMs }];
}

/** The era that a slot lies in. */
export function eraAt(plans: readonly EraPlan[], slot: number): EraPlan {
  const plan = plans.findLast(({ startSlot }) => startSlot <= slot) ?? plans[0];
  if (plan === undefined) throw new Error('a chain has at least one era');
  return plan;
}

export function epochAt(plans: readonly EraPlan[], slot: number): number {
  const { startEpoch, startSlot, epochSlots } = eraAt(plans, slot);
  return startEpoch + Math.floor((slot - startSlot) / epochSlots);
}

export function boundOf({ startSeconds, startSlot, startEpoch }: EraPlan): JsonValue {
  return { time: { seconds: startSeconds }, slot: startSlot, epoch: startEpoch };
}

/**
 * The known eras when the tip is at `slot`, without later ones. The present era ends, as far as is
 * known, with the epoch that the safe zone reaches.
 */
export function eraSummaries(plans: readonly EraPlan[], slot: number): JsonValue {
  const current = eraAt(plans, slot);
  const reached = plans.slice(0, plans.indexOf(current) + 1);
  return reached.map((plan, at) => {
    const following = reached[at + 1];
    return {
      start: boundOf(plan),
      end: following === undefined ? horizonOf(plan, slot) : boundOf(following),
      parameters: {
        epochLength: plan.epochSlots,
        slotLength: { milliseconds: plan.slotLengthMs },
        safeZone: plan.safeZoneSlots,
      },
    };
  });
}

function horizonOf(plan: EraPlan, slot: number): JsonValue {
  const known = slot + plan.safeZoneSlots - plan.startSlot;
  const epochs = Math.ceil((known + 1) / plan.epochSlots);
  const slots = epochs * plan.epochSlots;
  return {
    time: { seconds: plan.startSeconds + Math.floor((slots * plan.slotLengthMs) / 1000) },
    slot: plan.startSlot + slots,
    epoch: plan.startEpoch + epochs,
  };
}

const ada = (lovelace: bigint): JsonValue => ({ ada: { lovelace } });
const bytes = (count: number): JsonValue => ({ bytes: count });

/** Those that a builder reads come from the caller, the rest is mainnet's. */
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
