import { type OutputRef, parseRef } from '../../../cardano/codec/output.ts';
import { command } from '../command.ts';

/** Networks whose scripts are ours: mainnet's belong to another team. */
export type OwnNetwork = 'preprod' | 'preview' | 'devnet';

export interface RefundCommand {
  readonly name: 'refund';
  readonly network: OwnNetwork;
  /** null: all that are due. */
  readonly order: OutputRef | null;
  /** A file, or the name of a key of the devnet. */
  readonly key: string;
  readonly isDryRun: boolean;
}

export const NETWORK_OPTION = {
  network: { value: 'NAME', about: 'preprod, preview (DEPLOYMENT_FILE) or devnet' },
} as const;

export const REFUND = command({
  name: 'refund',
  group: 'data',
  uses: [['[ORDER]', 'give an order that is due (TX:INDEX; or all) back']],
  options: {
    ...NETWORK_OPTION,
    key: { value: 'FILE', about: 'any key with 5 ADA as collateral; a devnet: fee' },
    'dry-run': { about: 'show what is due, and send nothing' },
  },
  takes: 1,
  parse([order], values): RefundCommand | string {
    const { network, key } = values;
    if (!isOwnNetwork(network)) return 'refund needs --network preprod, preview or devnet';
    if (typeof key !== 'string') return 'refund needs --key FILE: a key with 5 ADA as collateral';
    const ref = order === undefined ? null : parseRef(order);
    if (order !== undefined && ref === null) return 'refund takes an order as <tx>:<index>';
    return { name: 'refund', network, order: ref, key, isDryRun: values['dry-run'] === true };
  },
  async run(args, shell) {
    const { runRefund } = await import('../refund.ts');
    return runRefund(args, { ...shell, ...shell.appDeps({ NETWORK: args.network }) });
  },
});

export function isOwnNetwork(name: unknown): name is OwnNetwork {
  return name === 'preprod' || name === 'preview' || name === 'devnet';
}
