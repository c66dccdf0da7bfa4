/** A node that was restarted still knows what became of the bar of a launch. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { lastBarTopic } from '../../../src/api/charts/topics.ts';
import { askSince } from '../../../src/api/topics/port.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { appendBlock } from '../../chain/foldChain.ts';
import { BlockMaker } from '../../chain/foldMarket.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { recordOf } from '../../support/subscription.ts';
import { openSource } from '../topics/openSource.ts';

for (const traded of [false, true]) {
  test(`since before a restart tells the end of a launch bar, traded: ${traded}`, async (t) => {
    const first = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
    const maker = new BlockMaker();
    await appendBlock(first, maker.block([{ do: 'launch', user: 0, buy: 0 }], 1_000));
    const launched = first.seq;
    const [token = ''] = maker.state.pools.keys();
    const actions = [
      { do: 'place', user: 1, pool: 0, side: 'buy', amount: 9 },
      { do: 'execute', pool: 0 },
    ] as const;
    await appendBlock(first, maker.block(traded ? actions : [], 61_000));
    const world = await first.restarted();
    const params = { pair: { base: token, quote: '.' }, interval: 'min1' };
    const source = openSource(lastBarTopic(world.node), params);
    const tell = (seq: number) => {
      const changes = askSince(source, seq, world.seq);
      assert(changes !== null && !(changes instanceof Failure));
      return changes.parts.map(({ seq: at, data }) => {
        const { trades, final } = recordOf(data);
        return [at > launched && at <= world.seq, trades, final];
      });
    };
    const end = [true, 0, true];
    assert.deepEqual(tell(launched), traded ? [end, [true, 1, false]] : [end]);
    assert.deepEqual(tell(world.seq), []);
  });
}
