/** A launch that is taken back and comes again: the same token, its orders gone and new ones. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Position } from '../../../src/engine/runtime/position.ts';
import { launchOf, orderOf } from '../../chain/recogniseWorld.ts';
import { follow, ScriptedChain } from '../../chain/scriptedChain.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { recordOf } from '../../support/subscription.ts';
import { BookClient, framesFor, OrderClient } from '../../support/topicClients.ts';
import { FEED, offerOf } from './offer.ts';

test('the feed of a token that was launched twice has the orders of its second life', async (t) => {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const chain = new ScriptedChain();
  const faults: unknown[] = [];
  await follow(t, world, chain, faults);
  const { tx: launch, token } = launchOf('Twice');
  const [first, second, waits] = [
    orderOf(token, 'buy'),
    orderOf(token, 'sell'),
    orderOf(token, 'buy'),
  ];
  const offer = offerOf(world.node);
  const clients = [new OrderClient(true), new OrderClient(false)];
  const book = new BookClient('snapshot');
  let own: Position | null = null;
  const look = () => {
    const applied = world.node.applied();
    for (const client of clients) {
      const feed = offer.open('LiveOrdersFeed', { asset: token });
      for (const heard of framesFor(feed, own, applied)) client.hear(heard);
    }
    const books = offer.open('OrderBook', { asset: token });
    for (const heard of framesFor(books, own, applied)) book.hear(heard);
    own = applied;
    const answer = offer.ask(FEED, { asset: token });
    const page = answer === null ? null : recordOf(answer);
    const { items = [] } = page === null ? {} : recordOf(page.ledger);
    const idsOf = (orders: unknown) =>
      (Array.isArray(orders) ? orders : []).map((order) => String(recordOf(order).entityId));
    for (const client of clients) {
      assert.deepEqual([...client.ledger.keys()].sort(), idsOf(items).sort());
      assert.deepEqual([...client.mempool.keys()].sort(), idsOf(page?.mempool).sort());
    }
    if (page === null) return 'unknown';
    const { limits, pending } = book.book ?? {};
    const waiting = ['buys', 'sells'].map((side) => {
      const levels = recordOf(limits)[side];
      assert(Array.isArray(levels));
      return levels.length + Number(recordOf(pending)[side]);
    });
    return [...waiting, idsOf(page.mempool).length];
  };
  assert.equal(look(), 'unknown');
  await chain.block(launch);
  await chain.block(first.tx);
  assert.deepEqual(look(), [1, 0, 0]);
  await chain.waits([waits.tx]);
  assert.deepEqual(look(), [1, 0, 1]);
  await chain.back(2);
  assert.equal(look(), 'unknown');
  await chain.whole(launch, waits.tx);
  assert.equal(look(), 'unknown');
  await chain.block(launch);
  assert.deepEqual(look(), [0, 0, 1], 'what waited all the time is shown again');
  await chain.block(second.tx);
  assert.deepEqual(look(), [0, 1, 1]);
  await chain.block(waits.tx, first.tx);
  assert.deepEqual(look(), [2, 1, 0]);
  assert.deepEqual(faults, []);
});
