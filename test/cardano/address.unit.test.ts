/** Addresses, against the vectors of CIP-19. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bech32 } from '@scure/base';
import {
  addressBytes,
  addressText,
  formatAddress,
  keyAddressProblem,
  parseAddress,
  parseKeyAddress,
  readAddress,
  scriptAddress,
} from '../../src/cardano/codec/address.ts';
import { blake2b224 } from '../../src/cardano/codec/hash.ts';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { dataText } from '../support/testData.ts';

interface Vectors {
  readonly addr_vk: string;
  readonly mainnet: Readonly<Record<string, string>>;
  readonly testnet: Readonly<Record<string, string>>;
  readonly derived: {
    readonly paymentKeyHash: string;
    readonly stakeKeyHash: string;
    readonly scriptHash: string;
  };
}

function cip19(): Vectors {
  // trust: the vectors of CIP-19, by their names there
  return JSON.parse(dataText('vectors/cip19.json')) as Vectors;
}

/** Key of the vectors: `derived` in the file says the same. */
const KEY = {
  kind: 'key',
  hash: '9493315cd92eb5d8c4304e67b7e16ae36d61d34502694657811a2c8e',
} as const;
const STAKE = {
  kind: 'key',
  hash: '337b62cfff6403a06a3acbc34f8c46003c69fe79a3628cefa9c47251',
} as const;
const SCRIPT = {
  kind: 'script',
  hash: 'c37b1b5dc0669f1d3c61a6fddb2e8fde96be87b881c60bce8e8d542f',
} as const;
const POINTERS = ['4', '5'];
const REWARDS = ['14', '15'];

/** Longer than bech32 of Bitcoin allows. */
function bytesOf(text: string): Uint8Array {
  const at = text.lastIndexOf('1');
  return bech32.fromWords(bech32.decode(`${text.slice(0, at)}1${text.slice(at + 1)}`, 1000).words);
}

/** Type → payment and stake part. */
const PARTS = {
  0: [KEY, STAKE],
  1: [SCRIPT, STAKE],
  2: [KEY, SCRIPT],
  3: [SCRIPT, SCRIPT],
  4: [KEY, null],
  5: [SCRIPT, null],
  6: [KEY, null],
  7: [SCRIPT, null],
} as const;

for (const network of ['mainnet', 'testnet'] as const) {
  test(`reads and writes the addresses of CIP-19, ${network}`, () => {
    for (const [type, [payment, stake]] of Object.entries(PARTS)) {
      const text = cip19()[network][type] ?? '';
      const pointer = POINTERS.includes(type);
      const expected = { network, payment, stake, pointer };
      assert.deepEqual(parseAddress(text), expected, `type ${type}`);
      const bytes = bytesOf(text);
      assert.deepEqual(readAddress(bytes), expected);
      assert.equal(addressText(bytes), text);
      if (pointer) continue;
      assert.equal(formatAddress(expected), text);
      assert.equal(toHex(addressBytes(expected)), toHex(bytes));
    }
  });

  test(`takes base and enterprise addresses of keys from users, ${network}`, () => {
    const other = network === 'mainnet' ? 'testnet' : 'mainnet';
    for (const [type, text] of Object.entries(cip19()[network])) {
      const isOurs = ['0', '6'].includes(type);
      assert.equal(parseKeyAddress(text, network) !== null, isOurs, `type ${type}`);
      assert.equal(parseKeyAddress(text, other), null);
    }
  });

  test(`refuses reward addresses, ${network}`, () => {
    for (const type of REWARDS) {
      const text = cip19()[network][type] ?? '';
      assert.equal(parseAddress(text), null);
      assert.equal(readAddress(bytesOf(text)), null);
    }
  });
}

test('writes addresses of scripts', () => {
  assert.equal(scriptAddress('testnet', SCRIPT.hash, null), cip19().testnet['7']);
  assert.equal(scriptAddress('mainnet', SCRIPT.hash, STAKE), cip19().mainnet['1']);
});

test('hashes a key as CIP-19 does', () => {
  const { derived } = cip19();
  assert.equal(blake2b224(bytesOf(cip19().addr_vk)), derived.paymentKeyHash);
  const hashes = [derived.paymentKeyHash, derived.stakeKeyHash, derived.scriptHash];
  assert.deepEqual(
    [KEY, STAKE, SCRIPT].map(({ hash }) => hash),
    hashes,
  );
});

test('refuses what is no address: a letter changed, cut, other prefix, Byron, nonsense', () => {
  const good = formatAddress({ network: 'testnet', payment: KEY, stake: STAKE, pointer: false });
  for (let at = 0; at < good.length; at += 1) {
    const letter = good[at] === 'q' ? 'p' : 'q';
    assert.equal(parseAddress(good.slice(0, at) + letter + good.slice(at + 1)), null, `${at}`);
    assert.equal(parseAddress(good.slice(0, at)), null);
  }
  const bytes = bytesOf(good);
  const wrong = bech32.encode('addr', bech32.toWords(bytes), 1000);
  const byron = 'Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi';
  for (const text of ['', 'addr1', 'addr_test1', wrong, byron, `${good} `, good.toUpperCase()]) {
    assert.equal(parseAddress(text), null, text);
  }
  assert.equal(parseAddress(`addr1${'q'.repeat(5000)}`), null);
});

test('the reason for which an address is refused is said, and what to send', () => {
  const address = { network: 'testnet', payment: KEY, stake: null, pointer: false } as const;
  const said = (text: string) => keyAddressProblem(text, 'testnet').split(':')[0];
  assert.equal(said(toHex(addressBytes(address))), 'This is an address in hex, as CIP-30 gives it');
  assert.equal(
    said(formatAddress({ ...address, network: 'mainnet' })),
    'This is an address of mainnet',
  );
  assert.equal(
    said(scriptAddress('testnet', SCRIPT.hash, null)),
    'This is the address of a script',
  );
  assert.equal(
    said('Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi'),
    'This is a Byron address',
  );
  assert.equal(said('abcd'), 'This is no address');
  for (const text of ['', 'abcd'])
    assert.match(keyAddressProblem(text, 'testnet'), /testnet in bech32/);
});

test('any bytes have a text, and no bytes make it throw', () => {
  for (const length of [0, 1, 28, 29, 30, 57, 64, 65, 900, 5000]) {
    for (let head = 0; head < 256; head += 1) {
      const bytes = new Uint8Array(length).fill(7);
      if (length > 0) bytes[0] = head;
      assert.equal(typeof addressText(bytes), 'string');
      readAddress(bytes);
    }
  }
});
