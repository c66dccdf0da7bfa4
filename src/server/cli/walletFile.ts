/**
 * A wallet's key file: secrets in plain hex, readable by the owner only, never overwritten. Its
 * reader controls the coins.
 */

import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { newSecret } from '../../client/index.ts';
import { KeyWallet, type WalletSecrets } from '../../client/trade/wallet.ts';
import { messageOf, systemCode } from '../../engine/runtime/errors.ts';

const VERSION = 1;
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
const Secret = Type.String({ pattern: '^[0-9a-f]{64}$' });

const WALLET_FILE = Type.Object({
  version: Type.Literal(VERSION),
  network: Type.Enum(['testnet', 'mainnet']),
  address: Type.String(),
  paymentSecret: Secret,
  stakeSecret: Type.Union([Secret, Type.Null()]),
});
const validator = Compile(WALLET_FILE);

/** A string is an error message of one sentence. */
export function createWallet(file: string): KeyWallet | string {
  const secrets: WalletSecrets = { payment: newSecret(), stake: newSecret() };
  const network = 'testnet';
  const wallet = new KeyWallet(secrets, network);
  const content = {
    version: VERSION,
    network,
    address: wallet.address,
    paymentSecret: secrets.payment,
    stakeSecret: secrets.stake,
  };
  try {
    const handle = openSync(file, 'wx', OWNER_ONLY);
    try {
      writeFileSync(handle, `${JSON.stringify(content, null, 2)}\n`);
      fsyncSync(handle);
    } catch (error) {
      // Half a key is useless, and would block the next try.
      rmSync(file, { force: true });
      throw error;
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return `${file} exists and is never written over.`;
    return `${file} cannot be written: ${messageOf(error)}.`;
  }
  return wallet;
}

interface OpenedWallet {
  readonly wallet: KeyWallet;
  /** A warning about the file for its owner; null: none. */
  readonly warning: string | null;
}

export function openWallet(file: string): OpenedWallet | string {
  let text: string;
  let mode: number;
  try {
    text = readFileSync(file, 'utf8');
    mode = statSync(file).mode;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') return `${file} cannot be read: ${messageOf(error)}.`;
    return `There is no wallet ${file}; make one with: npm start -- wallet new`;
  }
  const content = parse(text);
  if (content === null) return `${file} is no wallet of this program.`;
  const { network, paymentSecret, stakeSecret, address } = content;
  const wallet = new KeyWallet({ payment: paymentSecret, stake: stakeSecret }, network);
  if (wallet.address !== address) return `${file} is damaged: its keys have another address.`;
  const isOpen = (mode & OTHERS) !== 0;
  return { wallet, warning: isOpen ? `${file} can be read by others; chmod 600 it.` : null };
}

function parse(text: string): Static<typeof WALLET_FILE> | null {
  try {
    const content: unknown = JSON.parse(text);
    return validator.Check(content) ? content : null;
  } catch {
    // Not JSON, so not a wallet; the caller says so.
    return null;
  }
}
