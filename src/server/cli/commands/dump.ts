/** The commands `export` and `import`. */
import { CHART_RESOLUTIONS, type ChartResolution } from '../../../engine/market/resolution.ts';
import { command } from '../command.ts';
import { startOfDay } from '../dump/files.ts';
import { DUMP_FORMATS, type DumpFormat } from '../dump/format.ts';
import { BAD_URL, serverUrl, type TokenName, tokenName, URL_OPTION } from './server.ts';

export interface ExportCommand {
  readonly name: 'export';
  readonly url: string;
  readonly tokens: readonly TokenName[];
  /** Bars of it; null: trades. */
  readonly resolution: ChartResolution | null;
  readonly format: DumpFormat;
  readonly directory: string;
  /** First and last day; null: the first or last day that has rows. */
  readonly fromDay: string | null;
  readonly toDay: string | null;
}

export interface ImportCommand {
  readonly name: 'import';
  readonly directory: string;
  /** Stops after the last trade. */
  readonly exit: boolean;
}

const DIRECTORY = './dump';

export const EXPORT = command({
  name: 'export',
  group: 'server',
  uses: [['--pair TOKEN', 'its trades, a file and its SHA-256 for each day']],
  options: {
    pair: { value: 'TOKEN', about: 'ticker or id, or several with commas between' },
    resolution: { value: 'min1', about: 'bars instead; or min3, min5, … month1' },
    format: { value: 'csv', about: 'csv, ndjson or parquet (default csv)' },
    from: { value: 'DAY', about: 'first day, UTC: 2026-11-01 (default: all)' },
    to: { value: 'DAY', about: 'last day' },
    out: { value: 'DIR', about: 'where to write (default ./dump)' },
    ...URL_OPTION,
  },
  parse(_rest, values): ExportCommand | string {
    const url = serverUrl(values);
    if (url === null) return BAD_URL;
    const named = typeof values.pair === 'string' ? values.pair.split(',').map(tokenName) : [];
    const tokens = named.filter((token) => token !== null);
    if (tokens.length === 0 || tokens.length < named.length) {
      return '--pair takes tickers or ids of tokens, <policy>.<name in hex>, separated by commas';
    }
    const { resolution = null, format = 'csv' } = values;
    const known = CHART_RESOLUTIONS.find((one) => one === resolution) ?? null;
    if (known === null && resolution !== null) {
      return `--resolution takes ${CHART_RESOLUTIONS.join(', ')}; without it trades are exported`;
    }
    const asked = DUMP_FORMATS.find((one) => one === format);
    if (asked === undefined) return `--format takes ${DUMP_FORMATS.join(', ')}`;
    const [fromDay, toDay] = [dayOption(values.from), dayOption(values.to)];
    if (fromDay === 'wrong' || toDay === 'wrong') return '--from and --to take days: 2026-11-23';
    if (fromDay !== null && toDay !== null && fromDay > toDay) return '--from is after --to';
    const directory = typeof values.out === 'string' ? values.out : DIRECTORY;
    return {
      name: 'export',
      url,
      tokens,
      resolution: known,
      format: asked,
      directory,
      fromDay,
      toDay,
    };
  },
  async run(args, shell) {
    const { runExport } = await import('../dump/export.ts');
    return runExport(args, shell);
  },
});

export const IMPORT = command({
  name: 'import',
  group: 'data',
  uses: [['DIR', 'the same with the trades of an export, checked first']],
  options: { exit: { about: 'stop after the last trade' } },
  takes: 1,
  parse([directory], { exit }): ImportCommand | string {
    if (directory === undefined) {
      return 'import needs the directory of a dump, as export writes it';
    }
    return { name: 'import', directory, exit: exit === true };
  },
  async run(args, shell) {
    const { importDump } = await import('../serve.ts');
    return importDump(args, shell.appDeps(), shell.terminal);
  },
});

/** null: none. */
function dayOption(value: string | boolean | undefined): string | null | 'wrong' {
  if (typeof value !== 'string') return null;
  return startOfDay(value) === null ? 'wrong' : value;
}
