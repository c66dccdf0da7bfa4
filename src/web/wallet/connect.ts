/** Connecting: a key of this browser, or an extension that the user agreed to. */

import { addressText, parseKeyAddress, readAddress } from '../../cardano/codec/address.ts';
import { MalformedCbor, readCbor } from '../../cardano/codec/cbor.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import { readValue } from '../../cardano/codec/output.ts';
import { Key } from '../../client/index.ts';
import type { Network } from '../context.ts';
import type { Extension, ExtensionApi } from './cip30.ts';
import { type ConnectedWallet, type Holdings, WalletError } from './connected.ts';

const MAINNET = 1;

export function testWallet(secret: string): ConnectedWallet {
  const key = new Key(secret);
  return {
    kind: 'test',
    name: 'Test wallet',
    icon: null,
    address: key.address('testnet'),
    keyHash: key.hash,
    utxos: async () => null,
    holdings: async () => null,
    sign: async (cbor) => key.witness(cbor),
  };
}

/** Rejects with `WalletError`: declined, on another network, or an address that we cannot use. */
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
    throw new WalletError(`${name} has an address without a key of its own: it cannot trade here.`);
  }
  return {
    kind: 'extension',
    name,
    icon,
    address,
    keyHash: usable.payment.hash,
    utxos: () => api.utxos(),
    holdings: async () => holdingsOf(await api.balance()),
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

function wrongNetwork(name: string, { name: here, addresses }: Network): WalletError {
  const [other, wanted] =
    addresses === 'mainnet' ? ['a test network', 'mainnet'] : ['mainnet', 'a test network'];
  return new WalletError(
    `${name} is on ${other}, this server is on ${here}. Switch the wallet to ${wanted}, then ` +
      'connect it again.',
  );
}

function holdingsOf(hex: string): Holdings {
  try {
    const bytes = fromHex(hex);
    const { lovelace, assets } = readValue(bytes, readCbor(bytes));
    return { lovelace, tokens: assets };
  } catch (error) {
    if (error instanceof MalformedCbor) {
      throw new WalletError('The wallet gave no readable balance.');
    }
    throw error;
  }
}
