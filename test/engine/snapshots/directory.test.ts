/** The snapshots of a single node: the contract, and the names of the files. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DirectorySnapshots } from '../../../src/engine/snapshots/directory.ts';
import type { Snapshot } from '../../../src/engine/snapshots/port.ts';
import { snapshotStoreContract } from '../../contracts/snapshots.ts';

snapshotStoreContract('directory', async (_scope, directory, observer) => {
  const folder = join(directory, 'snapshots');
  const store = new DirectorySnapshots(directory, observer);
  return {
    store,
    names: async () => readdirSync(folder),
    async damage({ name, checkpoint: { epoch, seq } }: Snapshot) {
      assert.equal(name, `${epoch}-${seq}`);
      const path = join(folder, `${name}.sqlite`);
      const bytes = readFileSync(path);
      const middle = Math.floor(bytes.length / 2);
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    },
    async leaveHalf() {
      assert.ok(readdirSync(folder).every((name) => /^1-.*-\d+\.sqlite(-sums)?$/.test(name)));
      writeFileSync(join(folder, '1-lost-77.sqlite-sums'), 'half');
    },
  };
});
