/**
 * Scalus as V8 compiled it at the installation: `strip.ts` keeps that, and a thread that loads
 * Scalus takes it. To compile its 2.7 MB takes 0.2 s and for a moment 46 MiB in each thread, most
 * of which the C library then keeps. Code of another Node, or of other options of V8, does not fit:
 * V8 notices, and compiles.
 *
 * In ASCII: V8 keeps a text in two bytes a character where a single one needs them, which of these
 * are 38, and keeps it in each thread that loads it.
 */
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { STRIPPED_FOLDER, strippedName } from './strippedSources.mjs';

/** The parameters that Node puts around the text of a CommonJS module. */
const PARAMETERS = 'exports, require, module';

/**
 * @param {NodeJS.Module} module to be filled
 * @param {NodeJS.Require} require
 * @param {string} filename of Scalus
 */
export function loadScalus(module, require, filename) {
  const source = read(filename);
  const code = readCode(codeName(source));
  const script = new Script(source, { filename, ...code });
  script.runInThisContext()(module.exports, require, module);
}

/**
 * @param {string} filename of Scalus
 * @param {NodeJS.Require} require
 * @returns {{ name: string, make(): Buffer }} of the file in `STRIPPED_FOLDER` that holds the code
 */
export function scalusCode(filename, require) {
  const source = read(filename);
  const make = () => {
    const script = new Script(source, { filename });
    const module = { exports: {} };
    // With what V8 compiles as the module runs.
    script.runInThisContext()(module.exports, require, module);
    return script.createCachedData();
  };
  return { name: codeName(source), make };
}

/** @param {string} source */
function codeName(source) {
  return `${strippedName(`${process.versions.v8} ${source}`)}.code`;
}

/** @param {string} name */
function readCode(name) {
  try {
    return { cachedData: readFileSync(`${STRIPPED_FOLDER}/${name}`) };
  } catch {
    return {};
  }
}

/**
 * Its characters beyond ASCII stand in strings, where an escape means the same.
 *
 * @param {string} filename
 */
function read(filename) {
  const text = readFileSync(filename, 'latin1').replace(/[\x80-\xff]+/g, (bytes) => {
    const units = Buffer.from(bytes, 'latin1').toString('utf8').split('');
    return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  });
  return `(function (${PARAMETERS}) {${text}\n})`;
}
