import assert from 'node:assert/strict';
import { rmSync, truncateSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { aloneNode, BARS, feed, trades } from './aloneNode.ts';

const MAX_MS = 60_000;
type Place = ReturnType<typeof aloneNode>;

test('killed before any of its writes, a node starts again and loses nothing', async (t) => {
  const place = aloneNode(t);
  const { disk, node } = place;
  const [expected, writes] = await undisturbed(t);
  assert.ok(writes > 20, `${writes} writes`);
  for (let killAt = 1; killAt <= writes; killAt += 1) {
    let count = 0;
    disk.onWrite = () => {
      count += 1;
      if (count === killAt) node.kill();
    };
    await untilKilled(place);
    assert.equal(await completed(place), expected, `killed before write ${killAt}`);
  }
});

test('killed in any transaction, its bytes torn anywhere, a node loses nothing', async (t) => {
  const place = aloneNode(t);
  const { disk, node } = place;
  const rng = seededRng(5);
  const [expected, writes] = await undisturbed(t);
  let torn = 0;
  for (let killAt = 1; killAt <= writes; killAt += 1) {
    let count = 0;
    disk.onWritten = (path, from, to) => {
      count += 1;
      if (count !== killAt) return;
      node.kill();
      if (to <= from) return;
      torn += 1;
      truncateSync(`${path}-wal`, from + Math.floor(rng.unit() * (to - from)));
    };
    await untilKilled(place);
    assert.equal(await completed(place), expected, `killed in transaction ${killAt}`);
  }
  assert.ok(torn >= 3, `${torn} were torn`);
});

test('unsynced rows are lost with the power, and made again from the log', async (t) => {
  const place = aloneNode(t);
  const { disk, time, node } = place;
  const rng = seededRng(6);
  const [expected] = await undisturbed(t);
  for (let round = 0; round < 20; round += 1) {
    await time.settle(node.start(), MAX_MS);
    void node.run((app) => feed(app, trades(0, 120))).catch(() => {});
    await time.run(time.nowMs + Math.floor(rng.unit() * 1000));
    node.kill();
    disk.loseUnsynced(node.directory, rng, rng.unit() < 0.5);
    assert.equal(await completed(place), expected, `round ${round}`);
  }
});

/** The bars, and how many writes the run took. */
async function undisturbed(t: TestContext): Promise<[string, number]> {
  const place = aloneNode(t);
  let writes = 0;
  place.disk.onWrite = () => {
    writes += 1;
  };
  const bars = await completed(place);
  place.end();
  return [bars, writes];
}

async function untilKilled({ time, node, disk }: Place): Promise<void> {
  void node.start();
  await time.until(() => !node.isRunning || node.app !== null, time.nowMs + MAX_MS);
  if (node.app !== null) {
    void node.run((app) => feed(app, trades(0, 120))).catch(() => {});
    await time.run(time.nowMs + 2_000);
    void node.stop();
    await time.until(() => !node.isRunning, time.nowMs + MAX_MS);
  }
  assert.equal(node.ended, null);
  disk.onWrite = null;
  disk.onWritten = null;
}

/** Starts the killed node, feeds it everything, and stops it; then its directory is new again. */
async function completed({ time, node }: Place): Promise<string> {
  await time.settle(node.start(), MAX_MS);
  await time.settle(
    node.run((app) => feed(app, trades(0, 120))),
    MAX_MS,
  );
  // It serves once it has read its market.
  const ready = () => time.settle(node.request('GET', '/health/ready'), 1_000);
  for (let asked = 1; (await ready())?.status !== 200; asked += 1) {
    assert.ok(asked < 100, 'it becomes ready');
    await time.run(time.nowMs + 20);
  }
  const found = await time.settle(node.request('GET', BARS), 1000);
  assert.equal(found?.status, 200);
  await time.settle(node.stop(), MAX_MS);
  rmSync(node.directory, { recursive: true });
  return found?.body ?? '';
}
