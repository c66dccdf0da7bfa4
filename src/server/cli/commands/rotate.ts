import { command, textOf, type Values } from '../command.ts';
import { isOwnNetwork, NETWORK_OPTION, type OwnNetwork } from './refund.ts';

/** `key` is a file, or the name of a key of the devnet. */
export type RotateCommand = {
  readonly name: 'rotate';
  readonly network: OwnNetwork;
} & (
  | {
      readonly step: 'make';
      /** Pays the network fee. */
      readonly key: string;
      /** Key hash; null: stays. */
      readonly executor: string | null;
      readonly feeAddress: string | null;
      /** Whether it pays what batches need at the fee address, too. */
      readonly isFunded: boolean;
      readonly out: string;
    }
  | { readonly step: 'sign'; readonly key: string; readonly file: string }
  | { readonly step: 'submit'; readonly files: readonly string[] }
);

const OPTIONS = {
  ...NETWORK_OPTION,
  key: {
    value: 'FILE',
    about: 'who pays or signs; a devnet: fee pays; executor, fee, faucet sign',
  },
  executor: { value: 'HASH', about: 'key hash of the executor from now on' },
  'fee-address': { value: 'ADDRESS', about: 'where fees go from now on' },
  'no-funding': { about: 'without the outputs of 20 ADA that batches need at the fee address' },
  out: { value: 'FILE', about: 'where to write it (default ./rotation.json)' },
} as const;

export const ROTATE = command({
  name: 'rotate',
  group: 'data',
  uses: [
    ['make', 'write a transaction: another executor or fee address'],
    ['sign FILE', 'add a signature of one of the signers; needs no node'],
    ['submit FILE...', 'send it, with the signatures of all these files'],
  ],
  options: OPTIONS,
  takes: Number.POSITIVE_INFINITY,
  parse: parseRotate,
  async run(args, shell) {
    const { runRotate } = await import('../rotate.ts');
    return runRotate(args, { ...shell, ...shell.appDeps({ NETWORK: args.network }) });
  },
});

function parseRotate(
  [step, ...files]: readonly string[],
  values: Values<keyof typeof OPTIONS>,
): RotateCommand | string {
  const { network, key, executor, out, 'fee-address': feeAddress } = values;
  if (!isOwnNetwork(network)) return 'rotate needs --network preprod, preview or devnet';
  const whose = { name: 'rotate', network } as const;
  const [file, more] = files;
  if (step === 'submit') {
    return file === undefined ? 'rotate submit needs a file' : { ...whose, step, files };
  }
  if (step !== 'make' && step !== 'sign') return 'rotate takes make, sign or submit';
  if (typeof key !== 'string') return `rotate ${step} needs --key FILE`;
  if (step === 'sign') {
    if (file === undefined) return 'rotate sign needs a file';
    return more === undefined ? { ...whose, step, key, file } : `unexpected argument: ${more}`;
  }
  if (file !== undefined) return `unexpected argument: ${file}`;
  if (executor === undefined && feeAddress === undefined) {
    return 'rotate make needs --executor HASH or --fee-address ADDRESS';
  }
  if (typeof executor === 'string' && !/^[0-9a-f]{56}$/.test(executor)) {
    return '--executor takes a key hash: 56 hex digits';
  }
  return {
    ...{ ...whose, step, key },
    executor: textOf(executor),
    feeAddress: textOf(feeAddress),
    isFunded: values['no-funding'] !== true,
    out: textOf(out) ?? './rotation.json',
  };
}
