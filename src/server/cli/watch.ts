/**
 * `watch`: a list of pools or one token, live. On a terminal it draws in place; in a pipe it writes
 * the whole picture again, at most once a second.
 */
import { Client } from '../../client/index.ts';
import type { PoolListName } from '../../client/types.ts';
import { parseAsset } from '../../engine/market/asset.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Task } from '../../engine/runtime/task.ts';
import type { WatchCommand } from './commands.ts';
import { listScreen, type Screen, statusLine, tokenScreen } from './watchScreen.ts';

export interface WatchDeps {
  readonly clock: Clock;
  /** What is shown; nothing else writes there. */
  write(text: string): void;
  complain(line: string): void;
  /** Of the terminal; null in a pipe. */
  size(): { readonly columns: number; readonly rows: number } | null;
  readonly stopAsked: Promise<unknown>;
}

interface Shown {
  /** Resolves once there is something to draw. */
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

/** The exit code: 0 when asked to stop, 1 where the server refuses or is not there. */
export async function runWatch(command: WatchCommand, world: WatchDeps): Promise<number> {
  const client = new Client({ url: command.url });
  try {
    // A server that is not there is said now; a mirror would wait for it.
    await client.server.time();
    const asset = command.token === null ? null : await find(client, command.token);
    const shown = asset === null ? showList(client, command.list) : showToken(client, asset);
    const isReady = shown.ready.then(() => true);
    // A server may go away before it has said anything; whoever waits for it may stop that.
    if (!(await Promise.race([isReady, world.stopAsked.then(() => false)]))) return 0;
    if (command.once) {
      world.write(`${picture(shown, client, world).join('\n')}\n`);
      return 0;
    }
    await draw(shown, client, world);
    return 0;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    world.complain(`${command.url}: ${why}`);
    return 1;
  } finally {
    client.close();
  }
}

/** An asset id as it is; anything else is searched for. */
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
  return {
    ready: pools.ready(),
    lines: (status, screen) => listScreen(list, pools.state, status, screen),
    onChange: (listener) => void pools.onChange(listener),
  };
}

function showToken(client: Client, asset: string): Shown {
  const pool = client.pool(asset);
  const bars = client.bars({ base: asset, quote: '.' }, 'min1', { limit: BARS, fill: 'previous' });
  const orders = client.orders(asset);
  const all = [pool, bars, orders];
  return {
    ready: Promise.all(all.map((mirror) => mirror.ready())),
    lines(status, screen) {
      const { standing, bars: traded } = bars.state;
      const shown = traded.length === 0 && standing !== null ? [standing] : traded;
      return tokenScreen({ pool: pool.state, bars: shown, orders: orders.state }, status, screen);
    },
    onChange: (listener) => {
      for (const mirror of all) mirror.onChange(listener);
    },
  };
}

function picture(shown: Shown, client: Client, { clock, size }: WatchDeps): string[] {
  const nowMs = clock.nowMs();
  return shown.lines(statusLine(client.connection.state, nowMs), {
    ...(size() ?? PIPE),
    nowMs,
  });
}

/** Until asked to stop. Ages move on by themselves, so it draws at least once a second. */
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

/** Over what was there: nothing flickers. */
function inPlace(lines: readonly string[]): string {
  return `\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`;
}
