/**
 * `load URL`: starts the threads, adds up their counts each second, shows the sums, and writes the
 * reports. Frames are checked against the contract of the stream in the threads.
 */
import { access, constants, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Client } from '../../../client/index.ts';
import { withDeadline } from '../../../engine/runtime/abort.ts';
import { type Clock, pause } from '../../../engine/runtime/clock.ts';
import { messageOf } from '../../../engine/runtime/errors.ts';
import { Thread } from '../../../engine/runtime/thread.ts';
import { DONE, FAILED, MISUSED } from '../commandContext.ts';
import type { LoadCommand } from '../commands/load.ts';
import { inPlace } from '../watch.ts';
import { reportOf, reportPage } from './report.ts';
import { namesTokens, readScenario, type Scenario, scenarioOf, type Tokens } from './scenario.ts';
import { liveLines, summaryLines } from './screen.ts';
import type { LoadCalls, Share } from './thread.ts';
import { generatorLimits, Totals } from './totals.ts';

interface LoadDeps {
  readonly clock: Clock;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Ends the load early; the reports are written. */
  readonly signal: AbortSignal;
  write(text: string): void;
  complain(line: string): void;
  readonly isTerminal: boolean;
}

const SAMPLE_MS = 1_000;
/** To a pipe a line is written so often. */
const TELL_EVERY = 10;
const STOP_MS = 10_000;
const TIMEOUT_MS = 5_000;
const SKEW_TRIES = 5;
const MS_PER_S = 1000;
const CLEAR_SCREEN = '\x1b[2J';
const LOCAL = /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/;

/** Exit code: 1 where a frame broke the contract or the server did not answer; 2: misuse. */
export async function runLoad(command: LoadCommand, deps: LoadDeps): Promise<number> {
  const scenario = (await outFault(command.out)) ?? (await scenarioFor(command));
  if (typeof scenario === 'string') {
    deps.complain(scenario);
    return MISUSED;
  }
  const client = new Client({
    url: command.url,
    ...(command.key === null ? {} : { key: command.key }),
    clock: deps.clock,
  });
  try {
    const tokens = await tokensFor(scenario, client);
    const skewMs = await skewOf(client, command.url, deps.clock);
    return await measure(command, scenario, { tokens, skewMs }, deps);
  } catch (error) {
    deps.complain(`${command.url}: ${messageOf(error)}`);
    return FAILED;
  } finally {
    client.close();
  }
}

/** Before the load, not after it. */
async function outFault(out: string): Promise<string | null> {
  try {
    await access(dirname(out), constants.W_OK);
    return null;
  } catch (error) {
    return `--out ${out}: no report can be written there (${messageOf(error)}): name a folder`;
  }
}

/** A string is an error message. */
async function scenarioFor({ file, fields }: LoadCommand): Promise<Scenario | string> {
  if (file === null) return scenarioOf({ name: 'load', ...fields });
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return `${file} cannot be read (${messageOf(error)}): name a scenario file (YAML)`;
  }
  const scenario = readScenario(text);
  const merged = typeof scenario === 'string' ? scenario : scenarioOf({ ...scenario, ...fields });
  return typeof merged === 'string' ? `${file}: ${merged}` : merged;
}

/** Throws where the scenario needs a token and the server has none. */
async function tokensFor(scenario: Scenario, client: Client): Promise<Tokens> {
  // Also without tokens: a server that is not there is found out now.
  await client.server.time();
  if (!namesTokens(scenario)) return { hot: [], tail: [] };
  const limit = scenario.hotTokens + scenario.tailTokens;
  const found: string[] = [];
  while (found.length < limit) {
    const page = { offset: found.length, limit: Math.min(500, limit - found.length) };
    const { data } = await client.tickers.list(page);
    found.push(...data.items.map(({ asset }) => asset));
    if (data.items.length === 0) break;
  }
  if (found.length === 0) {
    throw new Error('it lists no token for {hot}: launch one, or name topics and paths without it');
  }
  return { hot: found.slice(0, scenario.hotTokens), tail: found.slice(scenario.hotTokens) };
}

/**
 * Milliseconds to add to this clock to get the server's clock, from the quickest of several
 * answers.
 */
async function skewOf(client: Client, url: string, clock: Clock): Promise<number> {
  if (LOCAL.test(url)) return 0;
  let [best, skewMs] = [Number.POSITIVE_INFINITY, 0];
  for (let tries = 0; tries < SKEW_TRIES; tries += 1) {
    const startMs = clock.monotonicMs();
    const { data } = await client.server.time();
    const tookMs = clock.monotonicMs() - startMs;
    if (tookMs >= best) continue;
    best = tookMs;
    skewMs = data.timestamp + tookMs / 2 - clock.nowMs();
  }
  return skewMs;
}

async function measure(
  { url, key, out, metricsUrl }: LoadCommand,
  scenario: Scenario,
  { tokens, skewMs }: { readonly tokens: Tokens; readonly skewMs: number },
  deps: LoadDeps,
): Promise<number> {
  const { clock, signal } = deps;
  const common = { url, key: key ?? undefined, tokens, skewMs };
  const threads = sharesOf(scenario, common).map((data, number) => {
    const script = new URL('./thread.ts', import.meta.url);
    return new Thread<LoadCalls>({ script, data, name: `thread ${number + 1} of the load` });
  });
  const totals = new Totals();
  const cpu = new ServerCpu(metricsUrl, deps);
  const lengthMs = (scenario.rampSeconds + scenario.durationSeconds) * MS_PER_S;
  let startMs = 0;
  try {
    // They answer once they are loaded.
    await Promise.all(threads.map((thread) => thread.call('take', [])));
    startMs = clock.monotonicMs();
    await cpu.percentSince(SAMPLE_MS);
    let beforeMs = startMs;
    for (let count = 1; beforeMs - startMs < lengthMs && !signal.aborted; count += 1) {
      await pause(clock, SAMPLE_MS - ((clock.monotonicMs() - startMs) % SAMPLE_MS), signal);
      const parts = await Promise.all(threads.map((thread) => thread.call('take', [])));
      const nowMs = clock.monotonicMs();
      const span = { atMs: nowMs - startMs, lengthMs: nowMs - beforeMs };
      const isMeasured = span.atMs - span.lengthMs >= scenario.rampSeconds * MS_PER_S;
      totals.add(parts, { ...span, isMeasured, serverCpu: await cpu.percentSince(span.lengthMs) });
      show(titleOf(scenario, url, span.atMs), totals, count, deps);
      beforeMs = nowMs;
    }
  } finally {
    await Promise.all(threads.map((thread) => thread.stop({ clock, ms: STOP_MS })));
  }
  const seconds = (clock.monotonicMs() - startMs) / MS_PER_S;
  const limits = generatorLimits(totals, scenario, seconds - scenario.rampSeconds);
  const counts = { hot: tokens.hot.length, tail: tokens.tail.length };
  const startedAt = new Date(clock.nowMs() - seconds * MS_PER_S).toISOString();
  const report = reportOf(totals, { url, startedAt, seconds, scenario, tokens: counts, limits });
  await writeFile(`${out}.json`, `${JSON.stringify(report, null, 1)}\n`);
  await writeFile(`${out}.html`, reportPage(report, totals));
  if (deps.isTerminal) deps.write(CLEAR_SCREEN);
  deps.write(
    `${summaryLines(totals, limits).join('\n')}\n${out}.json and ${out}.html have it all\n`,
  );
  return totals.faultCount === 0 ? DONE : FAILED;
}

/** Each thread gets every n-th socket of a group, and its share of each rate. */
function sharesOf(
  { threads, sockets, requests, ...scenario }: Scenario,
  common: Pick<Share, 'url' | 'key' | 'tokens' | 'skewMs'>,
): Share[] {
  return Array.from({ length: threads }, (_, thread) => ({
    ...common,
    staleMs: scenario.staleMs,
    rampMs: scenario.rampSeconds * MS_PER_S,
    seconds: scenario.durationSeconds,
    groups: sockets.map((group) => {
      const all = Array.from({ length: group.count }, (_, number) => number);
      return { group, numbers: all.filter((number) => number % threads === thread) };
    }),
    routes: requests.flatMap((route) => {
      const share = (of: number) => Math.floor((of + threads - 1 - thread) / threads);
      const perSecond = share(route.perSecond);
      if (perSecond === 0) return [];
      return [{ ...route, perSecond, connections: Math.max(1, share(route.connections)) }];
    }),
  }));
}

function titleOf({ name, rampSeconds, durationSeconds }: Scenario, url: string, atMs: number) {
  const at = Math.floor(atMs / MS_PER_S);
  const isRamp = at < rampSeconds;
  return `${name} at ${url}: ${at} of ${rampSeconds + durationSeconds} s${isRamp ? ' (ramp)' : ''}`;
}

function show(title: string, totals: Totals, count: number, deps: LoadDeps): void {
  const lines = liveLines(title, totals);
  if (deps.isTerminal) deps.write(inPlace(lines));
  else if (count % TELL_EVERY === 0) deps.write(`${lines.slice(0, 2).join('\n')}\n`);
}

/** CPU time of the server's process, from its metrics. */
class ServerCpu {
  readonly #url: string;
  readonly #deps: LoadDeps;
  #beforeSeconds: number | null = null;

  constructor(url: string, deps: LoadDeps) {
    this.#url = url;
    this.#deps = deps;
  }

  /** Percent of one core in the interval since the call before; null where it is unknown. */
  async percentSince(lengthMs: number): Promise<number | null> {
    const seconds = await this.#read();
    const before = this.#beforeSeconds;
    this.#beforeSeconds = seconds;
    if (seconds === null || before === null || seconds < before) return null;
    return Math.round(((seconds - before) * MS_PER_S * 100) / lengthMs);
  }

  async #read(): Promise<number | null> {
    const { clock, fetch, signal } = this.#deps;
    try {
      const text = await withDeadline(
        clock,
        TIMEOUT_MS,
        async (limit) => (await fetch(this.#url, { signal: limit })).text(),
        signal,
      );
      const [, value] = /^process_cpu_seconds_total (\S+)$/m.exec(text) ?? [];
      return value === undefined ? null : Number(value);
    } catch {
      // No metrics there: the CPU stays unknown, and the report says so.
      return null;
    }
  }
}
