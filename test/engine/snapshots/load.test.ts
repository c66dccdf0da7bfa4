/** What a search for a snapshot asks of the store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../../src/engine/log/port.ts';
import { loadSnapshot } from '../../../src/engine/snapshots/load.ts';
import type { Snapshot } from '../../../src/engine/snapshots/port.ts';
import { temporaryDirectory } from '../../support/server.ts';

const OBSERVER = {
  snapshotLoaded: () => assert.fail('there is none'),
  snapshotUnusable: () => assert.fail('there is none'),
};

test('a node that has all of the log asks for no list of snapshots', async () => {
  let lists = 0;
  const store = {
    list: async (): Promise<readonly Snapshot[]> => {
      lists += 1;
      return [];
    },
    get: async () => assert.fail('there is none'),
  };
  // trust: without a snapshot nothing is asked of the log
  const log = {} as Log;
  const path = `${temporaryDirectory()}/loaded.sqlite`;
  for (const [after, upTo] of [
    [5, 5],
    [5, 0],
    [5, 6],
  ] as const) {
    assert.equal(await loadSnapshot(path, { upTo, after }, store, log, OBSERVER), null);
  }
  assert.equal(lists, 1, 'one may lie behind entry 5 where the log has more');
});
