/**
 * The simulated traders' wallets, and their outputs in a devnet's genesis. Their keys derive from
 * the seed in their configuration and are no secret; they are worth nothing outside a devnet.
 *
 * Their thread loads this: apart from `config.ts`, whose schema library it does without.
 */
import { blake2b256 } from '../../cardano/codec/hash.ts';
import { KeyWallet } from '../trade/wallet.ts';
import type { TraderConfig } from './config.ts';

interface TraderWallets {
  readonly traders: readonly KeyWallet[];
  readonly pusher: KeyWallet;
}

export function traderWallets({ seed, wallets }: TraderConfig): TraderWallets {
  const names = Array.from({ length: wallets }, (_, index) => `trader ${index}`);
  return {
    traders: names.map((name) => walletOf(seed, name)),
    pusher: walletOf(seed, 'pusher'),
  };
}

function walletOf(seed: string, name: string): KeyWallet {
  const secret = (part: string) => blake2b256(Buffer.from(`${seed}/${name}/${part}`, 'utf8'));
  return new KeyWallet({ payment: secret('payment'), stake: secret('stake') }, 'testnet');
}

/** The genesis outputs of one wallet. */
interface TraderFund {
  readonly keyHash: string;
  /** The whole amount, to be split evenly over `outputs`. */
  readonly lovelace: bigint;
  readonly outputs: number;
}

const LOVELACE_PER_ADA = 1_000_000n;

export function traderFunds(config: TraderConfig): readonly TraderFund[] {
  const { traders, pusher } = traderWallets(config);
  const fund = ({ keyHash }: KeyWallet, ada: number, outputs: number): TraderFund => ({
    keyHash,
    lovelace: BigInt(ada) * LOVELACE_PER_ADA,
    outputs,
  });
  return [
    ...traders.map((wallet) => fund(wallet, config.adaEach, config.outputsEach)),
    fund(pusher, config.pusher.ada, config.pusher.outputs),
  ];
}
