/** Amounts of ADA, outputs as CIP-30 has them, pictures, and what became of an order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkImage } from '../../../src/api/images/header.ts';
import { elementsOf, readCbor, span } from '../../../src/cardano/codec/cbor.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { decodeOutput, readRef } from '../../../src/cardano/codec/output.ts';
import { asValue, coins, equalValues, type Value } from '../../../src/cardano/codec/value.ts';
import { formatAda, parseAda } from '../../../src/client/trade/ada.ts';
import { pictureOf } from '../../../src/client/trade/picture.ts';
import { settlementOf } from '../../../src/client/trade/settlement.ts';
import type { PlacedOrder } from '../../../src/client/trade/tradingClient.ts';
import { utxoCbor, type WalletUtxo, walletUtxo } from '../../../src/client/trade/utxo.ts';
import { TOKEN, WALLET } from './world.ts';

test('ADA written and read again is the same to the lovelace', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 45_000_000_000_000_000n), (lovelace) => {
      assert.equal(parseAda(formatAda(lovelace).replace(' ADA', '')), lovelace);
    }),
  );
});

test('what is no amount of ADA is refused, seven decimals included', () => {
  assert.equal(parseAda('12.5'), 12_500_000n);
  assert.equal(parseAda('0.000001'), 1n);
  for (const text of ['', '1e3', '-1', '1.', '.5', '1.0000000', '0x10', ' 1', '1,5', 'NaN']) {
    assert.equal(parseAda(text), null, text);
  }
});

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((content) => Buffer.from(content).toString('hex'));
const asset = fc
  .tuple(hex(28), fc.integer({ min: 0, max: 32 }).chain(hex))
  .map(([policy, name]) => `${policy}.${name}`);
const amount = fc.bigInt(1n, (1n << 63n) - 1n);

test('an output as CIP-30 has it reads back as it was listed', () => {
  const assets = fc.array(fc.tuple(asset, amount), { maxLength: 6 });
  fc.assert(
    fc.property(hex(32), fc.nat(65_535), amount, assets, (txHash, index, lovelace, held) => {
      const listed = [...asValue(0n, held).assets];
      const value = [
        { unit: 'lovelace', amount: String(lovelace) },
        ...listed.map(([unit, held]) => ({ unit, amount: String(held) })),
      ];
      const utxo = walletUtxo({ txHash, index, address: WALLET.address, value });
      const bytes = fromHex(utxoCbor(utxo));
      const [input, output] = elementsOf(readCbor(bytes));
      assert(input !== undefined && output !== undefined);
      assert.deepEqual(readRef(bytes, input), { txHash, index });
      const read = decodeOutput(span(bytes, output));
      assert.equal(read.address, WALLET.address);
      assert(equalValues(read.value, asValue(lovelace, listed)));
    }),
  );
});

test('every picture is a PNG that a launch takes, and tokens differ', () => {
  const pictures = ['Lucky Otter', 'Lucky Panda', 'ü'].map(pictureOf);
  for (const picture of pictures) {
    const header = checkImage(picture, 'image/png');
    assert('width' in header && header.width === header.height && picture.length < 4_000);
  }
  assert.equal(new Set(pictures.map((picture) => Buffer.from(picture).toString('hex'))).size, 3);
  assert.deepEqual(pictureOf('same'), pictureOf('same'));
});

const PLACED: PlacedOrder = {
  txHash: 'aa'.repeat(32),
  feeLovelace: 180_000n,
  id: `${'aa'.repeat(32)}:0`,
  beacon: '',
  venue: 'CURVE',
  input: '.',
  output: TOKEN,
  inputAmount: 5_000_000n,
  outputAmount: 663_317n,
  minimumOutput: 563_820n,
  orderLovelace: 7_600_000n,
};
const SOLD = {
  ...PLACED,
  input: TOKEN,
  output: '.',
  inputAmount: 1000n,
  minimumOutput: 6_245_402n,
};

function received(value: Value, txHash = 'bb'.repeat(32)): WalletUtxo {
  return { ref: { txHash, index: 0 }, address: WALLET.address, value };
}

test('a fill, a refund and one’s own change are distinguished', () => {
  const fill = received(asValue(1_500_000n, [[TOKEN, 663_317n]]));
  const refund = received(coins(7_000_000n));
  const outcome = (order: PlacedOrder, now: WalletUtxo[], before: WalletUtxo[] = []) =>
    settlementOf(order, before, now)?.outcome ?? null;
  assert.equal(outcome(PLACED, [fill]), 'filled');
  assert.equal(outcome(PLACED, [refund]), 'refunded');
  assert.equal(outcome(PLACED, [fill], [fill]), null);
  assert.equal(outcome(PLACED, [received(coins(90_000_000n), PLACED.txHash)]), null);
  assert.equal(outcome(PLACED, [received(asValue(1_500_000n, [[TOKEN, 563_819n]]))]), null);
  assert.equal(outcome(SOLD, [received(coins(8_847_531n))]), 'filled');
  assert.equal(outcome(SOLD, [received(asValue(2_000_000n, [[TOKEN, 1000n]]))]), 'refunded');
  assert.equal(outcome(SOLD, [received(coins(2_000_000n))]), null);
});
