import { parseDurationMs, parseNumber } from '../amounts.ts';
import { command } from '../command.ts';

export interface ReplayCommand {
  readonly name: 'replay';
  /** `-` is standard input. */
  readonly file: string;
  /** Feed time per wall time; null: as fast as possible. */
  readonly speed: number | null;
  readonly latenessMs: number;
  readonly allowFuture: boolean;
  readonly allowPast: boolean;
  /** The command fails if any line is refused; otherwise only if more than half are. */
  readonly strict: boolean;
  readonly exit: boolean;
}

/** Bars stay open this long, and the leader keeps the end of each in memory. */
const MAX_LATENESS_MS = 86_400_000;

export const REPLAY = command({
  name: 'replay',
  group: 'data',
  uses: [['FILE', 'feed trades (NDJSON, .gz too; - is stdin), then serve']],
  options: {
    speed: { value: 'N|max', about: 'feed time per wall time (default max)' },
    lateness: { value: '60s', about: 'how late a trade may come: 500ms, 60s, 5m (default 60s)' },
    'allow-future': { about: 'take trades of a time more than a day ahead of the clock' },
    'allow-past': { about: 'take trades of a time before 2009' },
    strict: { about: 'end with code 1 if any line is refused, not only if most are' },
    exit: { about: 'stop after the file' },
  },
  takes: 1,
  parse([file], values): ReplayCommand | string {
    if (file === undefined) return 'replay needs a file, or - for standard input';
    const speed = parseSpeed(String(values.speed ?? 'max'));
    if (speed === 'wrong') return '--speed takes a number above 0, or max';
    const latenessMs = parseDurationMs(String(values.lateness ?? '60s'));
    if (latenessMs === null || latenessMs > MAX_LATENESS_MS) {
      return '--lateness takes a duration such as 500ms, 60s, 5m or 2h, at most 24h';
    }
    return {
      name: 'replay',
      file,
      speed,
      latenessMs,
      allowFuture: values['allow-future'] === true,
      allowPast: values['allow-past'] === true,
      strict: values.strict === true,
      exit: values.exit === true,
    };
  },
  async run(args, shell) {
    const { replay } = await import('../serve.ts');
    return replay(args, shell.appDeps(), shell.terminal);
  },
});

function parseSpeed(text: string): number | null | 'wrong' {
  if (text === 'max') return null;
  const speed = parseNumber(text);
  return speed !== null && speed > 0 ? speed : 'wrong';
}
