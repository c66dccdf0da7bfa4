/** The launchpad that runs on mainnet: whatever varies there from pool to pool is not compared. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptAddress } from '../../src/cardano/codec/address.ts';
import { refText } from '../../src/cardano/codec/output.ts';
import { Constr } from '../../src/cardano/codec/plutusData.ts';
import { asValue, coins } from '../../src/cardano/codec/value.ts';
import { poolData } from '../../src/cardano/datums/datums.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { recogniseBlock } from '../../src/chain/recognise/block.ts';
import { BlockState } from '../../src/chain/recognise/knownState.ts';
import { type Rules, rulesOf } from '../../src/chain/recognise/rules.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import { readDeployment } from '../../src/server/settings/deployments.ts';
import { NOTHING } from './middleMarket.ts';
import {
  ADA,
  ALICE,
  eventOf,
  type LaunchChange,
  launchOf,
  orderOf,
  someRef,
  transaction,
} from './recogniseWorld.ts';

const { partial } = readDeployment('mainnet');
assert.ok(partial);
const RULES: Rules = rulesOf(partial);
const { launchPolicyId, scripts } = partial;

const EXECUTORS = ['1e'.repeat(28), '2e'.repeat(28)] as const;
const POLICY = '7a'.repeat(28);
const at = (hash: string, stake: typeof ALICE.stake | null) =>
  scriptAddress('mainnet', hash, stake);

const VARIES: LaunchChange = {
  nftPolicy: launchPolicyId,
  tokenPolicy: POLICY,
  address: at(scripts.curvePool.hash, ALICE.stake),
  datum: {
    executor: EXECUTORS[0],
    capLovelace: 69_000n * ADA,
    witness1: '01',
    witness2: '5c'.repeat(28),
  },
};

class Followed {
  readonly market = new BlockState(NOTHING);
  #slot = 0;

  block(...transactions: Parameters<typeof recogniseBlock>[1]): MarketEvent[] {
    this.#slot += 1;
    const events = recogniseBlock(this.#slot, transactions, this.market, RULES);
    for (const event of events) this.market.apply(event);
    return events;
  }
}

const user = { ...ALICE, network: 'mainnet' } as const;

function order(token: string, executor: string) {
  const address = at(scripts.order.hash, ALICE.stake);
  return orderOf(token, 'buy', { address, datum: { redeemer: user, executor, poolNft: null } });
}

function pool(
  launch: ReturnType<typeof launchOf>,
  lovelace: bigint,
  tokens: bigint,
  address?: string,
) {
  const { token, nft } = launch;
  const datum = {
    ...{ nft, token, aNum: partial?.curve.aNum ?? 0n, bNum: partial?.curve.bNum ?? 0n },
    ...{ executor: EXECUTORS[0], capLovelace: 69_000n * ADA, witness1: '01' },
    witness2: '5c'.repeat(28),
  };
  const value = asValue(lovelace, [
    [nft, 1n],
    [token, tokens],
  ]);
  const where = address ?? at(scripts.curvePool.hash, null);
  return { address: where, value, datum: dataHex(poolData(datum)) };
}

test('launches count by their NFT alone, with the cap of their own datum', () => {
  const launch = launchOf('Mainnet', VARIES);
  const metadataNft = `${POLICY}.000643b0${'00'.repeat(4)}`;
  const mint = new Map([...launch.tx.mint, [metadataNft, 1n] as const]);
  const events = new Followed().block({ ...launch.tx, mint });
  const { pool: told } = eventOf(events, 'launched');
  assert.equal(told.token, launch.token, 'the token is what the datum names');
  assert.equal(told.thresholdLovelace, String(69_000n * ADA - 3n * ADA));
  assert.equal(told.executor, EXECUTORS[0]);
  assert.equal(told.ticker, 'TICK', 'of the metadata that the launch carries, wherever');
  const forged = launchOf('Forged', { ...VARIES, nftPolicy: '5c'.repeat(28) });
  assert.deepEqual(new Followed().block(forged.tx), []);
});

test('orders of any executor are executed, refunded and cancelled', () => {
  const followed = new Followed();
  const launch = launchOf('Traded', VARIES);
  const { token } = launch;
  const orders = [
    order(token, EXECUTORS[0]),
    order(token, EXECUTORS[1]),
    order(token, EXECUTORS[1]),
  ];
  const placed = followed.block(launch.tx, ...orders.map(({ tx }) => tx));
  assert.equal(placed.filter(({ kind }) => kind === 'placed').length, 3);
  const [first, second, third] = orders.map(({ ref }) => ref);
  assert.ok(first && second && third);
  const bought = 1_900_000n;
  const inputs = [launch.pool, first].sort((a, b) => (refText(a) < refText(b) ? -1 : 1));
  const successor = pool(launch, 5n * ADA + 4_950_000n, 999_999_000n - bought);
  const payment = { address: ALICE_MAINNET, value: asValue(1_500_000n, [[token, bought]]) };
  const outputs = inputs.map((ref) => (ref === first ? payment : successor));
  const spends = { 0: new Constr(1, [0n]), 1: new Constr(1, [1n]) };
  const filled = followed.block(transaction({ inputs, outputs, spends }));
  const fill = eventOf(filled, 'filled');
  assert.deepEqual(
    [fill.order, fill.tokens, fill.lovelace],
    [refText(first), '1900000', '4950000'],
  );
  const back = { address: ALICE_MAINNET, value: coins(7n * ADA) };
  const refund = transaction({
    inputs: [second],
    outputs: [back],
    spends: { 0: new Constr(2, [0n]) },
  });
  const cancel = transaction({
    inputs: [third],
    outputs: [back],
    spends: { 0: new Constr(0, []) },
  });
  const closed = followed.block(refund, cancel).map(({ kind }) => kind);
  assert.deepEqual(closed, ['spent', 'refunded', 'spent', 'cancelled']);
});

const ALICE_MAINNET = 'addr1v8fet8gavr6elqt6q50skkjf025zthqu6vr56l5k39sp9aqlvz2g4';

test('an unreadable older order still moves its pool', () => {
  const followed = new Followed();
  const launch = launchOf('Limit', VARIES);
  followed.block(launch.tx);
  const limit = someRef();
  const inputs = [launch.pool, limit].sort((a, b) => (refText(a) < refText(b) ? -1 : 1));
  const outputs = inputs.map((ref) =>
    ref === limit
      ? { address: ALICE_MAINNET, value: asValue(2n * ADA, [[launch.token, 400_000n]]) }
      : pool(launch, 6_100_000n, 999_999_000n - 400_000n),
  );
  const spends = { 0: new Constr(0, []), 1: new Constr(0, []) };
  const events = followed.block(transaction({ inputs, outputs, spends }));
  const { order: whose, side, tokens, lovelace } = eventOf(events, 'filled');
  assert.deepEqual([whose, side, tokens, lovelace], [null, 'buy', '400000', '1100000']);
});

test('a pool that leaves the curve for an AMM that is not known has graduated', () => {
  const followed = new Followed();
  const launch = launchOf('Gone', VARIES);
  followed.block(launch.tx);
  const elsewhere = pool(launch, 5n * ADA, 999_999_000n, at('9d'.repeat(28), null));
  const tx = transaction({
    inputs: [launch.pool],
    outputs: [elsewhere],
    spends: { 0: new Constr(1, []) },
  });
  assert.deepEqual(
    followed.block(tx).map(({ kind }) => kind),
    ['spent', 'graduated', 'made'],
  );
});

test('following may begin in the middle there, too', () => {
  const launch = launchOf('Middle', VARIES);
  const moved = transaction({
    inputs: [launch.pool],
    outputs: [pool(launch, 9n * ADA, 999_000_000n)],
  });
  const events = new Followed().block(moved);
  const { pool: told } = eventOf(events, 'adopted');
  assert.deepEqual([told.name, told.executor], ['Middle', EXECUTORS[0]]);
  assert.deepEqual(eventOf(events, 'moved').to, {
    ...{ venue: 'CURVE', x: String(6n * ADA), y: '999000000', owed: '0' },
  });
});

test('a token has one pool: a second one that names it is not told', () => {
  const followed = new Followed();
  const first = launchOf('Once', VARIES);
  const again = launchOf('Once', VARIES);
  assert.equal(again.token, first.token);
  assert.notEqual(again.nft, first.nft);
  assert.equal(kindsIn(followed.block(first.tx), 'launched'), 1);
  assert.equal(kindsIn(followed.block(again.tx), 'launched'), 0);
  assert.equal(followed.market.pool(first.token)?.nft, first.nft);
});

function kindsIn(events: readonly MarketEvent[], kind: MarketEvent['kind']): number {
  return events.filter((event) => event.kind === kind).length;
}
