import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aloneNode, BARS, feed, trades } from './aloneNode.ts';

test('a kill at any write leaves a directory that starts and continues', async (t) => {
  const { time, disk, node } = aloneNode(t);
  for (let killAt = 1; killAt <= 40; killAt += 1) {
    let writes = 0;
    disk.onWrite = () => {
      writes += 1;
      if (writes === killAt) node.kill();
    };
    void node.start();
    await time.until(() => !node.isRunning || node.app !== null, time.nowMs + 60_000);
    if (node.app !== null) void node.run((app) => feed(app, trades(0, 400))).catch(() => {});
    await time.until(() => !node.isRunning, time.nowMs + 5_000);
    assert.equal(node.ended, null);
    disk.onWrite = null;
    node.kill();
  }
  const other = aloneNode(t);
  const bars: unknown[] = [];
  for (const place of [{ time, node }, other]) {
    await place.time.settle(place.node.start(), 60_000);
    await place.time.settle(
      place.node.run((app) => feed(app, trades(0, 400))),
      60_000,
    );
    const found = await place.time.settle(place.node.request('GET', BARS), 1000);
    assert.equal(found?.status, 200);
    bars.push(found?.body);
  }
  assert.equal(bars[0], bars[1]);
});
