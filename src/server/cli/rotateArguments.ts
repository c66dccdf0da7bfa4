/** Arguments of `rotate`, checked. */
import { isOwnNetwork, type OwnNetwork, type Values } from './options.ts';

/** `key` is a file, or the name of one of the devnet's keys. */
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

export function parseRotate(
  [step, ...files]: readonly string[],
  values: Values,
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
    executor: executor === undefined ? null : String(executor),
    feeAddress: feeAddress === undefined ? null : String(feeAddress),
    isFunded: values['no-funding'] !== true,
    out: typeof out === 'string' ? out : './rotation.json',
  };
}
