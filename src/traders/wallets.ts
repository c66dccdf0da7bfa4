/**
 * The simulated traders' wallets, and their outputs in a devnet's genesis. Their keys derive from
 * the seed in their configuration and are no secret; they are worth nothing outside a devnet.
 *
 * Their thread loads this: apart from `config.ts`, whose schema library it does without.
 */
import { blake2b256 } from '../cardano/codec/hash.ts';
import { KeyWallet } from '../client/trade/wallet.ts';
import type { TraderConfig } from './config.ts';

export function traderWallets({ seed, wallets }: TraderConfig): readonly KeyWallet[] {
  return Array.from({ length: wallets }, (_, index) => walletOf(seed, `trader ${index}`));
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
  const lovelace = BigInt(config.adaEach) * LOVELACE_PER_ADA;
  return traderWallets(config).map(({ keyHash }) => {
    return { keyHash, lovelace, outputs: config.outputsEach };
  });
}
