/** Draws `bench/peers.svg` from the table of `peers` in RESULTS.md: two groups of bars. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const RESULTS = join(import.meta.dirname, '../RESULTS.md');
const CHART = join(import.meta.dirname, '../peers.svg');
const TABLE = /<!-- numbers: peers -->\n([\s\S]*?)<!-- end of peers -->/;

const WIDTH = 760;
const LEFT = 150;
const BAR = 18;
const STEP = 26;
const GROUP = 34;
const LONGEST = WIDTH - LEFT - 90;
const OURS = '#2563eb';
const OTHERS = '#94a3b8';

interface Group {
  readonly title: string;
  readonly column: number;
  readonly unit: string;
}

/** Columns of the table, from 0. */
const GROUPS: readonly Group[] = [
  { title: 'CPU for a message at 1,000 trades/s (less is better)', column: 5, unit: 'µs' },
  { title: 'From line to socket at 1,000 trades/s, p99 (less is better)', column: 7, unit: 'ms' },
];

export function drawPeers(): void {
  const [, section = ''] = TABLE.exec(readFileSync(RESULTS, 'utf8')) ?? [];
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const height = GROUPS.length * (GROUP + rows.length * STEP) + 10;
  const parts = GROUPS.map((group, at) =>
    drawGroup(group, rows, at * (GROUP + rows.length * STEP)),
  );
  const open =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" ` +
    `width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13">`;
  const name = 'Servers compared: CPU for a message, and time from line to socket';
  const ground = `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`;
  writeFileSync(CHART, `${open}\n<title>${name}</title>\n${ground}\n${parts.join('\n')}\n</svg>\n`);
}

function drawGroup(
  { title, column, unit }: Group,
  rows: readonly (readonly string[])[],
  top: number,
): string {
  // A row begins with an empty cell, before its first bar.
  const values = rows.map((row) => Number((row[column + 1] ?? '').replaceAll(',', '')));
  const most = Math.max(...values.filter(Number.isFinite));
  const lines = [`<text x="10" y="${top + 22}" font-weight="bold">${title}</text>`];
  rows.forEach((row, at) => {
    const y = top + GROUP + at * STEP;
    const value = values[at] ?? Number.NaN;
    const length = Number.isFinite(value) ? Math.max(1, (value / most) * LONGEST) : 0;
    const said = Number.isFinite(value) ? `${row[column + 1]} ${unit}` : 'none arrived in time';
    lines.push(
      `<text x="${LEFT - 8}" y="${y + 13}" text-anchor="end">${row[1]}</text>`,
      `<rect x="${LEFT}" y="${y}" width="${length.toFixed(1)}" height="${BAR}" ` +
        `fill="${at === 0 ? OURS : OTHERS}"/>`,
      `<text x="${(LEFT + length + 6).toFixed(1)}" y="${y + 13}">${said}</text>`,
    );
  });
  return lines.join('\n');
}
