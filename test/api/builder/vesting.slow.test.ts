/** Every refusal of the vesting routes and of /getUtxos over HTTP, in the stated order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptAddress } from '../../../src/cardano/codec/address.ts';
import { toHex } from '../../../src/cardano/codec/hex.ts';
import { refText } from '../../../src/cardano/codec/output.ts';
import {
  addValues,
  asValue,
  coins,
  subtractValue,
  type Value,
} from '../../../src/cardano/codec/value.ts';
import { lockData } from '../../../src/cardano/datums/datums.ts';
import { dataHex } from '../../../src/cardano/transactions/plan.ts';
import type { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { signedPayment } from '../../../src/devnet/payment.ts';
import { ADA, DevnetWorld } from '../../e2e/devnet/world.ts';
import { keyNamed } from '../../support/ledgerWorld.ts';
import { assertRefused, type Refused, wrongAddresses } from './table.ts';

const BAD_PARAMS = { status: 400, cause: 'INVALID_PARAMS' } as const;
const FAILED = { status: 500, cause: 'SERVER_ERROR' } as const;
const bad = (cause: string) => ({ status: 400, cause }) as const;
type Expected = Omit<Refused, 'what' | 'path'>;

const ELSEWHERE = `${'ab'.repeat(28)}.00`;
const UNKNOWN_TOKEN = { status: 404, cause: 'ASSET_NOT_FOUND', says: /was launched here/ } as const;

function lockRows(world: DevnetWorld, { wallet }: TradingClient, token: string): Refused[] {
  const { nowMs } = world;
  const lockEnd = nowMs + 3_600_000;
  const good = { address: wallet.address, assetId: token, amount: '1000', lockEnd, stagesCount: 4 };
  const row = (what: string, change: object, expected: Expected): Refused => {
    const body = { ...good, ...change };
    return { what: `/create-lock ${what}`, path: '/create-lock', ...expected, body };
  };
  const past = { lockEnd: nowMs - 1 };
  const { address: stranger } = world.trader('stranger').wallet;
  return [
    ...[0, 11, 1.5, -1, '4', null].map((stagesCount) =>
      row(`${stagesCount} stages`, { stagesCount, ...past }, BAD_PARAMS),
    ),
    ...['-1', '1.5', '', 'x', 5, null].map((amount) =>
      row(`amount ${amount}`, { amount, ...past }, BAD_PARAMS),
    ),
    ...['soon', '1', null, undefined].map((at) => row(`end ${at}`, { lockEnd: at }, BAD_PARAMS)),
    row('asset', { assetId: 'x', ...past }, BAD_PARAMS),
    row('ADA', { assetId: '.', ...past }, BAD_PARAMS),
    ...wrongAddresses().map(([what, address]) =>
      row(`${what} address`, { address, ...past }, BAD_PARAMS),
    ),
    row('a past end, and no amount', { ...past, amount: '0' }, bad('INVALID_LOCK_END')),
    row('now', { lockEnd: nowMs }, bad('INVALID_LOCK_END')),
    row('half a millisecond', { lockEnd: lockEnd + 0.5 }, bad('INVALID_LOCK_END')),
    row('an end beyond dates', { lockEnd: 9e15 }, bad('INVALID_LOCK_END')),
    row('amount 0', { amount: '0' }, bad('INVALID_AMOUNT')),
    row('a token launched elsewhere', { assetId: ELSEWHERE }, UNKNOWN_TOKEN),
    row('one more letter', { assetId: `${token}21` }, UNKNOWN_TOKEN),
    row('asked by a stranger', { assetId: ELSEWHERE, address: stranger }, UNKNOWN_TOKEN),
    row('an unknown token, and no end', { assetId: ELSEWHERE, ...past }, bad('INVALID_LOCK_END')),
    row('less than a token a stage', { amount: '3' }, bad('INVALID_AMOUNT')),
    row('tokens it has not', { amount: '999999999' }, { ...FAILED, says: /wallet/ }),
    row(
      'of a poor wallet',
      { address: stranger },
      {
        ...FAILED,
        says: /wallet/,
      },
    ),
  ];
}

/** A lock made by hand, due since long. */
async function lockByHand(
  world: DevnetWorld,
  trader: TradingClient,
  owner: TradingClient,
  value: Value,
) {
  const utxos = await trader.utxos();
  const held = addValues(...utxos.map(({ value }) => value));
  const { deployment } = world.kit.txContext;
  const datum = dataHex(lockData({ unlockMs: 1n, owner: owner.wallet.keyHash }));
  const address = scriptAddress('testnet', deployment.scripts.vesting.hash, null);
  const feeLovelace = 200_000n;
  const change = subtractValue(held, asValue(value.lovelace + feeLovelace, value.assets));
  const outputs = [
    { address, value, datum },
    { address: trader.wallet.address, value: change },
  ];
  const payment = signedPayment({ inputs: utxos.map(({ ref }) => ref), outputs, feeLovelace }, [
    keyNamed('alice'),
  ]);
  const sent = await world.post('/submit', { cbor: toHex(payment.bytes) });
  assert.equal(sent.status, 200, sent.message);
  await world.mine();
  return `${payment.id}:0`;
}

interface Locks {
  readonly open: string;
  readonly spent: string;
  readonly due: string;
  readonly tight: string;
  readonly plain: string;
}

function withdrawRows(alice: TradingClient, bob: TradingClient, locks: Locks): Refused[] {
  const { address } = alice.wallet;
  const row = (what: string, id: unknown, owner: unknown, expected: Expected): Refused => {
    return {
      what: `/withdraw ${what}`,
      path: '/withdraw',
      ...expected,
      body: { id, address: owner },
    };
  };
  const { address: stranger } = bob.wallet;
  const unknown = `${'ee'.repeat(32)}:0`;
  const until = /^Lock is still active\. Unlocks at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;
  return [
    ...[
      '',
      'x',
      `${'ee'.repeat(32)}`,
      `${'ee'.repeat(32)}:-1`,
      `${'ee'.repeat(32)}:01`,
      1,
      null,
    ].map((id) => row(`id ${id}`, id, address, BAD_PARAMS)),
    ...wrongAddresses().map(([what, wrong]) => row(`by ${what}`, unknown, wrong, BAD_PARAMS)),
    row('unknown', unknown, stranger, { status: 404, cause: 'UTxO_NOT_FOUND' }),
    row('spent, by a stranger', locks.spent, stranger, bad('UTxO_SPENT')),
    row('no lock', locks.plain, stranger, bad('INVALID_DATUM')),
    row('a stranger, too early', locks.open, stranger, { status: 403, cause: 'NOT_OWNER' }),
    row('too early', locks.open, address, { ...bad('LOCK_NOT_EXPIRED'), says: until }),
    row('that cannot pay', locks.tight, stranger, { ...FAILED, says: /wallet/ }),
  ];
}

function queryRows(): Refused[] {
  const pkh = 'ab'.repeat(28);
  const utxos = (what: string, change: object): Refused => {
    const body = { pkh, ...change };
    return { what: `/getUtxos ${what}`, path: '/getUtxos', ...BAD_PARAMS, body };
  };
  const path = '/v1/vesting/get-by-redeemer';
  const byAsset = '/v1/vesting/get-by-asset';
  return [
    utxos('no key', { pkh: undefined }),
    utxos('half a key', { pkh: 'ab' }),
    ...[0, 1001, -1, 1.5, '5'].map((limit) => utxos(`limit ${limit}`, { limit })),
    ...[-1, 1.5, '5'].map((offset) => utxos(`offset ${offset}`, { offset })),
    utxos('query', { query: 'spent' }),
    utxos('after', { after: 'x' }),
    { what: 'no owner', path, body: {}, ...BAD_PARAMS },
    { what: 'owner', path: `${path}?redeemerVkhs=xy`, body: {}, ...BAD_PARAMS },
    { what: 'asset', path: `${byAsset}/xy`, body: {}, ...BAD_PARAMS },
    { what: 'GET', path: '/getUtxos', status: 405, cause: 'METHOD_NOT_ALLOWED' },
    { what: 'GET', path, status: 405, cause: 'METHOD_NOT_ALLOWED' },
  ];
}

test('locks and withdrawals are refused as the contract says', async (t) => {
  const world = await DevnetWorld.start(t);
  const alice = await world.funded('alice', 1000, 3);
  const bob = world.trader('bob');
  const { asset: token } = await world.launch(alice, { initialLovelace: 50n * ADA });
  const lock = async (lockEndMs: number) => {
    const { txHash } = await alice.lock({ assetId: token, amount: 10n, lockEndMs, stages: 1 });
    await world.mine();
    const row = world.rows('locks').find(([key]) => key.startsWith(txHash)) ?? assert.fail(txHash);
    return row[0];
  };
  // So little ADA that its withdrawal cannot pay for itself.
  const tight = await lockByHand(world, alice, bob, asValue(1_300_000n, [[token, 1n]]));
  // Holds no token that was launched here.
  const unlisted = await lockByHand(world, alice, alice, coins(5n * ADA));
  const open = await lock(world.nowMs + 3_600_000);
  const due = await lock(world.nowMs + 2_000);
  const spent = await lock(world.nowMs + 2_000);
  await world.mine(3);
  await alice.withdraw(spent);
  await world.mine();
  const [plain] = await alice.utxos();
  const locks = { open, due, spent, tight, plain: refText((plain ?? assert.fail()).ref) };

  await t.test('/create-lock', () => assertRefused(world, lockRows(world, alice, token)));
  await t.test('/withdraw', () => assertRefused(world, withdrawRows(alice, bob, locks)));
  await t.test('queries', () => assertRefused(world, queryRows()));
  await t.test('a lock that is in no list is withdrawn by its id', async () => {
    assert.ok(!world.rows('locks').some(([key]) => key === unlisted));
    await alice.withdraw(unlisted);
    await world.mine();
    const body = { id: unlisted, address: alice.wallet.address };
    const row = { what: 'again', path: '/withdraw', body, ...bad('UTxO_SPENT') };
    await assertRefused(world, [row]);
  });
  await t.test('a lock that has ended is withdrawn, once', async () => {
    await alice.withdraw(due);
    const body = { id: due, address: alice.wallet.address };
    const row = { what: 'again', path: '/withdraw', body, ...bad('UTxO_SPENT') };
    await assertRefused(world, [row]);
    await world.mine();
    await assertRefused(world, [row]);
    const rows = await alice.locks();
    assert.deepEqual(
      rows.map(({ id }) => id),
      [open],
    );
  });
});
