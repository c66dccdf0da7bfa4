import { command, textOf, type Values } from '../command.ts';
import type { DeployableNetwork } from '../prepareDeployment.ts';

export interface DeployCommand {
  readonly name: 'deploy';
  readonly network: DeployableNetwork;
  /** The payer's key file; null: the executor's key pays. */
  readonly keyFile: string | null;
  readonly isDryRun: boolean;
  /** The file to write. */
  readonly out: string;
  /** A file with the terms; null: the default ones. */
  readonly parameters: string | null;
  /** A file: who may change the settings. */
  readonly signers: string;
}

interface DeployCheckCommand {
  readonly name: 'deploy check';
  readonly file: string;
}

export const DEPLOY = command({
  name: 'deploy',
  group: 'data',
  uses: [['', 'put our validators on a test network']],
  options: {
    network: { value: 'NAME', about: 'preprod or preview; its keys are named as below' },
    key: { value: 'FILE', about: 'who pays: .skey of cardano-cli, or hex (default: executor)' },
    'dry-run': { about: 'show the transactions and what they cost, and send none' },
    out: { value: 'FILE', about: 'where to write it (default ./deployment.NAME.json)' },
    parameters: { value: 'FILE', about: 'curve, thresholdLovelace and fees (default: the usual)' },
    signers: {
      value: 'FILE',
      about: 'who may rotate executor and fee address: required, keyHashes',
    },
    check: { value: 'FILE', about: 'instead: is what it names what the sources compile to?' },
  },
  parse(_rest, values): DeployCommand | DeployCheckCommand | string {
    const { network, signers } = values;
    if (typeof values.check === 'string') return parseCheck(values.check, values);
    if (network === 'mainnet') {
      const remedy = 'set NETWORK=mainnet and start the server to follow it';
      return `mainnet has a launchpad already: ${remedy}`;
    }
    if (network !== 'preprod' && network !== 'preview') {
      return 'deploy needs --network preprod or --network preview';
    }
    if (typeof signers !== 'string') {
      return 'deploy needs --signers FILE: {"required": k, "keyHashes": […]}, who may rotate keys';
    }
    return {
      name: 'deploy',
      network,
      signers,
      keyFile: textOf(values.key),
      isDryRun: values['dry-run'] === true,
      out: textOf(values.out) ?? `./deployment.${network}.json`,
      parameters: textOf(values.parameters),
    };
  },
  async run(args, shell) {
    const { checkDeployment, runDeploy } = await import('../deploy.ts');
    if (args.name === 'deploy check') return checkDeployment(args.file, shell.say);
    return runDeploy(args, { ...shell, ...shell.appDeps({ NETWORK: args.network }) });
  },
});

function parseCheck(file: string, values: Values): DeployCheckCommand | string {
  const isAlone = Object.keys(values).length === 1;
  return isAlone ? { name: 'deploy check', file } : '--check goes without other options';
}
