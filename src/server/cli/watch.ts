/**
 * `watch` and `book`: show a list of pools, one token, or its order book, live. On a terminal they
 * draw in place; to a pipe they write the whole screen again, at most once a second.
 */

import { Client, type TickersState } from '../../client/index.ts';
import type { PoolListName } from '../../client/types.ts';
import { parseAsset } from '../../engine/market/asset.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { messageOf } from '../../engine/runtime/errors.ts';
import { Task } from '../../engine/runtime/task.ts';
import { bookScreen } from './bookScreen.ts';
import type { BookCommand, WatchCommand } from './commands.ts';
import { listScreen, type Screen, statusLine, tokenScreen } from './watchScreen.ts';

interface WatchDeps {
  readonly clock: Clock;
  /** Only this command writes here. */
  write(text: string): void;
  complain(line: string): void;
  /** Size of the terminal; null: a pipe. */
  size(): { readonly columns: number; readonly rows: number } | null;
  readonly isColoured: boolean;
  readonly stopAsked: Promise<unknown>;
}

interface Shown {
  /** Resolves when there is something to draw. */
  readonly ready: Promise<unknown>;
  lines(status: string, screen: Screen): string[];
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
  world: WatchDeps,
): Promise<number> {
  const client = new Client({ url: command.url });
  try {
    // Reports a missing server now; a mirror would wait for it.
    await client.server.time();
    const shown = await show(client, command);
    const isReady = shown.ready.then(() => true);
    // The server may go away before its first answer; the user may stop waiting.
    if (!(await Promise.race([isReady, world.stopAsked.then(() => false)]))) return 0;
    if (command.once) {
      world.write(`${picture(shown, client, world).join('\n')}\n`);
      return 0;
    }
    await draw(shown, client, world);
    return 0;
  } catch (error) {
    const why = messageOf(error);
    world.complain(`${command.url}: ${why}`);
    return 1;
  } finally {
    client.close();
  }
}

async function show(client: Client, command: WatchCommand | BookCommand): Promise<Shown> {
  const asset = command.token === null ? null : await find(client, command.token);
  if (command.name === 'book') return showBook(client, asset ?? '', command.digits);
  return asset === null ? showList(client, command.list) : showToken(client, asset);
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

function showList(client: Client, list: PoolListName): Shown {
  const pools = client.pools(list);
  const tickers = client.tickers({ sort: 'lastTrade' });
  return {
    ready: Promise.all([pools.ready(), tickers.ready()]),
    lines(status, screen) {
      const changes = changesOf(tickers.state);
      return listScreen(list, { pools: pools.state, changes }, status, screen);
    },
    onChange: (listener) => {
      for (const mirror of [pools, tickers]) mirror.onChange(listener);
    },
  };
}

/** Percent in 24 hours, by asset id. */
function changesOf(tickers: TickersState): ReadonlyMap<string, string> {
  return new Map(
    tickers.flatMap(({ asset, change24h }) => (change24h === null ? [] : [[asset, change24h]])),
  );
}

function showToken(client: Client, asset: string): Shown {
  const pool = client.pool(asset);
  const bars = client.bars({ base: asset, quote: '.' }, 'min1', { limit: BARS, fill: 'previous' });
  const orders = client.orders(asset);
  const tickers = client.tickers({ assets: [asset] });
  const all = [pool, bars, orders, tickers];
  return {
    ready: Promise.all(all.map((mirror) => mirror.ready())),
    lines(status, screen) {
      const { standing, bars: traded } = bars.state;
      const shown = traded.length === 0 && standing !== null ? [standing] : traded;
      const change = changesOf(tickers.state).get(asset);
      const token = { pool: pool.state, change, bars: shown, orders: orders.state };
      return tokenScreen(token, status, screen);
    },
    onChange: (listener) => {
      for (const mirror of all) mirror.onChange(listener);
    },
  };
}

function showBook(client: Client, asset: string, digits: 3 | 4): Shown {
  const pool = client.pool(asset);
  const book = client.watchOrderBook(asset, { digits });
  return {
    ready: Promise.all([pool.ready(), book.ready()]),
    lines: (status, screen) => {
      return bookScreen({ info: pool.state?.info ?? null, book: book.state }, status, screen);
    },
    onChange: (listener) => {
      for (const mirror of [pool, book]) mirror.onChange(listener);
    },
  };
}

function picture(shown: Shown, client: Client, { clock, size, isColoured }: WatchDeps): string[] {
  const nowMs = clock.nowMs();
  return shown.lines(statusLine(client.connection.state, nowMs), {
    ...(size() ?? PIPE),
    nowMs,
    isColoured,
  });
}

/** Draws until stopped, at least once a second because shown ages grow. */
async function draw(shown: Shown, client: Client, world: WatchDeps): Promise<void> {
  const { write, clock, stopAsked } = world;
  const task = new Task({ clock });
  void stopAsked.then(() => void task.stop());
  shown.onChange(() => task.wake());
  client.connection.onState(() => task.wake());
  const isTerminal = world.size() !== null;
  if (isTerminal) write(ENTER);
  task.start(async () => {
    do {
      const lines = picture(shown, client, world);
      write(isTerminal ? inPlace(lines) : `${lines.join('\n')}\n\n`);
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
