/** Vectors nobody here wrote, from ../shared/data/vectors; use with `skipWithoutData`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../../../shared/data/vectors');

export function vectorFile(name: string): unknown {
  return JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
}
