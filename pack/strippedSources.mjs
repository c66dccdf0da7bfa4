/**
 * Where the sources lie without their types: one file each, named by the SHA-256 of the source it was
 * made of, so a source that has changed since finds none. Plain JavaScript, because `useStripped.mjs`
 * reads it before any TypeScript is loaded.
 */
import { hash } from 'node:crypto';
import { fileURLToPath } from 'node:url';

export const STRIPPED_FOLDER = fileURLToPath(
  new URL('../node_modules/.cache/stripped', import.meta.url),
);

/** @param {string} source text of a `.ts` file */
export function strippedName(source) {
  return `${hash('sha256', source)}.mjs`;
}
