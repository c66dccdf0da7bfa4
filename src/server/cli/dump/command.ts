/** Arguments of `export` and `import`, checked. */
import { CHART_RESOLUTIONS, type ChartResolution } from '../../../engine/market/resolution.ts';
import type { Values } from '../options.ts';
import { BAD_URL, serverUrl, type TokenName, tokenName } from '../walletArguments.ts';
import { startOfDay } from './files.ts';
import { DUMP_FORMATS, type DumpFormat } from './format.ts';

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

/** A string is an error message. */
export function parseExport(rest: readonly string[], values: Values): ExportCommand | string {
  if (rest[0] !== undefined) return `unexpected argument: ${rest[0]}`;
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
}

/** A string is an error message. */
export function parseImport(rest: readonly string[], { exit }: Values): ImportCommand | string {
  const [directory, more] = rest;
  if (directory === undefined) return 'import needs the directory of a dump, as export writes it';
  if (more !== undefined) return `unexpected argument: ${more}`;
  return { name: 'import', directory, exit: exit === true };
}

/** null: none. */
function dayOption(value: string | boolean | undefined): string | null | 'wrong' {
  if (typeof value !== 'string') return null;
  return startOfDay(value) === null ? 'wrong' : value;
}
