/** Integers above 2^53: amounts, slots and ids keep every digit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bech32 } from '@scure/base';
import { array, byteString, map, tagged, uint } from '../../src/cardano/codec/encode.ts';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { genesisUtxos } from '../../src/devnet/chainFile.ts';
import { devnetOptions, startDevnet } from '../support/devnetNode.ts';
import { addressOf } from '../support/ledgerWorld.ts';
import { type RawPlan, rawTransaction } from '../support/rawTransaction.ts';
import { ADA, FEE, minting, plain } from './judged.ts';
import { asked, memberOf } from './ogmiosAsked.ts';

const BIG = 2n ** 53n + 1n;

function place() {
  const options = devnetOptions();
  const rich = { address: addressOf('alice'), value: coins(BIG) };
  const genesis = [rich, ...options.genesis];
  const mine = genesisUtxos({ ...options, genesis }).filter(
    ({ output }) => output.address === addressOf('alice'),
  );
  const held = mine.find(({ output }) => output.value.lovelace === BIG) ?? assert.fail();
  const refs = mine.filter((utxo) => utxo !== held).map(({ ref }) => ref);
  return { options: { ...options, genesis }, rich: held.ref, refs };
}

test('an amount above 2^53 that a client sends is not taken for the next one', async (scope) => {
  const { options, rich, refs } = place();
  const { ogmiosUrl } = await startDevnet(scope, options);
  const client = await asked(scope, ogmiosUrl);
  const cbor = toHex(rawTransaction(minting({ mine: refs })).bytes);
  /** As text: a client in another language writes any integer. */
  const evaluated = (lovelace: bigint, id: string) => {
    const ref = `"transaction":{"id":"${rich.txHash}"},"index":${rich.index}`;
    const value = `"value":{"ada":{"lovelace":${lovelace}}}`;
    const additional = `[{${ref},"address":"${addressOf('alice')}",${value}}]`;
    const params = `{"transaction":{"cbor":"${cbor}"},"additionalUtxo":${additional}}`;
    return client.say(
      `{"jsonrpc":"2.0","method":"evaluateTransaction","params":${params},"id":${id}}`,
    );
  };
  assert.equal((await evaluated(BIG, '1')).error, undefined);
  // A JSON number would round it to one less: another output, which overlaps with the ledger's.
  assert.equal((await evaluated(BIG - 1n, '2')).error?.code, 3002);
  for (const none of [-1n, 2n ** 64n]) {
    assert.equal((await evaluated(none, '3')).error?.code, -32602, String(none));
  }
});

test('an id above 2^53 comes back as it was sent', async (scope) => {
  const { options } = place();
  const { devnetUrl } = await startDevnet(scope, options);
  const body = `{"jsonrpc":"2.0","method":"queryNetwork/tip","id":[${BIG},-${BIG}]}`;
  const answer = await fetch(devnetUrl, { method: 'POST', body });
  assert.ok((await answer.text()).endsWith(`"id":[${BIG},-${BIG}]}`));
});

/** Alice's payment with a native script in its first output: valid from a slot on. */
function holdingScript(refs: ReturnType<typeof place>['refs'], slot: bigint): RawPlan {
  const address = bech32.fromWords(bech32.decode(addressOf('bob'), 200).words);
  const script = array([uint(0), array([uint(4), uint(slot)])]);
  const output = map([
    [uint(0), byteString(address)],
    [uint(1), uint(5n * ADA)],
    [uint(3), tagged(24, byteString(script))],
  ]);
  const back = map([
    [uint(0), byteString(bech32.fromWords(bech32.decode(addressOf('alice'), 200).words))],
    [uint(1), uint(995n * ADA - FEE)],
  ]);
  return { ...plain({ mine: refs }), fields: { 1: array([output, back]) } };
}

test('blocks with slots above 2^53 in scripts and bounds are shown exactly', async (scope) => {
  const { options, refs } = place();
  const devnet = await startDevnet(scope, options);
  const client = await asked(scope, devnet.ogmiosUrl);
  const submit = async (plan: RawPlan) => {
    const cbor = toHex(rawTransaction(plan).bytes);
    return client.ask('submitTransaction', { transaction: { cbor } });
  };
  assert.equal((await submit(holdingScript(refs, 2n ** 63n - 1n))).error, undefined);
  const bounded = { mine: refs.slice(1) };
  assert.equal((await submit(plain(bounded, { fields: { 3: uint(BIG) } }))).error, undefined);
  const early = await submit(plain({ mine: refs.slice(2) }, { fields: { 8: uint(BIG) } }));
  assert.equal(early.error?.code, 3118);
  await fetch(`${devnet.devnetUrl}/devnet/v1/mine`, { method: 'POST', body: '{"blocks":1}' });
  const texts: string[] = [];
  client.socket.on('message', (data) => texts.push(String(data)));
  await client.ask('nextBlock');
  const { result } = await client.ask('nextBlock');
  assert.equal(memberOf(result, 'block', 'transactions', 'length'), 2);
  const block = texts.at(-1) ?? '';
  assert.ok(block.includes(`{"clause":"after","slot":${2n ** 63n - 1n}}`));
  assert.ok(block.includes(`"validityInterval":{"invalidAfter":${BIG}}`));
});
