/** Connecting: a key of this browser, or an extension that the user agreed to. */
import { addressText, parseKeyAddress, readAddress } from '../../cardano/codec/address.ts';
import { readCbor } from '../../cardano/codec/cbor.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import { readValue } from '../../cardano/codec/output.ts';
import type { Value } from '../../cardano/codec/value.ts';
import type { ApiError } from '../../client/index.ts';
import { KeyWallet } from '../../client/trade/wallet.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import type { Network } from '../context.ts';
import type { Extension, ExtensionApi } from './cip30.ts';
import { type ConnectedWallet, walletError } from './connectedWallet.ts';

const MAINNET = 1;

export function testWallet(secret: string): ConnectedWallet {
  const wallet = new KeyWallet({ payment: secret, stake: null }, 'testnet');
  const look = { kind: 'test', name: 'Test wallet', icon: null } as const;
  return Object.assign(wallet, look, { balance: async () => null });
}

/** Rejects with `ApiError`: declined, on another network, or an address that we cannot use. */
export async function connectExtension(
  { name, icon, enable }: Extension,
  network: Network,
): Promise<ConnectedWallet> {
  const api = await enable();
  await checkNetwork(api, name, network);
  const bytes = fromHex(await api.changeAddress());
  const address = addressText(bytes);
  const parsed = readAddress(bytes);
  if (parsed !== null && parsed.network !== network.addresses) throw wrongNetwork(name, network);
  const usable = parseKeyAddress(address, network.addresses);
  if (usable === null) {
    throw walletError(`${name} has an address without a key of its own: it cannot trade here.`);
  }
  return {
    kind: 'extension',
    name,
    icon,
    address,
    keyHash: usable.payment.hash,
    utxos: () => api.utxos(),
    balance: async () => readBalance(await api.balance()),
    async sign(cbor) {
      // People switch the network or the account of their wallet while the page is open.
      await checkNetwork(api, name, network);
      return api.signTx(cbor);
    },
  };
}

async function checkNetwork(api: ExtensionApi, name: string, network: Network): Promise<void> {
  const isMainnet = (await api.networkId()) === MAINNET;
  if (isMainnet !== (network.addresses === 'mainnet')) throw wrongNetwork(name, network);
}

function wrongNetwork(name: string, { name: here, addresses }: Network): ApiError {
  const [other, wanted] =
    addresses === 'mainnet' ? ['a test network', 'mainnet'] : ['mainnet', 'a test network'];
  return walletError(
    `${name} is on ${other}, this server is on ${here}. Switch the wallet to ${wanted}, then ` +
      'connect it again.',
  );
}

function readBalance(hex: string): Value {
  try {
    const bytes = fromHex(hex);
    return readValue(bytes, readCbor(bytes));
  } catch (error) {
    if (isFault(error, 'malformedCbor')) {
      throw walletError('The wallet gave no readable balance.');
    }
    throw error;
  }
}
