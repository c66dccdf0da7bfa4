/**
 * Figures of coverage: executable lines and arms (`code.ts`) against executed characters
 * (`executed.ts`).
 */
import { codeOf } from './code.ts';

export interface Share {
  readonly ran: number;
  readonly all: number;
}

export interface FileCoverage {
  readonly path: string;
  readonly isLoaded: boolean;
  readonly lines: Share;
  readonly branches: Share;
  /** Lines of code that never ran, from 1. */
  readonly missed: readonly number[];
}

/** `executed` is null for a file that no process loaded. */
export function coverageOf(path: string, text: string, executed: Uint8Array | null): FileCoverage {
  const { lines, arms } = codeOf(text, path);
  const hasRun = (offset: number) => executed?.[offset] === 1;
  const missed = [...lines].filter(([, offsets]) => !offsets.some(hasRun)).map(([line]) => line);
  return {
    path,
    isLoaded: executed !== null,
    lines: { ran: lines.size - missed.length, all: lines.size },
    branches: { ran: arms.filter(hasRun).length, all: arms.length },
    missed: missed.sort((a, b) => a - b),
  };
}

/** A row for each folder of src/, and one for all. */
export function table(files: readonly FileCoverage[]): string {
  const rooms = Map.groupBy(files, ({ path }) => path.split('/').slice(0, 2).join('/'));
  const rows = [...rooms, ['all', files] as const].map(([room, within]) => {
    const lines = shareText(within.map((file) => file.lines));
    return [room, lines, shareText(within.map(({ branches }) => branches))];
  });
  return [['', 'lines', 'branches'], ...rows]
    .map(([room = '', lines = '', branches = '']) =>
      [room.padEnd(14), lines.padStart(24), branches.padStart(24)].join(''),
    )
    .join('\n');
}

function shareText(shares: readonly Share[]): string {
  const ran = shares.reduce((sum, share) => sum + share.ran, 0);
  const all = shares.reduce((sum, share) => sum + share.all, 0);
  return all === 0 ? '–' : `${((100 * ran) / all).toFixed(1)} % of ${all}`;
}

/** The lines that never ran, file by file, as ranges: `src/a/b.ts: 3, 10-14`. */
export function missedText(files: readonly FileCoverage[]): string {
  return files
    .filter(({ missed }) => missed.length > 0)
    .map(({ path, missed }) => `${path}: ${rangesOf(missed)}\n`)
    .join('');
}

function rangesOf(lines: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
