/** Holders of a token over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { Holders } from '../../../src/api/holders/schema.ts';
import { addressOf, ownerOf } from '../../chain/foldState.ts';
import { walletTruth } from '../../chain/walletTruth.ts';
import { recordOf } from '../../support/subscription.ts';
import { buyOf, crowd, EXECUTE, give, launchBy, sellOf, WalletDoor } from './wallets.ts';

const PATH = '/balances/v1/pool/holders';
const shape = Compile(Holders);

/** What the blocks say; the author is user 0. */
function expected({ blocks, token }: WalletDoor, offset = 0, limit = 100): object {
  const { holders, balances } = walletTruth(blocks);
  const rows = holders.get(token) ?? [];
  const dev = String(balances.get(`${ownerOf(0)}/${token}`) ?? 0n);
  return {
    holders: rows.slice(offset, offset + limit),
    dev: { address: addressOf(0), quantity: dev },
    count: rows.length,
  };
}

test('holders come by balance, ties by address, with the author and the count', async (t) => {
  const door = await WalletDoor.open(t);
  await door.block(launchBy(0, 30));
  const check = async () => {
    const found = await door.get(PATH, { assetId: door.token });
    assert.deepEqual(found, expected(door));
    assert.deepEqual([...shape.Errors(found)], []);
    return recordOf(found);
  };
  await check();
  await door.block(buyOf(1, 40), buyOf(2, 10), give(0, 3));
  await check();
  await door.block(EXECUTE);
  const held = await check();
  await door.block(sellOf(1, 50), sellOf(2, 100));
  const sold = await check();
  assert.notDeepEqual(sold, held, 'what is in an open order counts for nobody');
  await door.block({ do: 'lock', user: 0, pool: 0, to: 0 });
  await check();
  await door.block(
    EXECUTE,
    { do: 'withdraw', index: 0 },
    ...[0, 1, 2, 3].map((user) => give(user, 2)),
  );
  await check();
  for (const back of [1, 2]) {
    await door.back(back);
    await check();
  }
  assert.deepEqual(await check(), held, 'as before the orders');
  await door.back(2);
  await check();
});

test('a launch nobody bought of has no holders, and its author has "0"', async (t) => {
  const door = await WalletDoor.open(t);
  await door.block(launchBy(2, 0));
  assert.deepEqual(await door.get(PATH, { assetId: door.token }), {
    holders: [],
    dev: { address: addressOf(2), quantity: '0' },
    count: 0,
  });
});

test('the author has what all addresses with his key have', async (t) => {
  const door = await WalletDoor.open(t);
  await door.block(launchBy(0, 30));
  const addresses = () => {
    const rows = walletTruth(door.blocks).holders.get(door.token) ?? [];
    return rows.map(({ address }) => address).filter((each) => each.startsWith(addressOf(0)));
  };
  for (let tries = 0; addresses().length < 2 && tries < 100; tries += 1) {
    await door.block(give(0, 0));
  }
  assert.equal(addresses().length, 2);
  const found = recordOf(await door.get(PATH, { assetId: door.token }));
  assert.deepEqual(found, expected(door));
  const largest = recordOf(Object(found.holders)[0]).quantity;
  assert(BigInt(String(recordOf(found.dev).quantity)) > BigInt(String(largest)));
});

test('any page is that part of the list, staged or stored', async (t) => {
  const door = await WalletDoor.open(t);
  await door.block(launchBy(0, 50));
  const anyAmounts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 40, maxLength: 80 });
  const [first = [], second = [], third = []] = fc.sample(anyAmounts, { numRuns: 3, seed: 5 });
  const check = async () => {
    const anyPage = [fc.nat(90), fc.integer({ min: 1, max: 101 })] as const;
    const property = fc.asyncProperty(...anyPage, async (offset, limit) => {
      const found = await door.get(PATH, { assetId: door.token, offset, limit });
      assert.deepEqual(found, expected(door, offset, limit));
    });
    await fc.assert(property, { numRuns: 30, includeErrorInReport: true });
  };
  await crowd(door, first);
  await check();
  await door.door.world.fold.store.commit();
  await check();
  // What is stored is seen through what waits.
  await crowd(door, second);
  await check();
  await crowd(door, third);
  await check();
  await door.back(2);
  await check();
});

test('more holders than a page: 100 unless asked, 101 at most', async (t) => {
  const door = await WalletDoor.open(t);
  await door.block(launchBy(0, 50));
  await crowd(
    door,
    Array.from({ length: 250 }, (_, index) => 1 + (index % 90)),
  );
  const count = async (query: object) => {
    const found = recordOf(await door.get(PATH, { assetId: door.token, ...query }));
    assert.equal(found.count, 250);
    return Object(found.holders).length;
  };
  assert.deepEqual(
    [await count({}), await count({ limit: 101 }), await count({ limit: 101, offset: 202 })],
    [100, 101, 48],
  );
  assert.equal(await count({ offset: 999_999_999_999_999 }), 0);
  for (const query of [
    { limit: 102 },
    { limit: 0 },
    { offset: -1 },
    { offset: 1.5 },
    { limit: 'x' },
  ]) {
    const response = await door.door.get(PATH, { assetId: door.token, ...query });
    assert.equal(response.status, 400, JSON.stringify(query));
  }
});

test('hex of any case is one asset; unknown ones are 404, malformed ones 400', async (t) => {
  const door = await WalletDoor.open(t);
  await door.block(launchBy(0, 30));
  const assetId = door.token;
  assert.deepEqual(await door.get(PATH, { assetId: assetId.toUpperCase() }), expected(door));
  for (const [asset, status, cause] of [
    [`${'ab'.repeat(28)}.00`, 404, 'ASSET_NOT_FOUND'],
    ['.', 404, 'ASSET_NOT_FOUND'],
    ['ada', 400, 'INVALID_PARAMS'],
    ['', 400, 'INVALID_PARAMS'],
  ] as const) {
    const response = await door.door.get(PATH, { assetId: asset });
    assert.deepEqual([response.status, recordOf(await response.json()).cause], [status, cause]);
  }
});

test('a page says its position and has an ETag', async (t) => {
  const door = await WalletDoor.open(t);
  await door.block(launchBy(0, 30));
  const first = await door.door.get(PATH, { assetId: door.token });
  const { epoch, seq } = door.door.world.node.applied();
  assert.equal(first.headers.get('x-position'), `${epoch}:${seq}`);
  const headers = { 'If-None-Match': first.headers.get('etag') ?? '' };
  const again = await fetch(`${door.door.url}${PATH}?assetId=${door.token}`, { headers });
  assert.equal(again.status, 304);
});
