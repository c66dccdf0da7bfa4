/** A bench: a name, and a function that measures and answers a table. */

export interface Scale {
  /** Length of one measured window. */
  readonly seconds: number;
  /** Windows of each side; the sides alternate, so that drift of the machine falls on both. */
  readonly rounds: number;
  /** Trades folded. */
  readonly trades: number;
  /** How long a page stays open. */
  readonly visitSeconds: number;
  /** How long the soak runs. */
  readonly soakMinutes: number;
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Findings about this run that belong beside its numbers. */
  readonly notes: readonly string[];
}

export interface Bench {
  readonly name: string;
  measure(scale: Scale, progress: (what: string) => void): Promise<Table>;
}

export const FULL: Scale = {
  seconds: 4,
  rounds: 3,
  trades: 200_000,
  visitSeconds: 600,
  soakMinutes: 60,
};
export const QUICK: Scale = {
  seconds: 1,
  rounds: 1,
  trades: 20_000,
  visitSeconds: 60,
  soakMinutes: 2,
};

/** A Markdown table whose columns line up as plain text too. */
export function markdown({ columns, rows }: Table): string {
  const all = [columns, ...rows];
  const widths = columns.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, at) => align(cells[at] ?? '', width, at)).join(' | ')} |`;
  const rule = `|${widths.map(dashes).join('|')}|`;
  return [line(columns), rule, ...rows.map(line)].join('\n');
}

/** The first column names the row, the others are numbers. */
function align(text: string, width: number, at: number): string {
  return at === 0 ? text.padEnd(width) : text.padStart(width);
}

function dashes(width: number, at: number): string {
  return at === 0 ? '-'.repeat(width + 2) : ` ${'-'.repeat(width)}:`;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function fixed(value: number, digits = 2): string {
  return value.toFixed(digits);
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
