/** The end of a built transaction, and the least output that an order takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { datumOf } from '../../../src/cardano/codec/output.ts';
import { slotStartMs } from '../../../src/cardano/codec/slots.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { readOrderData } from '../../../src/cardano/datums/datums.ts';
import type { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { ADA, DevnetWorld } from '../../e2e/devnet/world.ts';
import { recordOf } from '../../support/subscription.ts';
import { assertRefused } from './table.ts';

const BAD_PARAMS = { status: 400, cause: 'INVALID_PARAMS' } as const;

interface Scene {
  readonly world: DevnetWorld;
  readonly alice: TradingClient;
  readonly token: string;
}

/**
 * The bytes end where the answer says they do, and the order's minimum is the amount that was
 * requested.
 */
async function assertBounds({ world, alice, token }: Scene): Promise<void> {
  const { slots } = world.kit.txContext;
  const { address } = alice.wallet;
  const terms = { assetId: token, amount: '5000000', side: 'BUY', slippage: '15' };
  const order = { ...terms, changeAddress: address };
  const lovelace = { lovelace: '2000000' };
  const transfer = { changeAddress: address, distAddress: address, transferAssets: lovelace };
  const lockEnd = world.nowMs + 3_600_000;
  const lock = { address, assetId: token, amount: '5', lockEnd, stagesCount: 1 };
  const built: [path: string, body: object, seconds: number | null][] = [
    ['/order', order, 18 * 60],
    ['/order', { ...order, ttl: 0 }, 18 * 60],
    ['/order', { ...order, ttl: 60 }, 60],
    ['/order', { ...order, waitFor: 86_400 }, 7_200],
    ['/order', { ...order, waitFor: 600 }, 8 * 60],
    ['/transfer', transfer, 7_200],
    ['/transfer', { ...transfer, ttl: 86_400 }, 86_400],
    ['/transfer', { ...transfer, ttl: 0 }, null],
    ['/create-lock', lock, 7_200],
    ['/create-lock', { ...lock, ttl: 90 }, 90],
  ];
  for (const [path, body, seconds] of built) {
    const answer = await world.post(path, body);
    assert.equal(answer.status, 200, answer.message);
    const { cbor, validUntil } = recordOf(answer.body);
    const { validToSlot } = decodeTransaction(fromHex(String(cbor)));
    const end = validToSlot === null ? null : slotStartMs(slots, validToSlot);
    assert.equal(validUntil, end, path);
    assert.equal(end, seconds === null ? null : world.nowMs + seconds * 1000, path);
  }
  const { outputAmount } = recordOf((await world.post('/order', order)).body);
  for (const minOutput of ['1', '123456', String(outputAmount)]) {
    const answer = recordOf((await world.post('/order', { ...order, minOutput })).body);
    assert.equal(answer.minimumOutput, minOutput);
    const [output] = decodeTransaction(fromHex(String(answer.cbor))).outputs;
    const datum = readOrderData(datumOf(output ?? assert.fail()), 'testnet');
    const { numerator = 0n, denominator = 0n } = datum?.worstPrice ?? {};
    const stated = { numerator: String(numerator), denominator: String(denominator) };
    assert.deepEqual(answer.worstPrice, stated);
    assert.equal(numerator * 5_000_000n, BigInt(minOutput) * denominator);
    const quote = await world.get(`/quote?${new URLSearchParams({ ...terms, minOutput })}`);
    assert.deepEqual(recordOf(quote.body).worstPrice, stated);
  }
}

/** With `waitFor` an order may ask for more than it gets now, and says until when it waits. */
async function assertWaits({ world, alice, token }: Scene): Promise<void> {
  const terms = { assetId: token, amount: '5000000', side: 'BUY', slippage: '15' };
  const order = { ...terms, changeAddress: alice.wallet.address };
  const { outputAmount } = recordOf((await world.post('/order', order)).body);
  const minOutput = String(BigInt(String(outputAmount)) * 3n);
  const refused = await world.post('/order', { ...order, minOutput });
  const moved = new RegExp(`^409 PRICE_MOVED .* ${outputAmount} now`);
  assert.match(`${refused.status} ${refused.cause} ${refused.message}`, moved);
  const tokens = { ...order, side: 'BUY_WITH_OUTPUT', amount: '1000000' };
  const exact = recordOf((await world.post('/order', { ...tokens, minOutput: '1000000' })).body);
  assert.equal(exact.minimumOutput, '1000000');
  const beyond = { what: 'more tokens than asked', ...BAD_PARAMS, says: /as `amount`/ };
  await assertRefused(world, [
    { ...beyond, path: '/order', body: { ...tokens, minOutput: '1001000' } },
  ]);
  const waits = { ...order, minOutput, waitFor: 604_800 };
  const answer = recordOf((await world.post('/order', waits)).body);
  const expiresAt = world.nowMs + 604_800_000;
  const bounds = { minimumOutput: minOutput, outputAmount, expiresAt };
  assert.deepEqual({ ...answer, ...bounds }, answer);
  const [output] = decodeTransaction(fromHex(String(answer.cbor))).outputs;
  const datum = readOrderData(datumOf(output ?? assert.fail()), 'testnet') ?? assert.fail();
  assert.equal(datum.refundAfterMs, BigInt(expiresAt));
  const { numerator, denominator } = datum.worstPrice;
  assert.equal(numerator * 5_000_000n, BigInt(minOutput) * denominator);
  const query = `${new URLSearchParams({ ...terms, minOutput })}&waitFor=604800`;
  const quote = recordOf((await world.get(`/quote?${query}`)).body);
  assert.deepEqual({ ...quote, ...bounds }, quote);
  await assertNeverFilled(world, waits);
}

/** A pool keeps one token, and no more than 45 billion ADA exist. */
async function assertNeverFilled(world: DevnetWorld, waits: object): Promise<void> {
  const longest = '9'.repeat(30);
  const sell = { side: 'SELL', amount: '1000000' };
  const nothing = /never be filled/;
  const never = [
    ...['1000000000', '1000000001', longest].map((minOutput) => ({ minOutput })),
    { side: 'BUY_WITH_OUTPUT', amount: '1000', minOutput: '1000000000' },
    ...['45000000000000001', longest].map((minOutput) => ({ ...sell, minOutput })),
  ].map((change) => ({ ...waits, ...change }));
  const { waitFor, ...now } = { ...waits, waitFor: 0, minOutput: longest };
  assert.equal(waitFor, 0);
  for (const body of [...never, now]) {
    const row = { what: JSON.stringify(body), ...BAD_PARAMS, says: nothing };
    const { changeAddress, utxos, ...terms } = { utxos: '', changeAddress: '', ...body };
    const fields = Object.entries(terms).map(([key, of]): [string, string] => [key, String(of)]);
    const query = new URLSearchParams(fields);
    await assertRefused(world, [
      { ...row, path: '/order', body },
      { ...row, path: `/quote?${query}` },
    ]);
    const [many] = [(await world.post('/quotes', [terms])).body].flat();
    assert.match(String(recordOf(recordOf(many).error).message), nothing);
  }
  for (const change of [{ minOutput: '999999999' }, { ...sell, minOutput: '45000000000000000' }]) {
    const answer = await world.post('/order', { ...waits, ...change });
    assert.equal(answer.status, 200, answer.message);
  }
}

test('orders and transactions are bounded as the contract says', async (t) => {
  const world = await DevnetWorld.start(t);
  const alice = await world.funded('alice', 1000, 3);
  const { asset: token } = await world.launch(alice, { initialLovelace: 50n * ADA });
  const scene = { world, alice, token };

  await t.test('an end and a least output', () => assertBounds(scene));
  await t.test('an order that waits for its price', () => assertWaits(scene));
});
