/**
 * Loads `.ts` files from what `strip.ts` made of them: `node --import ./pack/useStripped.mjs`. Node's
 * own stripper costs each thread about 15 MiB and a process of all modules 0.3 s of CPU; positions
 * in stack traces stay, as types became spaces. A file without a stripped copy (new, edited, or a
 * folder that could not be written) goes to Node's stripper as always. Scalus is loaded by
 * `scalusCode.mjs`.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { loadScalus } from './scalusCode.mjs';
import { STRIPPED_FOLDER, strippedName } from './strippedSources.mjs';

// Not by `require`: where an `import` asks for it, that one links no module of ours.
const name = 'upcurve scalus';
Object.defineProperty(globalThis, Symbol.for(name), { value: loadScalus });
const LOAD_SCALUS = `globalThis[Symbol.for('${name}')](module, require, __filename);`;

registerHooks({
  load(url, context, next) {
    if (!url.startsWith('file:')) return next(url, context);
    if (url.endsWith('/node_modules/scalus/scalus.js')) {
      return { format: 'commonjs', source: LOAD_SCALUS, shortCircuit: true };
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
