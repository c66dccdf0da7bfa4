/** The command line: what to do, checked. */
import { parseArgs } from 'node:util';

export type Command =
  | { readonly name: 'serve' }
  | { readonly name: 'help' }
  | { readonly name: 'verify' }
  | ReplayCommand;

export interface ReplayCommand {
  readonly name: 'replay';
  /** `-` is standard input. */
  readonly file: string;
  /** Feed time per wall time; null: as fast as it goes. */
  readonly speed: number | null;
  readonly latenessMs: number;
  readonly exit: boolean;
}

export const USAGE = `upcurve: the server behind a token launchpad.

  npm start                         serve what is in DATA_DIR
  npm start -- replay FILE [...]    feed trades (NDJSON, .gz too; - is standard input), then serve
      --speed N|max     feed time per wall time (default max)
      --lateness 60s    how late a trade may come: 500ms, 60s, 5m, 2h (default 60s)
      --exit            stop after the file
  npm start -- --verify             compare the state with a rebuild from the log, then exit
  npm start -- --help               this, and every setting
`;

const OPTIONS = {
  help: { type: 'boolean' },
  verify: { type: 'boolean' },
  speed: { type: 'string' },
  lateness: { type: 'string' },
  exit: { type: 'boolean' },
} as const;

/** Bars stay open for so long, and the leader remembers when each of them ends. */
const MAX_LATENESS_MS = 86_400_000;
const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The command, or what is wrong with it. */
export function parseCommand(args: readonly string[]): Command | string {
  const parsed = parse(args);
  if (typeof parsed === 'string') return parsed;
  const { values, positionals } = parsed;
  const [name, file, ...more] = positionals;
  if (values.help === true || name === 'help') return { name: 'help' };
  if (name !== 'replay') {
    const stray = Object.keys(values).find((key) => key !== 'verify');
    if (stray !== undefined) return `--${stray} goes with replay`;
    if (file !== undefined) return `unexpected argument: ${file}`;
    if (values.verify === true || name === 'verify') return { name: 'verify' };
    if (name === undefined || name === 'serve') return { name: 'serve' };
    return `unknown command: ${name}`;
  }
  if (file === undefined) return 'replay needs a file, or - for standard input';
  if (more.length > 0) return `unexpected argument: ${more[0]}`;
  const speed = parseSpeed(values.speed ?? 'max');
  if (speed === 'wrong') return '--speed takes a number above 0, or max';
  const latenessMs = parseDuration(values.lateness ?? '60s');
  if (latenessMs === null)
    return '--lateness takes a duration such as 500ms, 60s, 5m or 2h, at most 24h';
  return { name: 'replay', file, speed, latenessMs, exit: values.exit === true };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function parseSpeed(text: string): number | null | 'wrong' {
  if (text === 'max') return null;
  const speed = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  return speed > 0 ? speed : 'wrong';
}

function parseDuration(text: string): number | null {
  if (text === '0') return 0;
  const match = /^(\d{1,9})(ms|s|m|h)$/.exec(text);
  const unitMs = UNITS_MS[match?.[2] ?? ''];
  if (match === null || unitMs === undefined) return null;
  const durationMs = Number(match[1]) * unitMs;
  return durationMs <= MAX_LATENESS_MS ? durationMs : null;
}
