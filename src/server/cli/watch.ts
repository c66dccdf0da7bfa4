/**
 * `watch` and `book`: show a list of pools, one token, or its order book, live. On a terminal they
 * draw in place; to a pipe they write the whole screen again, at most once a second.
 */

import { Client } from '../../client/index.ts';
import type { PoolListName, Ticker, TickersInput } from '../../client/types.ts';
import { parseAsset } from '../../engine/market/asset.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { messageOf } from '../../engine/runtime/errors.ts';
import { Task } from '../../engine/runtime/task.ts';
import { bookScreen } from './bookScreen.ts';
import type { BookCommand, WatchCommand } from './commands/watch.ts';
import { listScreen, plain, type Screen, statusLine, tokenScreen } from './watchScreen.ts';

interface Size {
  readonly columns: number;
  readonly rows: number;
}

interface WatchDeps {
  readonly clock: Clock;
  /** Only this command writes here. */
  write(text: string): void;
  complain(line: string): void;
  /** Size of the terminal; null: a pipe. */
  size(): Size | null;
  readonly isColoured: boolean;
  readonly stopAsked: Promise<unknown>;
}

interface Shown {
  /** Resolves when there is something to draw. */
  readonly ready: Promise<unknown>;
  lines(status: string, screen: Screen): string[];
  /** As the API has it. */
  data(): object;
  onChange(listener: () => void): void;
}

const DRAW_EVERY_MS = 200;
const WRITE_EVERY_MS = 1_000;
const PIPE = { columns: 120, rows: 60 };
const BARS = 200;

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';

/** Exit code: 0 when stopped, 1 if the server refuses or does not answer. */
export async function runWatch(
  command: WatchCommand | BookCommand,
  appDeps: WatchDeps,
): Promise<number> {
  const client = new Client({ url: command.url });
  try {
    // Reports a missing server now; a mirror would wait for it.
    await client.server.time();
    const shown = await show(client, command);
    const isReady = shown.ready.then(() => true);
    // The server may go away before its first answer; the user may stop waiting.
    if (!(await Promise.race([isReady, appDeps.stopAsked.then(() => false)]))) return 0;
    if (command.once) {
      appDeps.write(
        command.json ? jsonLine(shown) : `${picture(shown, client, appDeps).join('\n')}\n`,
      );
      return 0;
    }
    await draw(shown, client, { ...appDeps, isJson: command.json });
    return 0;
  } catch (error) {
    const why = messageOf(error);
    appDeps.complain(`${command.url}: ${plain(why)}`);
    return 1;
  } finally {
    client.close();
  }
}

async function show(client: Client, command: WatchCommand | BookCommand): Promise<Shown> {
  const asset = command.token === null ? null : await find(client, command.token);
  if (command.name === 'book') return showBook(client, asset ?? '', command.digits);
  return asset === null ? showList(client, command) : showToken(client, asset);
}

/** Returns an asset id unchanged; searches for anything else. */
async function find(client: Client, token: string): Promise<string> {
  const asset = parseAsset(token);
  if (asset !== null) return asset;
  const { data } = await client.pools.search({ pattern: token, limit: 1 });
  const [found] = data.items;
  if (found === undefined) throw new Error(`no token has "${token}" in its name, ticker or id`);
  return found.info.asset;
}

/**
 * The lists, as the topic `Tickers` orders them. They differ from the API's lists of pools: pairs
 * of a feed, which have no pool, are listed too.
 */
const LISTS: Readonly<Record<PoolListName, Pick<TickersInput, 'sort' | 'graduated'>>> = {
  New: { sort: 'createdOn' },
  Latest: { sort: 'lastTrade' },
  Trending: { sort: 'volume24h' },
  MCapDesc: { sort: 'marketCap', graduated: false },
  CompletedCreateOn: { sort: 'createdOn', graduated: true },
  CompletedMCap: { sort: 'marketCap', graduated: true },
};

function showList(client: Client, { list, bounds }: WatchCommand): Shown {
  const tickers = client.tickers({ ...LISTS[list], ...bounds });
  const launched = list === 'Latest' ? client.tickers({ sort: 'createdOn', ...bounds }) : null;
  const all = launched === null ? [tickers] : [tickers, launched];
  const items = () => (launched === null ? tickers.state : latestOf(tickers.state, launched.state));
  return {
    ready: Promise.all(all.map((mirror) => mirror.ready())),
    lines: (status, screen) => listScreen(list, items(), status, screen),
    data: () => ({ list, items: items() }),
    onChange(listener) {
      for (const mirror of all) mirror.onChange(listener);
    },
  };
}

/**
 * By last trade or, where there was none, by launch, as the API's list `Latest`. The topic has them
 * last. A token among the first of this list is among the first of one of the two.
 */
export function latestOf(traded: readonly Ticker[], launched: readonly Ticker[]): Ticker[] {
  const timeOf = ({ lastTradeTime, createdOn }: Ticker) => lastTradeTime ?? createdOn ?? 0;
  const all = new Map([...traded, ...launched].map((ticker) => [ticker.asset, ticker]));
  const first = [...all.values()].sort((a, b) => timeOf(b) - timeOf(a));
  return first.slice(0, Math.max(traded.length, launched.length));
}

function showToken(client: Client, asset: string): Shown {
  const pool = client.pool(asset);
  const bars = client.bars({ base: asset, quote: '.' }, 'min1', { limit: BARS, fill: 'previous' });
  const orders = client.orders(asset);
  const tickers = client.tickers({ assets: [asset] });
  const insights = client.watchInsights(asset);
  const all = [pool, bars, orders, tickers, insights];
  return {
    ready: Promise.all(all.map((mirror) => mirror.ready())),
    lines(status, screen) {
      const { standing, bars: traded } = bars.state;
      const shown = traded.length === 0 && standing !== null ? [standing] : traded;
      const change = tickers.state[0]?.change24h ?? undefined;
      const token = { pool: pool.state, change, insights: insights.state, bars: shown };
      return tokenScreen({ ...token, orders: orders.state }, status, screen);
    },
    data: () => ({
      pool: pool.state,
      ticker: tickers.state[0] ?? null,
      insights: insights.state,
    }),
    onChange: (listener) => {
      for (const mirror of all) mirror.onChange(listener);
    },
  };
}

function showBook(client: Client, asset: string, digits: 3 | 4): Shown {
  const pool = client.pool(asset);
  const book = client.watchOrderBook(asset, { digits });
  const insights = client.watchInsights(asset);
  const all = [pool, book, insights];
  return {
    ready: Promise.all(all.map((mirror) => mirror.ready())),
    lines: (status, screen) => {
      const shown = { info: pool.state?.info ?? null, book: book.state, insights: insights.state };
      return bookScreen(shown, status, screen);
    },
    data: () => ({ book: book.state, insights: insights.state }),
    onChange: (listener) => {
      for (const mirror of all) mirror.onChange(listener);
    },
  };
}

function picture(shown: Shown, client: Client, { clock, size, isColoured }: WatchDeps): string[] {
  const nowMs = clock.nowMs();
  return shown.lines(statusLine(client.connection.state, nowMs), {
    ...drawnSize(size()),
    nowMs,
    isColoured,
  });
}

/** A terminal that says 0 does not know its size, as one in a container that just started. */
export function drawnSize(size: Size | null): Size {
  return size !== null && size.columns > 0 && size.rows > 0 ? size : PIPE;
}

function jsonLine(shown: Shown): string {
  return `${JSON.stringify(shown.data())}\n`;
}

/** Draws until stopped, at least once a second: shown ages grow. JSON only when it changed. */
async function draw(
  shown: Shown,
  client: Client,
  appDeps: WatchDeps & { readonly isJson: boolean },
): Promise<void> {
  const { write, clock, stopAsked } = appDeps;
  const task = new Task({ clock });
  void stopAsked.then(() => void task.stop());
  shown.onChange(() => task.wake());
  client.connection.onState(() => task.wake());
  const isTerminal = appDeps.size() !== null && !appDeps.isJson;
  let written = '';
  if (isTerminal) write(ENTER);
  task.start(async () => {
    do {
      const lines = picture(shown, client, appDeps);
      const text = isTerminal ? inPlace(lines) : `${lines.join('\n')}\n\n`;
      const next = appDeps.isJson ? jsonLine(shown) : text;
      if (!appDeps.isJson || next !== written) write(next);
      written = next;
      await task.pause(isTerminal ? DRAW_EVERY_MS : WRITE_EVERY_MS);
    } while (await task.untilWoken(WRITE_EVERY_MS));
  });
  try {
    await task.ended;
  } finally {
    if (isTerminal) write(LEAVE);
  }
}

/** Overwrites line by line, so that nothing flickers. */
export function inPlace(lines: readonly string[]): string {
  return `\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`;
}
