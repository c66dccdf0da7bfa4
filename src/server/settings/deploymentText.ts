/** A deployment as the file that `readDeployment` reads. */

import { refText } from '../../cardano/codec/output.ts';
import type { Deployment, NetworkDeployment } from '../../cardano/datums/deployment.ts';

/** `start`: the block after which it is there. */
export function deploymentText(deployment: Deployment, start: NetworkDeployment['start']): string {
  const { network, curve, fees, thresholdLovelace, refundAfterMs } = deployment;
  const { executorKeyHash, feeKeyHash, collateralKeyHash } = deployment;
  const { metadataAddress, tokenPolicyTemplate, scripts } = deployment;
  const file = {
    ...{ network, start, curve, thresholdLovelace, fees, refundAfterMs, executors: 'ours' },
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash, metadataAddress, tokenPolicyTemplate },
    scripts: Object.fromEntries(
      Object.entries(scripts).map(([name, { hash, ref }]) => [
        name,
        { hash, reference: refText(ref) },
      ]),
    ),
  };
  const amount = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value;
  return `${JSON.stringify(file, amount, 2)}\n`;
}
