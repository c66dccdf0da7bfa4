/**
 * Which characters of our files ran, from what V8 counted. Node writes a file for each process and
 * thread that ends by itself into the folder that NODE_V8_COVERAGE names; a process that is killed
 * or terminated writes no file.
 *
 * Assumes: types were blanked, so an offset in what ran is one in the file.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

export interface ScriptCoverage {
  /** Address of a file: `file:///…`. */
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

/** Address of a file → a byte for each of its characters, 1 where it ran. */
export type Executed = ReadonlyMap<string, Uint8Array>;

/** Characters that ran in any process, of files whose address starts with `prefix`. */
export function executedIn(folder: string, prefix: string): Executed {
  const executed = new Map<string, Uint8Array>();
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    // trust: Node and test/browser/coverage.ts write these files
    const { result } = JSON.parse(text) as { result: readonly ScriptCoverage[] };
    for (const script of result) {
      if (!script.url.startsWith(prefix)) continue;
      const ran = ranCharacters(script.functions);
      const before = executed.get(script.url);
      executed.set(script.url, before === undefined ? ran : either(before, ran));
    }
  }
  return executed;
}

/** A byte for each character. Ranges are nested, and the innermost says what ran. */
export function ranCharacters(functions: ScriptCoverage['functions']): Uint8Array {
  const ranges = functions
    .flatMap((each) => each.ranges)
    .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const ran = new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
  for (const { startOffset, endOffset, count } of ranges) {
    ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  return ran;
}

function either(a: Uint8Array, b: Uint8Array): Uint8Array {
  const [long, short] = a.length < b.length ? [b, a] : [a, b];
  for (const [offset, ran] of short.entries()) if (ran === 1) long[offset] = 1;
  return long;
}
