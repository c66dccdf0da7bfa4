/** A directory whose devnet began with other outputs: refused before anything is made from it. */
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../support/server.ts';
import { DevnetWorld, quietTraders } from './devnet/world.ts';

test('a devnet of another genesis is refused before the state is made again', async (t) => {
  const directory = temporaryDirectory(t);
  const first = await DevnetWorld.start(t, { directory });
  await first.mine();
  await first.app.stop();
  const state = join(directory, 'state.sqlite');
  for (const suffix of ['', '-wal', '-shm', '-sums']) rmSync(`${state}${suffix}`, { force: true });
  const traders = { ...quietTraders(), wallets: 2 };
  const other = () => DevnetWorld.start(t, { directory, devnet: { traders, pace: 0, seed: 1 } });
  await assert.rejects(other, /another genesis.*npm start -- reset/);
  assert(!existsSync(state), 'nothing was made');
  const again = await DevnetWorld.start(t, { directory });
  assert(existsSync(state));
  assert.equal(again.app.app.node.applied().epoch, first.app.app.node.applied().epoch);
});
