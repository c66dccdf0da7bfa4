/** Writes `src/client/wire/` again, from the schemas as they are now. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { startDevnet } from '../support/devnet.ts';
import { wireFilesOf } from './wireTypes.ts';

const folder = new URL('../../src/client/wire/', import.meta.url);
const ends: (() => void | Promise<void>)[] = [];
const url = await startDevnet({ after: (end) => ends.push(end) });
mkdirSync(folder, { recursive: true });
for (const { name, text } of await wireFilesOf(url)) writeFileSync(new URL(name, folder), text);
for (const end of ends) await end();
