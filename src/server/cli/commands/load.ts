import { parseDurationMs } from '../amounts.ts';
import { command, textOf, type Values } from '../command.ts';
import { serverOf } from './server.ts';

export const TRANSPORTS = ['websocket', 'msgpack', 'sse'] as const;
type Transport = (typeof TRANSPORTS)[number];

export interface LoadCommand {
  readonly name: 'load';
  readonly url: string;
  /** A scenario file; null: the options below are the load. */
  readonly file: string | null;
  /** As fields of a scenario; they replace the fields of a scenario file. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Reports are written to `<out>.json` and `<out>.html`. */
  readonly out: string;
  readonly key: string | null;
  /** Where the server's own CPU time is read. */
  readonly metricsUrl: string;
}

const OUT = './load';
const SOCKETS = 100;
const PER_SECOND = 100;
const PAIR = { base: '{hot}', quote: '.' };
const OF_TOKEN = { asset: '{hot}' };
/** The default data of a topic whose name alone is given; the others take nothing. */
const TOPIC_DATA: Readonly<Record<string, object>> = {
  LastBar: { pair: PAIR, interval: 'min1' },
  MCapBar: { pair: PAIR, interval: 'min1' },
  OrderBook: { ...OF_TOKEN, mode: 'changes' },
  PoolFeed: OF_TOKEN,
  LiveOrdersFeed: OF_TOKEN,
  Trades: OF_TOKEN,
  Insights: OF_TOKEN,
};
const TOPICS = 'LastBar,Trades,OrderBook';
const LOAD_OPTIONS = ['sockets', 'transport', 'topics', 'routes', 'rate'] as const;

export const LOAD = command({
  name: 'load',
  group: 'server',
  uses: [['URL', 'a load tester that checks each frame; writes JSON and HTML']],
  options: {
    scenario: { value: 'FILE', about: 'the load as YAML, instead of the next five options' },
    sockets: { value: '100', about: 'connections (default 100; with --routes 0)' },
    transport: { value: 'websocket', about: 'websocket, msgpack, sse; several with commas' },
    topics: { value: 'LastBar', about: 'of each connection (default LastBar,Trades,OrderBook)' },
    routes: { value: '/PATH', about: 'paths to ask for; {hot} is one of the busiest tokens' },
    rate: { value: '100', about: 'requests a second, of all routes together' },
    duration: { value: '30s', about: 'behind the ramp (default 30s)' },
    ramp: { value: '5s', about: 'connections open over this time (default 5s)' },
    threads: { value: '2', about: 'that share the load, 1 to 64 (default 2)' },
    'api-key': { value: 'KEY', about: 'for the limits of a key' },
    metrics: { value: 'URL', about: "where the server's CPU is read (default URL/metrics)" },
    out: { value: 'NAME', about: 'writes NAME.json and NAME.html (default ./load)' },
  },
  takes: 1,
  parse([url], values): LoadCommand | string {
    if (url === undefined) return 'load takes the URL of a server: load http://127.0.0.1:8080';
    const base = serverOf(url);
    if (base === null) return `${url} is no http(s) URL of a server`;
    const file = textOf(values.scenario);
    const misplaced = LOAD_OPTIONS.find((name) => values[name] !== undefined);
    if (file !== null && misplaced !== undefined) {
      return `--${misplaced} and --scenario exclude each other: the file says it`;
    }
    const timing = timingOf(values);
    if (typeof timing === 'string') return timing;
    const load = file === null ? loadOf(values) : {};
    if (typeof load === 'string') return load;
    const metrics = textOf(values.metrics);
    const metricsUrl = metrics === null ? `${base}/metrics` : metrics;
    if (serverOf(metricsUrl) === null) return '--metrics takes an http(s) URL';
    const key = textOf(values['api-key']);
    const out = textOf(values.out) ?? OUT;
    return { name: 'load', url: base, file, fields: { ...load, ...timing }, out, key, metricsUrl };
  },
  async run(args, shell) {
    const { runLoad } = await import('../load/run.ts');
    return runLoad(args, { ...shell, isTerminal: shell.output.isTTY === true });
  },
});

function timingOf(values: Values): Record<string, number> | string {
  const timing: Record<string, number> = {};
  for (const [option, field] of [
    ['duration', 'durationSeconds'],
    ['ramp', 'rampSeconds'],
  ] as const) {
    const text = textOf(values[option]);
    const ms = text === null ? null : parseDurationMs(text);
    if (text !== null && ms === null) return `--${option} takes a duration such as 10s, 5m or 2h`;
    if (ms !== null) timing[field] = ms / 1000;
  }
  const threads = wholeOf(values.threads);
  if (threads === 'wrong') return '--threads takes a whole number from 1 to 64';
  if (threads !== null) timing.threads = threads;
  return timing;
}

/** Sockets and requests, as a scenario has them. */
function loadOf(values: Values): Record<string, unknown> | string {
  const [count, rate] = [wholeOf(values.sockets), wholeOf(values.rate)];
  if (count === 'wrong') return '--sockets takes a whole number; 0 opens none';
  if (rate === 'wrong' || rate === 0) return '--rate takes requests a second, above 0';
  const named = (textOf(values.transport) ?? 'websocket').split(',');
  const transports = named.flatMap((name) => TRANSPORTS.find((known) => known === name) ?? []);
  if (transports.length < named.length) {
    return `--transport takes ${TRANSPORTS.join(', ')}, or several with commas between`;
  }
  const names = (textOf(values.topics) ?? TOPICS).split(',');
  const topics = names.map((topic) => ({ topic, data: TOPIC_DATA[topic] ?? {} }));
  const routes = textOf(values.routes)?.split(',') ?? [];
  if (routes.length === 0 && rate !== null) return '--rate goes with --routes';
  const perSecond = Math.max(1, Math.floor((rate ?? PER_SECOND) / routes.length));
  const sockets = groupsOf(count ?? (routes.length > 0 ? 0 : SOCKETS), transports);
  return {
    sockets: sockets.map((group) => ({ ...group, topics })),
    requests: routes.map((path) => ({ path, perSecond })),
  };
}

/** Equal shares; the first groups take the remainder. */
function groupsOf(count: number, transports: readonly Transport[]) {
  const all = transports.map((transport, at) => {
    const share = Math.floor((count + transports.length - 1 - at) / transports.length);
    return { name: transport, transport, count: share };
  });
  return all.filter((group) => group.count > 0);
}

function wholeOf(value: string | boolean | undefined): number | null | 'wrong' {
  if (value === undefined) return null;
  return /^\d{1,7}$/.test(String(value)) ? Number(value) : 'wrong';
}
