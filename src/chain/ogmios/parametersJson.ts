/** Protocol parameters as Ogmios writes them. Source: its schema, ProtocolParameters. */
import type { ProtocolParameters } from '../../cardano/ledger/protocolParameters.ts';
import { type Ratio, reduced } from '../../engine/market/ratio.ts';
import { countOf, integerOf, listOf, objectOf, textOf, Unreadable } from './json.ts';

/** Throws `Unreadable`; also for an era without scripts, in which nothing can be built. */
export function readParameters(value: unknown): ProtocolParameters {
  const all = objectOf(value, 'protocol parameters');
  const integer = (name: string) => integerOf(all[name], name);
  const bytes = (name: string) => countOf(objectOf(all[name], name).bytes, `${name}.bytes`);
  const { ada } = objectOf(all.minFeeConstant, 'minFeeConstant');
  const references = objectOf(all.minFeeReferenceScripts, 'minFeeReferenceScripts');
  const prices = objectOf(all.scriptExecutionPrices, 'scriptExecutionPrices');
  const most = objectOf(all.maxExecutionUnitsPerTransaction, 'maxExecutionUnitsPerTransaction');
  const models = objectOf(all.plutusCostModels, 'plutusCostModels');
  if (references.multiplier !== 1.2) {
    const found = String(references.multiplier);
    throw new Unreadable(`reference scripts cost ${found} times as much per tier, 1.2 is known`);
  }
  return {
    feePerByteLovelace: integer('minFeeCoefficient'),
    feeFixedLovelace: integerOf(objectOf(ada, 'minFeeConstant.ada').lovelace, 'minFeeConstant'),
    memoryPrice: readRatio(prices.memory, 'scriptExecutionPrices.memory'),
    cpuPrice: readRatio(prices.cpu, 'scriptExecutionPrices.cpu'),
    referenceByteLovelace: integerOf(references.base, 'minFeeReferenceScripts.base'),
    referenceTierBytes: integerOf(references.range, 'minFeeReferenceScripts.range'),
    outputByteLovelace: integer('minUtxoDepositCoefficient'),
    mostBytes: bytes('maxTransactionSize'),
    mostValueBytes: bytes('maxValueSize'),
    mostMemory: integerOf(most.memory, 'maxExecutionUnitsPerTransaction.memory'),
    mostCpu: integerOf(most.cpu, 'maxExecutionUnitsPerTransaction.cpu'),
    collateralPercent: integer('collateralPercentage'),
    mostCollateralInputs: countOf(all.maxCollateralInputs, 'maxCollateralInputs'),
    costModelV2: listOf(models['plutus:v2'], 'plutusCostModels.plutus:v2').map(readCost),
  };
}

function readRatio(value: unknown, what: string): Ratio {
  const found = /^(\d+)\/(\d+)$/.exec(textOf(value, what));
  const [, numerator = '', denominator = '0'] = found ?? [];
  if (BigInt(denominator) === 0n) throw new Unreadable(`${what} is no ratio: ${String(value)}`);
  return reduced(BigInt(numerator), BigInt(denominator));
}

function readCost(value: unknown): number | bigint {
  const cost = integerOf(value, 'a cost of plutus:v2');
  return BigInt(Number(cost)) === cost && Number.isSafeInteger(Number(cost)) ? Number(cost) : cost;
}
