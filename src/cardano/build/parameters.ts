/** The protocol parameters of mainnet, which the devnet shares. */

import { COST_MODELS, PROTOCOL } from '../ledger/parameters.ts';
import type { ProtocolParameters } from '../ledger/protocolParameters.ts';

export type { ProtocolParameters } from '../ledger/protocolParameters.ts';

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
