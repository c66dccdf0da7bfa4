/** Holders of a token over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { Holders } from '../../../src/api/holders/schema.ts';
import { addressOf, ownerOf } from '../../chain/foldState.ts';
import { walletTruth } from '../../chain/walletTruth.ts';
import { recordOf } from '../../support/subscription.ts';
import { buyOf, crowd, EXECUTE, give, launchBy, sellOf, WalletApi } from './wallets.ts';

const PATH = '/balances/v1/pool/holders';
const shape = Compile(Holders);

/** The right answer by the blocks; the author is user 0. */
function expected({ blocks, token }: WalletApi, offset = 0, limit = 100): object {
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
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  const check = async () => {
    const found = await api.get(PATH, { assetId: api.token });
    assert.deepEqual(found, expected(api));
    assert.deepEqual([...shape.Errors(found)], []);
    return recordOf(found);
  };
  await check();
  await api.block(buyOf(1, 40), buyOf(2, 10), give(0, 3));
  await check();
  await api.block(EXECUTE);
  const held = await check();
  await api.block(sellOf(1, 50), sellOf(2, 100));
  const sold = await check();
  assert.notDeepEqual(sold, held, 'tokens in an open order have no holder');
  await api.block({ do: 'lock', user: 0, pool: 0, to: 0 });
  await check();
  await api.block(
    EXECUTE,
    { do: 'withdraw', index: 0 },
    ...[0, 1, 2, 3].map((user) => give(user, 2)),
  );
  await check();
  for (const back of [1, 2]) {
    await api.back(back);
    await check();
  }
  assert.deepEqual(await check(), held, 'as before the orders');
  await api.back(2);
  await check();
});

test('a launch without buyers has no holders, and its author has "0"', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(2, 0));
  assert.deepEqual(await api.get(PATH, { assetId: api.token }), {
    holders: [],
    dev: { address: addressOf(2), quantity: '0' },
    count: 0,
  });
});

test('the author has what all addresses with his key have', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  const addresses = () => {
    const rows = walletTruth(api.blocks).holders.get(api.token) ?? [];
    return rows.map(({ address }) => address).filter((each) => each.startsWith(addressOf(0)));
  };
  for (let tries = 0; addresses().length < 2 && tries < 100; tries += 1) {
    await api.block(give(0, 0));
  }
  assert.equal(addresses().length, 2);
  const found = recordOf(await api.get(PATH, { assetId: api.token }));
  assert.deepEqual(found, expected(api));
  const largest = recordOf(Object(found.holders)[0]).quantity;
  assert(BigInt(String(recordOf(found.dev).quantity)) > BigInt(String(largest)));
});

test('any page is that part of the list, staged or stored', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 50));
  const anyAmounts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 40, maxLength: 80 });
  const [first = [], second = [], third = []] = fc.sample(anyAmounts, { numRuns: 3, seed: 5 });
  const check = async () => {
    const anyPage = [fc.nat(90), fc.integer({ min: 1, max: 101 })] as const;
    const property = fc.asyncProperty(...anyPage, async (offset, limit) => {
      const found = await api.get(PATH, { assetId: api.token, offset, limit });
      assert.deepEqual(found, expected(api, offset, limit));
    });
    await fc.assert(property, { numRuns: 30, includeErrorInReport: true });
  };
  await crowd(api, first);
  await check();
  await api.api.world.fold.store.commit();
  await check();
  // Pending transactions are overlaid on stored balances.
  await crowd(api, second);
  await check();
  await crowd(api, third);
  await check();
  await api.back(2);
  await check();
});

test('more holders than a page: 100 unless asked, 101 at most', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 50));
  await crowd(
    api,
    Array.from({ length: 250 }, (_, index) => 1 + (index % 90)),
  );
  const count = async (query: object) => {
    const found = recordOf(await api.get(PATH, { assetId: api.token, ...query }));
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
    const response = await api.api.get(PATH, { assetId: api.token, ...query });
    assert.equal(response.status, 400, JSON.stringify(query));
  }
});

test('hex of any case is one asset; unknown ones are 404, malformed ones 400', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  const assetId = api.token;
  assert.deepEqual(await api.get(PATH, { assetId: assetId.toUpperCase() }), expected(api));
  for (const [asset, status, cause] of [
    [`${'ab'.repeat(28)}.00`, 404, 'ASSET_NOT_FOUND'],
    ['.', 404, 'ASSET_NOT_FOUND'],
    ['ada', 400, 'INVALID_PARAMS'],
    ['', 400, 'INVALID_PARAMS'],
  ] as const) {
    const response = await api.api.get(PATH, { assetId: asset });
    assert.deepEqual([response.status, recordOf(await response.json()).cause], [status, cause]);
  }
});

test('a page says its position and has an ETag', async (t) => {
  const api = await WalletApi.open(t);
  await api.block(launchBy(0, 30));
  const first = await api.api.get(PATH, { assetId: api.token });
  const { epoch, seq } = api.api.world.node.applied();
  assert.equal(first.headers.get('x-position'), `${epoch}:${seq}`);
  const headers = { 'If-None-Match': first.headers.get('etag') ?? '' };
  const again = await fetch(`${api.api.url}${PATH}?assetId=${api.token}`, { headers });
  assert.equal(again.status, 304);
});
