/** Verdicts of the foreign evaluator, kept in `test/data/judge/verdicts.json`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import { decodeOutput, parseRef, refText } from '../../../src/cardano/codec/output.ts';
import { type Case, casesOf, theirs, type Verdict } from './cases.ts';

const DIRECTORY = join(import.meta.dirname, '../../data/judge');
const FILE = join(DIRECTORY, 'verdicts.json');
/** The models of 2025, and today's. */
const KEPT = ['544', '645'];

interface Kept extends Case {
  readonly verdict: Verdict;
}

interface KeptFile {
  /** By hash of the text: many cases name the same outputs. */
  readonly outputs: readonly string[];
  readonly cases: readonly {
    readonly name: string;
    readonly epoch: string;
    readonly tx: string;
    /** Reference, and the place of the output in `outputs`. */
    readonly utxos: readonly (readonly [string, number])[];
    readonly verdict: Verdict;
  }[];
}

function vectorsText(kept: readonly Kept[]): string {
  const outputs = [...new Set(kept.flatMap(({ utxos }) => utxos.map(({ output }) => output.cbor)))];
  const cases = kept.map(({ name, epoch, tx, utxos, verdict }) => {
    const named = utxos.map(({ ref, output }) => [refText(ref), outputs.indexOf(output.cbor)]);
    return JSON.stringify({ name, epoch, tx: toHex(tx), utxos: named, verdict });
  });
  const texts = outputs.map((cbor) => JSON.stringify(cbor));
  return `{"outputs":[\n${texts.join(',\n')}\n],"cases":[\n${cases.join(',\n')}\n]}\n`;
}

export function writeVectors(): void {
  const cases = KEPT.flatMap(casesOf);
  const verdicts = theirs(cases);
  const kept = cases.map((each, at): Kept => ({ ...each, verdict: verdicts[at] ?? null }));
  mkdirSync(DIRECTORY, { recursive: true });
  writeFileSync(FILE, vectorsText(kept));
}

export function readVectors(): Kept[] {
  // trust: written by `writeVectors`
  const { outputs, cases } = JSON.parse(readFileSync(FILE, 'utf8')) as KeptFile;
  const read = outputs.map((cbor) => decodeOutput(fromHex(cbor)));
  return cases.map(({ tx, utxos, ...rest }) => ({
    ...rest,
    tx: fromHex(tx),
    utxos: utxos.flatMap(([text, at]) => {
      const [ref, output] = [parseRef(text), read[at]];
      return ref === null || output === undefined ? [] : [{ ref, output }];
    }),
  }));
}
