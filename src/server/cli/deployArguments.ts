/** The command line of `deploy`, checked. */
import type { DeployableNetwork } from './deployPlan.ts';
import type { Values } from './options.ts';

export interface DeployCommand {
  readonly name: 'deploy';
  readonly network: DeployableNetwork;
  /** Who pays; null: the executor. */
  readonly keyFile: string | null;
  readonly isDryRun: boolean;
  /** The file to be written. */
  readonly out: string;
}

export function parseDeploy(rest: readonly string[], values: Values): DeployCommand | string {
  if (rest[0] !== undefined) return `unexpected argument: ${rest[0]}`;
  const { network, key, out } = values;
  if (network === 'mainnet') {
    return 'mainnet has a launchpad already: set NETWORK=mainnet and start the server to follow it';
  }
  if (network !== 'preprod' && network !== 'preview') {
    return 'deploy needs --network preprod or --network preview';
  }
  return {
    name: 'deploy',
    network,
    keyFile: typeof key === 'string' ? key : null,
    isDryRun: values['dry-run'] === true,
    out: typeof out === 'string' ? out : `./deployment.${network}.json`,
  };
}
