/** Writes the files that are made from the code: `node scripts/writePages.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFERENCES } from '../test/docs/references.ts';

for (const [name, page] of Object.entries(REFERENCES)) {
  writeFileSync(join(import.meta.dirname, '..', name), page());
}
