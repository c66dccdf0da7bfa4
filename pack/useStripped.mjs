/**
 * Loads `.ts` files from what `strip.ts` made of them: `node --import ./pack/useStripped.mjs`. Node's own
 * stripper costs each thread about 15 MiB and a process of all modules 0.3 s of CPU; positions in
 * stack traces stay, as types became spaces. A file without a stripped copy (new, edited, or a
 * folder that could not be written) goes to Node's stripper as always.
 *
 * Scalus is loaded in ASCII: V8 keeps a text in two bytes a character where a single one needs them,
 * which of its 2.7 MB are 38, and keeps it in each thread that loads it.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { STRIPPED_FOLDER, strippedName } from './strippedSources.mjs';

registerHooks({
  load(url, context, next) {
    if (!url.startsWith('file:')) return next(url, context);
    if (url.endsWith('/node_modules/scalus/scalus.js')) {
      return { format: 'commonjs', source: readAsAscii(fileURLToPath(url)), shortCircuit: true };
    }
    if (!url.endsWith('.ts')) return next(url, context);
    const stripped = readStripped(fileURLToPath(url));
    if (stripped === null) return next(url, context);
    return { format: 'module', source: stripped, shortCircuit: true };
  },
});

/** @param {string} path */
function readStripped(path) {
  try {
    return readFileSync(`${STRIPPED_FOLDER}/${strippedName(readFileSync(path, 'utf8'))}`, 'utf8');
  } catch {
    return null;
  }
}

/**
 * Its other characters stand in strings, where an escape means the same.
 *
 * @param {string} path
 */
function readAsAscii(path) {
  return readFileSync(path, 'latin1').replace(/[\x80-\xff]+/g, (bytes) => {
    const units = Buffer.from(bytes, 'latin1').toString('utf8').split('');
    return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  });
}
