/**
 * `export`: writes the trades or bars of tokens as files of a day each, as exchanges publish them.
 * Reads a running server through its API, from the newest row to the oldest.
 */

import { join } from 'node:path';
import { ApiError, Client, type Resolution } from '../../../client/index.ts';
import type { AssetId } from '../../../engine/market/asset.ts';
import type { Clock } from '../../../engine/runtime/clock.ts';
import { counted } from '../../../engine/runtime/counted.ts';
import { assetNamed, DONE, FAILED } from '../commandContext.ts';
import type { ExportCommand } from '../commands/dump.ts';
import { Progress, type ProgressOutput } from '../progress.ts';
import { dayOf, endOfDay, startOfDay, writeDumpFile } from './files.ts';
import { BAR_COLUMNS, encodeRows, type Row, TRADE_COLUMNS } from './format.ts';

interface ExportDeps {
  readonly clock: Clock;
  /** Standard error. */
  readonly terminal: ProgressOutput;
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
  const progress = new Progress('export', deps.clock, deps.terminal);
  try {
    const assets: AssetId[] = [];
    for (const token of command.tokens) {
      const asset = await assetNamed(token, client, deps.complain);
      if (asset === null) return FAILED;
      assets.push(asset);
    }
    for (const [at, asset] of assets.entries()) {
      const { files, rows } = await exportToken(client, asset, command, (share) =>
        progress.show(at + share, assets.length),
      );
      progress.end();
      const kind = command.resolution === null ? 'trade' : `${command.resolution} bar`;
      deps.say(`${asset}: ${counted(rows, kind)} in ${counted(files, 'file')}`);
    }
    return DONE;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    deps.complain(`${error.cause}: ${error.message}`);
    return FAILED;
  } finally {
    progress.end();
    deps.signal.removeEventListener('abort', stop);
    client.close();
  }
}

async function exportToken(
  client: Client,
  asset: string,
  command: ExportCommand,
  written: (share: number) => void,
) {
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
  const firstDay = command.fromDay ?? (await launchDay(client, asset));
  let lastDay: string | null = null;
  for await (const { day, rows } of days(pages)) {
    const path = join(directory, asset, kind, `${day}.${format}`);
    await writeDumpFile(path, await encodeRows(columns, rows, format));
    count.files += 1;
    count.rows += rows.length;
    lastDay ??= day;
    if (firstDay !== null) written(shareOf(day, lastDay, firstDay));
  }
  return count;
}

/** How much of the time between the last day and the first one lies behind `day`. */
function shareOf(day: string, lastDay: string, firstDay: string): number {
  const [at, last, first] = [day, lastDay, firstDay].map((each) => startOfDay(each) ?? 0);
  const [behind, whole] = [(last ?? 0) - (at ?? 0), (last ?? 0) - (first ?? 0)];
  return whole <= 0 ? 1 : Math.min(1, behind / whole);
}

/** null: not known, as for a pair of a feed; then the share that is left is not known either. */
async function launchDay(client: Client, asset: string): Promise<string | null> {
  try {
    const { data } = await client.pools.one(asset);
    const { createdOn } = data.pool;
    return createdOn === null ? null : dayOf(createdOn);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
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
