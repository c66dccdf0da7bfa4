import { type Credential, parseAddress } from '../../cardano/codec/address.ts';
import type { PartialDeployment } from '../../cardano/datums/deployment.ts';
import type { FilterTargets } from './messages.ts';

/** Where a deployment's transactions leave outputs, and under which policy they mint. */
export function filterTargetsOf({
  scripts,
  metadataAddress,
  launchPolicyId,
}: Pick<PartialDeployment, 'launchPolicyId' | 'metadataAddress' | 'scripts'>): FilterTargets {
  const { curvePool, order, ammPool, vesting } = scripts;
  const guards = [curvePool, order, ammPool, vesting].flatMap((script): Credential[] =>
    script === null ? [] : [{ kind: 'script', hash: script.hash }],
  );
  const metadata = metadataAddress === null ? null : parseAddress(metadataAddress);
  const credentials = metadata === null ? guards : [...guards, metadata.payment];
  return { credentials, launchPolicyId };
}
