/** Keys, addresses and signatures of a wallet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKeyAddress } from '../../../src/cardano/codec/address.ts';
import { readCbor } from '../../../src/cardano/codec/cbor.ts';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import { decodeTransaction, readKeyWitnesses } from '../../../src/cardano/codec/transaction.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import { isSignedBy } from '../../../src/cardano/transactions/witness.ts';
import { review } from '../../../src/client/trade/review.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import { STRANGER, WALLET } from './world.ts';

/** Someone spends one output and pays it to the wallet, fee 170,000. */
function bodyPaying(address: string): string {
  const key = parseKeyAddress(address, 'testnet');
  const bytes = `00${key?.payment.hash}${key?.stake?.hash}`;
  const input = `825820${'99'.repeat(32)}03`;
  const paid = `825839${bytes}1a000f4240`;
  return `84a3008182${input.slice(2)}0181${paid}021a00029810a0f5f6`;
}

test('a wallet has a base address, or an enterprise address without a stake key', () => {
  const base = parseKeyAddress(WALLET.address, 'testnet');
  assert.equal(base?.payment.hash, WALLET.keyHash);
  assert.notEqual(base?.stake, null);
  assert.equal(parseKeyAddress(STRANGER.address, 'testnet')?.stake, null);
  const real = new KeyWallet({ payment: '11'.repeat(32), stake: null }, 'mainnet');
  assert.match(real.address, /^addr1/);
});

const REF = { txHash: '99'.repeat(32), index: 3 };

test('the signature is over the hash of the body bytes as received', async () => {
  const cbor = bodyPaying(WALLET.address);
  const { id } = decodeTransaction(fromHex(cbor));
  const found = review(cbor, WALLET, { kind: 'reclaim', ref: REF });
  assert.deepEqual([found.txHash, found.payments, found.change], [id, [], coins(1_000_000n)]);
  const signed = await WALLET.sign(cbor);
  const bytes = fromHex(signed);
  const list = readCbor(bytes).items[1];
  assert(list !== undefined);
  const [witness] = readKeyWitnesses(bytes, list);
  assert(witness !== undefined);
  assert(isSignedBy(witness.publicKey, fromHex(id), witness.signature));
  assert.equal(signed, toHex(bytes));
});

test('what cannot be read, or does something else, is refused before it is signed', () => {
  const refused = (cbor: string, index: number, cause: string) => {
    const intent = { kind: 'reclaim', ref: { ...REF, index } } as const;
    assert.throws(() => review(cbor, WALLET, intent), { name: 'ApiError', cause });
  };
  for (const cbor of ['', '84', 'zz', 'a0', bodyPaying(WALLET.address).slice(0, -2)]) {
    refused(cbor, 3, 'BAD_TRANSACTION');
  }
  refused(bodyPaying(WALLET.address), 4, 'NOT_WHAT_WAS_ASKED');
});
