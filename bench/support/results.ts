/** Puts the numbers of a bench between its markers in RESULTS.md; the prose around them stays. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { markdown, type Table } from './bench.ts';

const FILE = join(import.meta.dirname, '../RESULTS.md');

export function record(name: string, table: Table): void {
  const text = readFileSync(FILE, 'utf8');
  const start = `<!-- numbers: ${name} -->\n`;
  const end = `<!-- end of ${name} -->`;
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`RESULTS.md has no place for the numbers of ${name}`);
  const lines = [machine(), ...table.notes].map((line) => `- ${line}\n`).join('');
  const numbers = `\n${markdown(table)}\n\n${lines}\n`;
  writeFileSync(FILE, text.slice(0, from + start.length) + numbers + text.slice(to));
}

function machine(): string {
  const all = cpus();
  const memoryGb = Math.round(totalmem() / 1024 ** 3);
  const day = new Date().toISOString().slice(0, 10);
  const model = all[0]?.model.trim() ?? 'unknown processor';
  return `${day}, ${all.length} cores (${model}), ${memoryGb} GB, Node ${process.version}.`;
}
