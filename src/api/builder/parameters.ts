/** The deployment in force, for clients that compute quotes themselves. */
import type { Deployment, PartialDeployment } from '../../cardano/datums/deployment.ts';
import { COST_DENOMINATOR } from '../../engine/market/curve.ts';
import { formatUnits } from '../../engine/market/decimal.ts';
import type { Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { ConfigAnswer, ParametersAnswer } from './schema.ts';
import { BUILDS, type TxBuildContext } from './txBuildContext.ts';

const READS = { ...BUILDS, method: 'GET', rate: 'read', needsSync: false } as const;
const A_DENOMINATOR = COST_DENOMINATOR / 3n;
const B_DENOMINATOR = 1_000_000n;
const ADA_DECIMALS = 6;

/** Version of the document's format, as in the original API. */
const CONFIG_VERSION = 2;

export function parameterRoutes(
  txContext: Pick<TxBuildContext, 'deployment' | 'partialDeployment'>,
): Route[] {
  return [
    route({
      ...READS,
      path: '/parameters',
      operationId: 'parameters',
      summary: 'Parameters of the curve and of the fees',
      answers: { 200: { description: 'Parameters', schema: ParametersAnswer } },
      causes: ['PROTOCOL_CONFIG_NETWORK_MISMATCH', 'CONTRACTS_CONFIG_NETWORK_MISMATCH'],
      handle: () => jsonAnswer(parametersOf(txContext.partialDeployment)),
    }),
    route({
      ...READS,
      path: '/snekfun-front/protocol-config.json',
      operationId: 'protocolConfig',
      summary: 'The deployment in force',
      etag: true,
      answers: { 200: { description: 'Deployment', schema: ConfigAnswer } },
      handle: () => jsonAnswer(configOf(txContext.deployment)),
    }),
  ];
}

function parametersOf({ curve, fees, thresholdLovelace, launchPolicyId }: PartialDeployment) {
  return {
    tokenEmission: String(curve.supply),
    aNum: String(curve.aNum),
    aDenom: String(A_DENOMINATOR),
    bNum: String(curve.bNum),
    bDenom: String(B_DENOMINATOR),
    adaThreshold: String(thresholdLovelace),
    fixedFee: String(fees.fixedFeeLovelace),
    minTradeAda: String(fees.minTradeLovelace),
    percentFee: Number(fees.percentFee),
    deployScript: launchPolicyId,
  };
}

function configOf(deployment: Deployment) {
  const { curve, fees, scripts, thresholdLovelace } = deployment;
  const ada = (lovelace: bigint) => ({
    human: formatUnits(lovelace, ADA_DECIMALS),
    raw: String(lovelace),
  });
  const hashes = Object.entries(scripts).map(([name, { hash, ref }]) => [
    name,
    { hash, reference: `${ref.txHash}:${ref.index}` },
  ]);
  return {
    version: CONFIG_VERSION,
    network: deployment.addressNetwork,
    environment: deployment.network,
    addresses: {
      fee: deployment.feeAddress,
      metadata: deployment.metadataAddress,
      executor: deployment.executorKeyHash,
      launchPolicy: deployment.launchPolicyId,
      scripts: Object.fromEntries(hashes),
    },
    parameters: {
      tokenEmission: { human: String(curve.supply), raw: String(curve.supply) },
      aNum: String(curve.aNum),
      aDenom: String(A_DENOMINATOR),
      bNum: String(curve.bNum),
      bDenom: String(B_DENOMINATOR),
      adaThreshold: ada(thresholdLovelace),
      executorFee: ada(fees.executorFeeLovelace),
      fixedFee: ada(fees.fixedFeeLovelace),
      orderDeposit: ada(fees.orderDepositLovelace),
      minTradeAda: ada(fees.minTradeLovelace),
      poolKeep: ada(fees.poolKeepLovelace),
      refundFee: ada(fees.refundFeeLovelace),
      percentFee: Number(fees.percentFee),
      creatorFeePer10k: Number(fees.creatorFeePer10k),
      platformFeePer10k: Number(fees.platformFeePer10k),
      lpFeePer10k: Number(fees.lpFeePer10k),
      refundAfterMs: deployment.refundAfterMs,
    },
  };
}
