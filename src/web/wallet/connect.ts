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
import { t } from '../messages.ts';
import type { Extension, ExtensionApi } from './cip30.ts';
import { type ConnectedWallet, walletError } from './connectedWallet.ts';

const MAINNET = 1;

export function testWallet(secret: string): ConnectedWallet {
  const wallet = new KeyWallet({ payment: secret, stake: null }, 'testnet');
  const look = { kind: 'test', name: t.wallet.test, icon: null } as const;
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
    throw walletError(t.extension.noOwnKey({ name }));
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
  const { onTestnet, onMainnet } = t.extension;
  return walletError((addresses === 'mainnet' ? onTestnet : onMainnet)({ name, here }));
}

function readBalance(hex: string): Value {
  try {
    const bytes = fromHex(hex);
    return readValue(bytes, readCbor(bytes));
  } catch (error) {
    if (isFault(error, 'malformedCbor')) {
      throw walletError(t.extension.unreadable.balance);
    }
    throw error;
  }
}
