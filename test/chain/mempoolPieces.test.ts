/** A large mempool, told in several entries: for clients, and for ledgers that copy, one change. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Orders } from '../../src/api/orders/orderLookup.ts';
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { PendingTransactions, splitMempool } from '../../src/chain/pendingTransactions.ts';
import { knownState } from '../../src/chain/recognise/knownState.ts';
import type { MempoolPayload } from '../../src/engine/log/entry.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { launchOf, orderOf, RULES } from './recogniseWorld.ts';
import { follow, ScriptedChain } from './scriptedChain.ts';

const { tx: LAUNCH, token: TOKEN } = launchOf('Pieces');

const texts = (length: number, prefix: string) =>
  Array.from({ length }, (_, at) => `${prefix}${at}`);
const CHANGE: MempoolPayload = {
  kind: 'mempool',
  seenMs: 1,
  whole: true,
  added: texts(50, 'a').map((id, at) => ({ id, events: [], raw: 'f'.repeat(100 * (at % 7)) })),
  removed: texts(30, 'r').map((id) => ({ id, reason: 'EXPIRED' })),
  absent: texts(40, 'x'),
};

test('entries have a bounded size, the first is whole, and all but the last say more', () => {
  const pieces = splitMempool(CHANGE, 1_000);
  assert.ok(pieces.length > 10);
  for (const [at, piece] of pieces.entries()) {
    assert.ok(JSON.stringify(piece).length < 1_200);
    assert.equal(piece.whole, at === 0);
    assert.equal(piece.more, at === pieces.length - 1 ? undefined : true);
  }
  assert.deepEqual(
    pieces.flatMap((piece) => piece.added),
    CHANGE.added,
  );
  assert.deepEqual(
    pieces.flatMap((piece) => piece.removed),
    CHANGE.removed,
  );
  assert.deepEqual(
    pieces.flatMap((piece) => piece.absent ?? []),
    CHANGE.absent,
  );
  assert.deepEqual(splitMempool(CHANGE), [CHANGE]);
  const nothing = { ...CHANGE, added: [], removed: [], absent: [] };
  assert.deepEqual(splitMempool(nothing), [nothing]);
});

test('pending orders keep their positions while the whole mempool is reported again', async (t) => {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const chain = new ScriptedChain();
  const stop = await follow(t, world, chain, []);
  await chain.block(LAUNCH);
  await stop();
  const [gone, kept, also, come] = ['buy', 'sell', 'buy', 'sell'].map((side) =>
    orderOf(TOKEN, side === 'buy' ? 'buy' : 'sell'),
  );
  assert.ok(gone && kept && also && come);
  const waiting = new PendingTransactions(() => knownState(world.fold.store), RULES);
  const tell = async (txs: readonly Transaction[], seenMs: number, most: number) => {
    const event = { kind: 'mempool', whole: true, added: txs, removed: [] } as const;
    const payload = waiting.apply(event, seenMs, world.fold.mempool);
    assert.ok(payload !== null);
    const pieces = splitMempool(payload, most);
    const seen: string[][] = [];
    for (const piece of pieces) {
      const timeMs = world.fold.marketMs;
      await world.node.reached(await world.writer.append([{ timeMs, payload: piece }]));
      seen.push(shown());
    }
    return seen;
  };
  const shown = () =>
    new Orders(world.node)
      .mempool({ token: TOKEN, pkhs: null })
      .map(({ entityId, timestamp }) => `${entityId} ${timestamp}`);
  const [first] = await tell([gone.tx, kept.tx, also.tx], 1_000, 1_000_000);
  assert.equal(first?.length, 3);
  const lines = (first ?? []).filter((line) => !line.startsWith(gone.tx.id));
  const seen = await tell([kept.tx, also.tx, come.tx], 9_000, 100);
  assert.ok(seen.length >= 3, 'in pieces');
  for (const each of seen) {
    assert.ok(
      lines.every((line) => each.includes(line)),
      `${each} holds ${lines}`,
    );
  }
  const last = seen.at(-1) ?? [];
  assert.equal(last.length, 3, 'one went, one came');
  assert.ok(!last.some((line) => line.startsWith(gone.tx.id)));
});
