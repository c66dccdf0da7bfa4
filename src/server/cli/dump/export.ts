/**
 * `export`: writes the trades or bars of tokens as files of a day each, as exchanges publish them.
 * Reads a running server through its API, from the newest row to the oldest.
 */
import { join } from 'node:path';
import { ApiError, Client, type Resolution } from '../../../client/index.ts';
import { DONE, FAILED } from '../commandContext.ts';
import type { ExportCommand } from './command.ts';
import { dayOf, endOfDay, startOfDay, writeDumpFile } from './files.ts';
import { BAR_COLUMNS, encodeRows, type Row, TRADE_COLUMNS } from './format.ts';

export interface ExportDeps {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  say(line: string): void;
  complain(line: string): void;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

const PAGE = 500;
const END_OF_TIME = 253_402_300_799;

export async function runExport(command: ExportCommand, deps: ExportDeps): Promise<number> {
  const client = new Client({ url: command.url, fetch: deps.fetch });
  const stop = () => client.close();
  deps.signal.addEventListener('abort', stop, { once: true });
  try {
    for (const asset of command.assets) {
      const { files, rows } = await exportToken(client, asset, command);
      const kind = command.resolution === null ? 'trades' : `${command.resolution} bars`;
      deps.say(`${asset}: ${rows} ${kind} in ${files} files`);
    }
    return DONE;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    deps.complain(`${error.cause}: ${error.message}`);
    return FAILED;
  } finally {
    deps.signal.removeEventListener('abort', stop);
    client.close();
  }
}

async function exportToken(client: Client, asset: string, command: ExportCommand) {
  const { resolution, format, directory } = command;
  const kind = resolution ?? 'trades';
  const columns = resolution === null ? TRADE_COLUMNS : BAR_COLUMNS;
  const span = {
    from: (command.fromDay === null ? null : startOfDay(command.fromDay)) ?? 0,
    to: (command.toDay === null ? null : endOfDay(command.toDay)) ?? END_OF_TIME,
  };
  const pages =
    resolution === null
      ? tradePages(client, asset, span)
      : barPages(client, asset, span, resolution);
  const count = { files: 0, rows: 0 };
  for await (const { day, rows } of days(pages)) {
    const path = join(directory, asset, kind, `${day}.${format}`);
    await writeDumpFile(path, encodeRows(columns, rows, format));
    count.files += 1;
    count.rows += rows.length;
  }
  return count;
}

/** Newest first, each row once. */
async function* tradePages(client: Client, asset: string, span: Span): AsyncGenerator<Row[]> {
  for (let before: string | null = null; ; ) {
    const query = { asset, ...span, limit: PAGE, ...(before === null ? {} : { before }) };
    const { data } = await client.trades.list(query);
    yield data.map((row) => ({ ...row }));
    before = data.at(-1)?.id ?? null;
    if (data.length < PAGE || before === null) return;
  }
}

/** Newest first. */
async function* barPages(
  client: Client,
  base: string,
  span: Span,
  resolution: Resolution,
): AsyncGenerator<Row[]> {
  for (let to: number | null = span.to; to !== null; ) {
    const query = { base, quote: '.', resolution, from: span.from, to };
    const { data, nextTo } = await client.charts.history(query);
    yield data.map(({ pair: _, ...bar }) => bar).reverse();
    to = nextTo;
  }
}

/** Rows, newest first, as whole days with their rows oldest first. */
async function* days(pages: AsyncIterable<readonly Row[]>) {
  let day: string | null = null;
  let rows: Row[] = [];
  for await (const page of pages) {
    for (const row of page) {
      const its = dayOf(Number(row.time));
      if (day !== null && its !== day) {
        yield { day, rows: rows.reverse() };
        rows = [];
      }
      day = its;
      rows.push(row);
    }
  }
  if (day !== null) yield { day, rows: rows.reverse() };
}
