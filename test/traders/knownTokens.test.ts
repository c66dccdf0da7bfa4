/** The set of tokens that traders know, built from the answers of the server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../../src/client/index.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { KnownTokens } from '../../src/traders/knownTokens.ts';
import { scriptedServer } from '../client/trade/world.ts';
import { NOW_MS, OTHER, TOKEN } from './views.ts';

function row(asset: string, cpmmPoolId: string | null = null) {
  const pool = { createdOn: NOW_MS / 1000 - 60, cpmmPoolId };
  return { pool, metrics: { marketCap: 2_567_442_146 }, info: { asset, name: 'x' } };
}

async function market(
  scope: { after(run: () => Promise<void> | void): void },
  answers: readonly { readonly status: number; readonly body: unknown }[],
) {
  const { baseUrl } = await scriptedServer(scope, answers);
  return new KnownTokens(new Client({ url: baseUrl, clock: systemClock }));
}

test('the list tells what can be traded, where and at what size', async (t) => {
  const known = await market(t, [{ status: 200, body: [row(TOKEN), row(OTHER, 'pool')] }]);
  await known.refresh(NOW_MS);
  assert.deepEqual(
    known.open().map(({ asset, venue, marketCapLovelace }) => [asset, venue, marketCapLovelace]),
    [
      [TOKEN, 'CURVE', 2_567_442_146n],
      [OTHER, 'AMM', 2_567_442_146n],
    ],
  );
});

test('a token that a rollback took away is not traded any more', async (t) => {
  const both = { status: 200, body: [row(TOKEN), row(OTHER)] };
  const known = await market(t, [both, { status: 200, body: [row(TOKEN)] }, both]);
  await known.refresh(NOW_MS);
  await known.refresh(NOW_MS);
  assert.deepEqual(
    known.open().map(({ asset }) => asset),
    [TOKEN],
  );
  await known.refresh(NOW_MS);
  assert.equal(known.open().length, 2);
});

test('without a list, quotes tell which tokens of the wallets can be traded', async (t) => {
  const missing = { status: 404, body: { cause: 'NOT_FOUND', message: 'no such route' } };
  const amounts = { outputAmount: '1000', inputAmount: '10000000' };
  const price = { numerator: '5', denominator: '2' };
  const quote = { ...amounts, price, outputAsset: TOKEN, inputAsset: '.', venue: 'AMM' };
  const unknown = { status: 500, body: { cause: 'ASSET_NOT_FOUND', message: 'unknown' } };
  const answers = [missing, { status: 200, body: quote }, unknown];
  const known = await market(t, answers);
  known.add(TOKEN, NOW_MS);
  await known.refresh(NOW_MS);
  assert.deepEqual(
    known.open().map(({ asset, venue, marketCapLovelace }) => [asset, venue, marketCapLovelace]),
    [[TOKEN, 'AMM', 2_500_000_000n]],
  );
  known.add(OTHER, NOW_MS - 120_000);
  await known.refresh(NOW_MS);
  assert.equal(known.open().length, 1);
  assert.equal(known.size, 1, 'a token of strangers counts for nothing');
});

test('what it knows is bounded', async (t) => {
  const known = await market(t, [{ status: 200, body: [] }]);
  for (let index = 0; index < 1_000; index += 1) {
    known.add(`${index.toString(16).padStart(56, '0')}.00`, NOW_MS);
  }
  assert(known.size <= 200);
  // The server knows none of these tokens, so they make room for others.
  await known.refresh(NOW_MS + 120_000);
  known.add(TOKEN, NOW_MS + 120_000);
  assert.equal(known.size, 1);
});
