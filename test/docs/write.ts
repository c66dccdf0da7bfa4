/** Writes the files that are made from the code: `node test/docs/write.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFERENCES } from './references.ts';

for (const [name, page] of Object.entries(REFERENCES)) {
  writeFileSync(join(import.meta.dirname, '../..', name), page());
}
