/** Reads a node's answer to `queryLedgerState/protocolParameters`. Source: Ogmios' schema. */

import { type Ratio, reduced } from '../../engine/market/ratio.ts';
import { countOf, integerOf, listOf, objectOf, textOf, unreadable } from '../codec/json.ts';
import type { ProtocolParameters } from './parameters.ts';

/** Throws `unreadableMessage`; also for an era without scripts, in which nothing can be built. */
export function readParameters(value: unknown): ProtocolParameters {
  const all = objectOf(value, 'protocol parameters');
  const integer = (name: string) => integerOf(all[name], name);
  const bytes = (name: string) => countOf(objectOf(all[name], name).bytes, `${name}.bytes`);
  const { ada } = objectOf(all.minFeeConstant, 'minFeeConstant');
  const references = objectOf(all.minFeeReferenceScripts, 'minFeeReferenceScripts');
  const prices = objectOf(all.scriptExecutionPrices, 'scriptExecutionPrices');
  const most = readUnits(all, 'maxExecutionUnitsPerTransaction');
  const inBlock = readUnits(all, 'maxExecutionUnitsPerBlock');
  const version = objectOf(all.version, 'version');
  if (references.multiplier !== 1.2) {
    const found = String(references.multiplier);
    throw unreadable(`reference scripts cost ${found} times as much per tier, 1.2 is known`);
  }
  return {
    feePerByteLovelace: integer('minFeeCoefficient'),
    feeFixedLovelace: integerOf(objectOf(ada, 'minFeeConstant.ada').lovelace, 'minFeeConstant'),
    memoryPrice: readRatio(prices.memory, 'scriptExecutionPrices.memory'),
    cpuPrice: readRatio(prices.cpu, 'scriptExecutionPrices.cpu'),
    referenceByteLovelace: integerOf(references.base, 'minFeeReferenceScripts.base'),
    referenceTierBytes: integerOf(references.range, 'minFeeReferenceScripts.range'),
    outputByteLovelace: integer('minUtxoDepositCoefficient'),
    maxBytes: bytes('maxTransactionSize'),
    maxValueBytes: bytes('maxValueSize'),
    maxMemory: most.memory,
    maxCpu: most.cpu,
    maxBlockBytes: bytes('maxBlockBodySize'),
    maxBlockMemory: inBlock.memory,
    maxBlockCpu: inBlock.cpu,
    collateralPercent: integer('collateralPercentage'),
    maxCollateralInputs: countOf(all.maxCollateralInputs, 'maxCollateralInputs'),
    costModels: readCostModels(objectOf(all.plutusCostModels, 'plutusCostModels')),
    version: {
      major: countOf(version.major, 'version.major'),
      minor: countOf(version.minor, 'version.minor'),
    },
  };
}

function readUnits(all: Readonly<Record<string, unknown>>, name: string) {
  const { memory, cpu } = objectOf(all[name], name);
  return { memory: integerOf(memory, `${name}.memory`), cpu: integerOf(cpu, `${name}.cpu`) };
}

function readRatio(value: unknown, what: string): Ratio {
  const found = /^(\d+)\/(\d+)$/.exec(textOf(value, what));
  const [, numerator = '', denominator = '0'] = found ?? [];
  if (BigInt(denominator) === 0n) throw unreadable(`${what} is no ratio: ${String(value)}`);
  return reduced(BigInt(numerator), BigInt(denominator));
}

/** A language that a node does not list has no model; no other language is evaluated here. */
function readCostModels(
  models: Readonly<Record<string, unknown>>,
): ProtocolParameters['costModels'] {
  const model = (language: string) => {
    const what = `plutusCostModels.${language}`;
    return listOf(models[language], what).map((cost) => readCost(cost, what));
  };
  return [model('plutus:v1'), model('plutus:v2'), model('plutus:v3')];
}

function readCost(value: unknown, what: string): number | bigint {
  const cost = integerOf(value, `a cost of ${what}`);
  return BigInt(Number(cost)) === cost && Number.isSafeInteger(Number(cost)) ? Number(cost) : cost;
}
