/** Contract of every source of blocks (src/chain/port.ts). */
import assert from 'node:assert/strict';
import { blocksOf, checker, type MakePlace, next, opened, paid } from './chainPlace.ts';

export function chainSourceContract(name: string, make: MakePlace): void {
  const check = checker(name, make);
  following(check);
  waiting(check);
  forking(check);
}

type Check = ReturnType<typeof checker>;

function following(check: Check): void {
  check('tells all blocks from the beginning, in order, then the whole mempool', async (place) => {
    const inBlock = await paid(place);
    await place.mine(3);
    const waits = await paid(place, 1);
    const stream = await opened(place);
    const blocks = await blocksOf(stream, 3);
    assert.deepEqual(
      blocks.map(({ height }) => height),
      [1, 2, 3],
    );
    const [first, second, third] = blocks.map(({ point }) => point.slot);
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    assert.ok(first < second && second < third);
    assert.deepEqual(
      blocks.map(({ transactions }) => transactions.map(({ id }) => id)),
      [[inBlock.id], [], []],
    );
    assert.deepEqual(
      Buffer.from(blocks[0]?.transactions[0]?.bytes ?? []),
      Buffer.from(inBlock.bytes),
    );
    const { whole, added, removed } = await next(stream, 'mempool');
    assert.deepEqual([whole, added.map(({ id }) => id), removed], [true, [waits.id], []]);
  });

  check('begins with `back` at a known point, then its child', async (place) => {
    await place.mine(4);
    const blocks = await blocksOf(await opened(place), 4);
    const [, second, third] = blocks;
    assert.ok(second && third);
    const unknown = { slot: third.point.slot, hash: 'ab'.repeat(32) };
    const stream = await opened(place, [unknown, second.point]);
    assert.deepEqual((await next(stream, 'back')).point, second.point);
    assert.deepEqual((await next(stream, 'forward')).block.point, third.point);
  });

  check('opens at none of the points when none is on the chain', async ({ chain, mine }) => {
    await mine(1);
    assert.equal(await chain.open([{ slot: 1, hash: 'ab'.repeat(32) }]), null);
  });

  check('ends with null when it is closed, also for one who waits', async (place) => {
    const stream = await opened(place);
    await next(stream, 'mempool');
    const waiting = stream.next();
    await stream.close();
    assert.deepEqual([await waiting, await stream.next()], [null, null]);
    await stream.close();
  });
}

function waiting(check: Check): void {
  check('tells of a transaction when it waits, and not that it left for a block', async (place) => {
    const stream = await opened(place);
    assert.equal((await next(stream, 'mempool')).whole, true);
    const { id } = await paid(place);
    const { whole, added, removed } = await next(stream, 'mempool');
    assert.deepEqual([whole, added.map((tx) => tx.id), removed], [false, [id], []]);
    await place.mine(2);
    const [block] = await blocksOf(stream, 1);
    assert.deepEqual(
      block?.transactions.map((tx) => tx.id),
      [id],
    );
    await next(stream, 'forward');
    await paid(place, 1);
    assert.deepEqual((await next(stream, 'mempool')).removed, []);
  });
}

function forking(check: Check): void {
  check('goes back to the fork, sends the mempool again, then the other blocks', async (place) => {
    const stream = await opened(place);
    await place.mine(1);
    const { id } = await paid(place);
    await place.mine(2);
    const [first] = await blocksOf(stream, 3);
    await place.fork(2, 'all');
    let event = await stream.next();
    while (event?.kind === 'mempool' && event.added.length === 0) event = await stream.next();
    assert.deepEqual(event, { kind: 'back', point: first?.point });
    let added: string[] = [];
    while (added.length === 0) {
      const change = await next(stream, 'mempool');
      assert.deepEqual(change.removed, []);
      added = change.added.map((tx) => tx.id);
    }
    assert.deepEqual(added, [id]);
    await place.mine(1);
    const { block } = await next(stream, 'forward');
    assert.deepEqual([block.height, block.transactions.map((tx) => tx.id)], [2, [id]]);
    assert.notEqual(block.point.slot, 2, 'slots do not go back');
  });

  check('tells why a transaction that lost its block does not wait again', async (place) => {
    const stream = await opened(place);
    const { id } = await paid(place);
    await place.mine(1);
    await blocksOf(stream, 1);
    await place.fork(1, 'none');
    let removed: readonly { id: string }[] = [];
    while (removed.length === 0) {
      const event = await stream.next();
      assert.ok(event && event.kind !== 'forward');
      if (event.kind === 'back') assert.equal(event.point, null);
      else removed = event.removed;
    }
    assert.deepEqual(
      removed.map((each) => each.id),
      [id],
    );
  });

  check('takes a slow reader back to what it knows, once, over several forks', async (place) => {
    await place.mine(5);
    const stream = await opened(place);
    const blocks = await blocksOf(stream, 5);
    await place.fork(2, 'all');
    await place.mine(3);
    await place.fork(5, 'all');
    await place.mine(2);
    let event = await stream.next();
    while (event?.kind === 'mempool') event = await stream.next();
    assert.deepEqual(event, { kind: 'back', point: blocks[0]?.point });
    assert.deepEqual((await next(stream, 'forward')).block.height, 2);
    assert.deepEqual((await next(stream, 'forward')).block.height, 3);
  });

  check('does not open at a point that was taken back', async (place) => {
    await place.mine(3);
    const points = (await blocksOf(await opened(place), 3)).map(({ point }) => point);
    await place.fork(1, 'all');
    await place.mine(1);
    const stream = await opened(place, points.toReversed());
    assert.deepEqual((await next(stream, 'back')).point, points[1]);
  });
}
