/** Our protocol parameters as Lucid takes them. */
import { PROTOCOL_PARAMETERS_DEFAULT, type ProtocolParameters } from '@lucid-evolution/lucid';
import type { ProtocolParameters as Ours } from '../../src/cardano/ledger/parameters.ts';

export function lucidParameters({ costModels, ...ours }: Ours): ProtocolParameters {
  const [PlutusV1, PlutusV2, PlutusV3] = costModels.map((model) => model.map(Number));
  const asNumber = ({ numerator, denominator }: Ours['cpuPrice']) =>
    Number(numerator) / Number(denominator);
  return {
    ...PROTOCOL_PARAMETERS_DEFAULT,
    minFeeA: Number(ours.feePerByteLovelace),
    minFeeB: Number(ours.feeFixedLovelace),
    maxTxSize: ours.maxBytes,
    maxValSize: ours.maxValueBytes,
    priceMem: asNumber(ours.memoryPrice),
    priceStep: asNumber(ours.cpuPrice),
    maxTxExMem: ours.maxMemory,
    maxTxExSteps: ours.maxCpu,
    coinsPerUtxoByte: ours.outputByteLovelace,
    collateralPercentage: Number(ours.collateralPercent),
    maxCollateralInputs: ours.maxCollateralInputs,
    minFeeRefScriptCostPerByte: Number(ours.referenceByteLovelace),
    costModels: {
      PlutusV1: PlutusV1 ?? [],
      PlutusV2: PlutusV2 ?? [],
      PlutusV3: PlutusV3 ?? [],
    },
  };
}
