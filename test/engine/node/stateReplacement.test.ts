/** How often a node that waits looks for a snapshot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '../../../src/engine/log/port.ts';
import type { Committer } from '../../../src/engine/node/committer.ts';
import { StateReplacement } from '../../../src/engine/node/stateReplacement.ts';
import { dataFiles } from '../../../src/engine/recovery/dataFiles.ts';
import type { StateStore } from '../../../src/engine/store/state.ts';
import { temporaryDirectory } from '../../support/server.ts';

test('a node that waits looks for a snapshot once for each end of the log', async () => {
  const searched: string[] = [];
  let [from, end] = [5, 6];
  // trust: of log, committer and store a search that finds nothing asks this
  const log = { last: async () => ({ seq: end }) } as unknown as Log;
  const store = () => ({ checkpoint: { seq: from } }) as unknown as StateStore;
  const options = {
    takeSnapshot: async (_file: string, upTo: number, after = 0) => {
      searched.push(`${after} to ${upTo}`);
      return null;
    },
  };
  type Options = ConstructorParameters<typeof StateReplacement>[2];
  const replacement = new StateReplacement(
    log,
    dataFiles(temporaryDirectory()),
    options as unknown as Options,
    {} as Committer,
  );
  const look = async () => assert.equal(await replacement.useSnapshot(store()), false);
  for (let check = 0; check < 3; check += 1) await look();
  assert.deepEqual(searched, ['5 to 6']);
  end = 7;
  await look();
  from = 6;
  await look();
  await look();
  assert.deepEqual(searched, ['5 to 6', '5 to 7', '6 to 7']);
});
