/** `watch` and `book`: what they take, and how a terminal is used while they draw. */
import type { PoolListName, TickersInput } from '../../../client/types.ts';
import { POOL_LIST_NAMES } from '../../../engine/market/poolView.ts';
import { command, type Shell, type Values } from '../command.ts';
import { BAD_URL, serverUrl, URL_OPTION } from './server.ts';

export interface WatchCommand {
  readonly name: 'watch';
  readonly url: string;
  /** Asset id or search text; null: shows a list. */
  readonly token: string | null;
  readonly list: PoolListName;
  /** Only such tokens. */
  readonly bounds: TrustBounds;
  /** Writes once, then ends. */
  readonly once: boolean;
  readonly json: boolean;
}

/** As the topic `Tickers` takes them: percent of the supply outside the pool, and a count. */
type TrustBounds = Pick<
  TickersInput,
  'maxTop10Percent' | 'maxAuthorPercent' | 'maxSnipersPercent' | 'minHolders'
>;

const DEFAULT_LIST = 'Latest';

export interface BookCommand {
  readonly name: 'book';
  readonly url: string;
  /** Asset id or search text. */
  readonly token: string;
  readonly digits: 3 | 4;
  readonly once: boolean;
  readonly json: boolean;
}

const SHOWN = {
  once: { about: 'one picture, then exit' },
  json: { about: 'a JSON object a line instead of pictures' },
  ...URL_OPTION,
} as const;

export const WATCH = command({
  name: 'watch',
  group: 'server',
  uses: [['[TOKEN]', 'a list of pools, or candles of a token, live; q ends it']],
  options: {
    list: {
      value: 'Latest',
      about: 'New, Latest, Trending, MCapDesc, CompletedCreateOn or CompletedMCap',
    },
    'max-top10': {
      value: '50',
      about: 'only tokens whose ten largest holders have at most so many %',
    },
    'max-author': { value: '10', about: 'the same for what the author holds' },
    'max-snipers': { value: '10', about: 'the same for what snipers hold' },
    'min-holders': { value: '20', about: 'only tokens with so many holders' },
    ...SHOWN,
  },
  takes: 1,
  parse([token], values): WatchCommand | string {
    const listName = String(values.list ?? DEFAULT_LIST);
    const list = POOL_LIST_NAMES.find((name) => name.toLowerCase() === listName.toLowerCase());
    if (list === undefined) return `--list takes one of ${POOL_LIST_NAMES.join(', ')}`;
    if (token !== undefined && values.list !== undefined) return '--list goes without a token';
    const url = serverUrl(values);
    if (url === null) return BAD_URL;
    const bounds = parseBounds(values);
    if (typeof bounds === 'string') return bounds;
    const isBounded = Object.keys(bounds).length > 0;
    if (token !== undefined && isBounded) return 'bounds go with a list, not with a token';
    return { name: 'watch', url, token: token ?? null, list, bounds, ...shownAs(values) };
  },
  run: draw,
});

export const BOOK = command({
  name: 'book',
  group: 'server',
  uses: [['TOKEN', 'depth of its pool and limit orders, live; q ends it']],
  options: {
    digits: { value: '3', about: 'significant digits of the prices: 3 or 4' },
    ...SHOWN,
  },
  takes: 1,
  parse([token], values): BookCommand | string {
    if (token === undefined) return 'book takes a token: its id, or a part of its name';
    const digits = ([3, 4] as const).find((each) => String(each) === (values.digits ?? '3'));
    if (digits === undefined) return '--digits takes 3 or 4';
    const url = serverUrl(values);
    if (url === null) return BAD_URL;
    return { name: 'book', url, token, digits, ...shownAs(values) };
  },
  run: draw,
});

async function draw(args: WatchCommand | BookCommand, shell: Shell): Promise<number> {
  const { input, output } = shell;
  const { runWatch } = await import('../watch.ts');
  const gone = new Promise((resolve) => output.on('error', resolve));
  try {
    return await runWatch(args, {
      ...shell,
      write: (text) => void output.write(text),
      size: () => (output.isTTY ? { columns: output.columns, rows: output.rows } : null),
      isColoured: output.isTTY && !shell.environment.NO_COLOR,
      stopAsked: Promise.race([shell.terminal.stopAsked, gone, quitPressed(shell)]),
    });
  } finally {
    if (input.isTTY) input.setRawMode(false);
  }
}

const CTRL_C = '\x03';

/** `q` or Ctrl+C on a terminal, which hands over each key as it is pressed. */
function quitPressed({ input, output }: Shell): Promise<unknown> {
  if (!input.isTTY || !output.isTTY) return new Promise(() => {});
  input.setRawMode(true);
  input.setEncoding('utf8');
  const pressed = new Promise((resolve) => {
    input.on('data', (key: string) => {
      if (key === 'q' || key === 'Q' || key === CTRL_C) resolve(key);
    });
  });
  // Input that is read keeps the process alive.
  input.unref();
  return pressed;
}

function shownAs(values: Values) {
  return { once: values.once === true, json: values.json === true };
}

const BOUNDS = {
  'max-top10': 'maxTop10Percent',
  'max-author': 'maxAuthorPercent',
  'max-snipers': 'maxSnipersPercent',
} as const;
const PERCENT = /^\d{1,3}(\.\d{1,2})?$/;
const HOLDERS = /^\d{1,9}$/;

/** A string is an error message. */
function parseBounds(values: Values): TrustBounds | string {
  const bounds: Partial<Record<keyof TrustBounds, number>> = {};
  for (const option of ['max-top10', 'max-author', 'max-snipers'] as const) {
    const text = values[option];
    if (text === undefined) continue;
    if (!PERCENT.test(String(text)) || Number(text) > 100) {
      return `--${option} takes percent from 0 to 100, with at most two decimals`;
    }
    bounds[BOUNDS[option]] = Number(text);
  }
  const holders = values['min-holders'];
  if (holders === undefined) return bounds;
  if (!HOLDERS.test(String(holders))) return '--min-holders takes a whole number';
  return { ...bounds, minHolders: Number(holders) };
}
