/** Writes the types of both clients again, from the schemas of the server as they are now. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { documentsOf, wireFiles } from '../test/client/wireTypes.ts';
import { pythonFiles } from '../test/clients/pythonModels.ts';
import { startDevnet } from '../test/support/devnet.ts';

const ends: (() => void | Promise<void>)[] = [];
const documents = await documentsOf(await startDevnet({ after: (end) => ends.push(end) }));
for (const [path, files] of [
  ['../src/client/wire/', wireFiles(...documents)],
  ['../clients/python/src/upcurve/wire/', pythonFiles(...documents)],
] as const) {
  const folder = new URL(path, import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of files) writeFileSync(new URL(name, folder), text);
}
for (const end of ends) await end();
