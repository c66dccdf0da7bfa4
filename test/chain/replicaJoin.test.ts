/** How a node's ledger comes to the log's chain: from the beginning, a snapshot, or not at all. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { SnapshotNeeded } from '../../src/chain/lineage.ts';
import { LedgerDiverged } from '../../src/devnet/copier.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { addressOf, ledgerOptions, startChain } from '../support/ledgerWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { anyPayment, checkAll, type Market, openMarket, openSeat, seatAt } from './replicaWorld.ts';

const ADA = 1_000_000n;

async function pay(market: Market, count: number): Promise<string[]> {
  const leader = seatAt(market, market.leader);
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const tx = await anyPayment(leader, at % 3, (at + 1) % 3, at);
    assert.ok(tx !== null);
    assert.deepEqual(await leader.submit(tx.bytes), { outcome: 'accepted', txHash: tx.id });
    ids.push(tx.id);
  }
  return ids;
}

/** One more node, with an empty directory. */
function addNode(market: Market): number {
  Reflect.set(market, 'directories', [...market.directories, temporaryDirectory()]);
  return market.directories.length - 1;
}

test('a new node folds the whole chain from the log', async (scope) => {
  const market = await openMarket(scope, 1);
  const { ledger } = seatAt(market, 0);
  for (let round = 0; round < 5; round += 1) {
    await pay(market, 3);
    await ledger.mine(30);
    await seatAt(market, 0).settled();
    await ledger.fork(round * 4 + 1);
  }
  await pay(market, 2);
  await seatAt(market, 0).settled();
  await openSeat(market, addNode(market));
  await checkAll(market);
});

test('follows over forks beyond the horizon, and joins behind one', async (scope) => {
  const market = await openMarket(scope, 2, 5);
  const leader = seatAt(market, 0);
  const { epoch } = leader.node.applied();
  for (let round = 0; round < 3; round += 1) {
    await pay(market, 2);
    await leader.ledger.mine(15);
    await pay(market, 2);
    await leader.settled();
    await leader.ledger.fork(12);
    await leader.ledger.mine(1);
    await checkAll(market);
  }
  assert.notEqual(leader.node.applied().epoch, epoch, 'an epoch began');
  await openSeat(market, addNode(market));
  await checkAll(market);
});

test('needs a snapshot when the log is too short, says so, and works with one', async (scope) => {
  const market = await openMarket(scope, 1);
  const leader = seatAt(market, 0);
  await pay(market, 3);
  await leader.ledger.mine(3);
  await pay(market, 3);
  await leader.ledger.mine(1);
  await leader.settled();
  const [file, state] = [join(temporaryDirectory(), 'copy.sqlite'), 'state.sqlite'];
  assert.equal(await leader.ledger.snapshot(file), null);
  assert.ok((await leader.ledger.snapshot(file)) instanceof Failure, 'it overwrites nothing');
  await pay(market, 2);
  await leader.ledger.mine(2);
  await pay(market, 1);
  const seq = await leader.settled();
  await leader.node.fold.store.commit();
  const at = addNode(market);
  const directory = market.directories[at] ?? '';
  await leader.node.fold.store.snapshotTo(join(directory, state));
  await market.log.trim(seq - 8);
  await assert.rejects(openSeat(market, at), (error) => {
    assert.ok(error instanceof SnapshotNeeded);
    assert.match(error.message, /log begins with entry \d+: replace ledger.sqlite by a snapshot/);
    return true;
  });
  await seatAt(market, at).ledger.stop();
  await seatAt(market, at).node.stop();
  const other = addNode(market);
  const place = market.directories[other] ?? '';
  await leader.node.fold.store.snapshotTo(join(place, state));
  copyFileSync(file, join(place, 'ledger.sqlite'));
  market.seats.splice(at, 1);
  Reflect.set(market, 'directories', [market.directories[0], place]);
  await openSeat(market, at);
  await checkAll(market);
});

test('a ledger with blocks of another chain is a fault that is told, and stays', async (scope) => {
  const market = await openMarket(scope, 2);
  const [leader, other] = [seatAt(market, 0), seatAt(market, 1)];
  const stranger = await startChain(scope, ledgerOptions());
  const gift = await stranger.faucet(addressOf('zoe'), 10n * ADA);
  assert.ok(gift.outcome === 'accepted');
  const stream = await stranger.open([]);
  await stream?.next();
  const head = await stranger.mine(1);
  assert.ok(head !== null && 'hash' in head);
  const event = await stream?.next();
  assert.ok(event?.kind === 'forward');
  const raw = event.block.transactions.map(({ bytes }) => toHex(bytes));
  assert.deepEqual(await other.ledger.apply([{ head, raw }]), { outcome: 'done' });
  await leader.ledger.mine(1);
  const seq = await leader.settled();
  await assert.rejects(other.replica.reached(seq), LedgerDiverged);
  assert.ok(other.replica.failed);
  assert.equal(other.faults.length, 1);
  await assert.rejects(other.replica.reached(seq), LedgerDiverged, 'who comes later is told, too');
  await other.replica.start();
  other.faults.length = 0;
  assert.ok(!other.replica.failed, 'begun anew, it goes back to what the log has');
  await checkAll(market);
});

test('a replica answers lookups and streams, and takes nothing', async (scope) => {
  const market = await openMarket(scope, 2);
  const { ledger } = seatAt(market, 1);
  const tx = await anyPayment(seatAt(market, 1), 0, 1, 0);
  assert.ok(tx !== null, 'it shows what the chain began with');
  const refused = await ledger.submit(tx.bytes);
  assert.ok(refused.outcome === 'refused');
  assert.match(refused.message, /does not lead/);
  const gift = await ledger.faucet(addressOf('zoe'), 10n * ADA);
  assert.equal(gift.outcome, 'refused');
  for (const answer of [await ledger.mine(1), await ledger.fork(1)]) {
    assert.ok(answer instanceof Failure && answer.cause === 'NOT_READY');
  }
  const durable = await seatAt(market, 1).submit(tx.bytes);
  assert.ok(durable instanceof Failure && durable.cause === 'NOT_READY' && durable.retry);
  await assert.rejects(seatAt(market, 0).ledger.apply([]), /leads/);
  const stream = await ledger.open([]);
  assert.ok(stream !== null);
  assert.equal((await stream.next())?.kind, 'mempool');
  const [id] = await pay(market, 1);
  const told = await stream.next();
  assert.deepEqual(told?.kind === 'mempool' && told.added.map((each) => each.id), [id]);
  await seatAt(market, 0).ledger.mine(1);
  assert.equal((await stream.next())?.kind, 'forward');
  await seatAt(market, 0).ledger.fork(1, { resubmit: 'none' });
  assert.deepEqual(await stream.next(), { kind: 'back', point: null });
  await stream.close();
});

test('a paced ledger makes blocks from when it leads to when it follows', async (scope) => {
  const options = { ...ledgerOptions(), blockPaceMs: 20, genesisTimeMs: Date.now() };
  const chain = await startChain(scope, { ...options, role: 'replica' });
  const stream = await chain.open([]);
  assert.equal((await stream?.next())?.kind, 'mempool');
  const next = stream?.next();
  assert.deepEqual(await chain.lead(), null, 'none before it leads');
  assert.equal((await next)?.kind, 'forward');
  await chain.follow();
  const { tip } = await chain.tip();
  const submitted = await chain.submit(new Uint8Array(1));
  assert.ok(submitted.outcome === 'refused' && /does not lead/.test(submitted.message));
  assert.deepEqual((await chain.tip()).tip, tip);
  await chain.lead();
  await stream?.close();
});

test('what is not in the log in time is not accepted, and may be sent again', async (scope) => {
  const market = await openMarket(scope, 1);
  const leader = seatAt(market, 0);
  const [known] = await pay(market, 1);
  await leader.cutOff();
  leader.giveUp();
  const tx = await anyPayment(leader, 1, 2, 0);
  assert.ok(tx !== null);
  const late = await leader.submit(tx.bytes);
  assert.ok(late instanceof Failure && late.cause === 'NOT_READY' && late.retry);
  await leader.ledger.follow();
  await leader.replica.start();
  market.term += 1;
  await leader.lead(market.term);
  assert.deepEqual(await leader.submit(tx.bytes), { outcome: 'accepted', txHash: tx.id });
  await leader.ledger.mine(1);
  await leader.settled();
  assert.deepEqual(await leader.submit(tx.bytes), { outcome: 'accepted', txHash: tx.id });
  assert.ok((await leader.ledger.blockOf(known ?? '')) !== null, 'what was written came back');
});
