/** A real browser before a real server: Debian's Chromium, and the faults that no page may show. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { bundled } from '../../pack/pageBundle.ts';
import type { Scope } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { countExecuted, keepExecuted } from './coverage.ts';

export const WAIT_MS = 60_000;

function chromiumPath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, 'chromium')).find((path) => existsSync(path));
  return found ?? assert.fail('no chromium on the PATH: scripts/provide.ts says how to get it');
}

export async function openBrowser(scope: Scope): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox'],
    timeout: WAIT_MS,
  });
  scope.after(async () => {
    await keepExecuted(browser.contexts().flatMap((context) => context.pages()));
    await browser.close();
  });
  return browser;
}

/** A page and everything it said or asked for that it should not. */
export class Visit {
  readonly page: Page;
  readonly url: string;
  /** Errors of scripts and of the console. */
  readonly errors: string[] = [];
  /** Requests to anywhere else. */
  readonly foreign: string[] = [];

  constructor(page: Page, url: string) {
    this.page = page;
    this.url = url;
    page.setDefaultTimeout(WAIT_MS);
    page.on('pageerror', (error) => this.errors.push(String(error.stack ?? error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
    page.on('request', (request) => {
      const target = request.url();
      if (!target.startsWith(url) && !/^(data|blob):/.test(target)) this.foreign.push(target);
    });
    page.on('websocket', (socket) => {
      if (!socket.url().startsWith(url.replace(/^http/, 'ws'))) this.foreign.push(socket.url());
    });
  }

  /** `hash` names a place, `#/token/…`. */
  async open(hash = ''): Promise<void> {
    await this.page.goto(`${this.url}/${hash}`);
  }

  /** Waits for `expression` to be truthy in the page, or for what `fits`. */
  asked<T>(what: string, ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
    const state = () => `${what}; errors: ${this.errors.join(' | ').slice(0, 500)}`;
    return untilAsked(state, ask, fits, WAIT_MS);
  }

  text(selector: string): Promise<string> {
    return this.page.evaluate(
      `document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`,
    );
  }

  async live(): Promise<void> {
    await this.asked(
      'the page is live',
      () => this.text('.status .state'),
      (text) => text === 'Live',
    );
  }

  assertClean(): void {
    assert.deepEqual(this.errors, [], 'no errors in the console');
    assert.deepEqual(this.foreign, [], 'no request leaves the origin');
  }
}

export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  await countExecuted(page);
  return new Visit(page, url);
}

/** The points of a series as the chart library holds them: numbers. */
export interface Drawn {
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

const LIBRARY = 'lightweight-charts';
const DEVELOPMENT = 'lightweight-charts.standalone.development.mjs';

/**
 * The chart library in its development build with every assertion, and beside it the calls it got:
 * `charted` holds the charts that are there, each with its series and a log of writes.
 */
const LISTENING = `
export * from 'development';
import { createChart as make } from 'development';
globalThis.charted = [];
export function createChart(...given) {
  const chart = make(...given);
  const record = { series: [], log: [] };
  const { addSeries, remove } = chart;
  chart.addSeries = (...kind) => {
    const series = addSeries.apply(chart, kind);
    const index = record.series.push(series) - 1;
    const { update, setData } = series;
    series.update = (point, ...rest) => {
      record.log.push({ index, time: point.time });
      update.call(series, point, ...rest);
    };
    series.setData = (points) => {
      record.log.push({ index, time: null });
      setData.call(series, points);
    };
    return series;
  };
  chart.remove = () => {
    globalThis.charted = globalThis.charted.filter((each) => each !== record);
    remove.call(chart);
  };
  globalThis.charted.push(record);
  return chart;
}
`;

/** Replaces the page's chart library with the recording one above. */
const listening: Plugin = {
  name: 'listening',
  setup(build) {
    const home = createRequire(import.meta.url).resolve('lightweight-charts/package.json');
    const development = home.replace('package.json', `dist/${DEVELOPMENT}`);
    build.onResolve({ filter: /^development$/ }, () => ({ path: development }));
    const isLibrary = new RegExp(`^${LIBRARY}$`);
    build.onResolve({ filter: isLibrary }, () => ({ path: LIBRARY, namespace: 'listening' }));
    build.onLoad({ filter: isLibrary, namespace: 'listening' }, () => ({ contents: LISTENING }));
  },
};

let listeningPage: Promise<string> | null = null;

/** The source text of a bundle. */
export async function bundleText(options: BuildOptions): Promise<string> {
  const [file] = await bundled(options);
  return file?.text ?? assert.fail('nothing was bundled');
}

/** Before the page is opened: it is the same page, made with the library above. */
export async function listenToCharts(page: Page): Promise<void> {
  listeningPage ??= bundleText({ entryPoints: ['src/web/main.tsx'], plugins: [listening] });
  const body = await listeningPage;
  await page.route(
    (url) => /\/assets\/chunk-\w+\.js$/.test(url.pathname),
    (route) => route.fulfill({ contentType: 'text/javascript', body }),
  );
}

/** Candles of the one chart on the page; null before there is one. */
export function drawnOn(page: Page): Promise<readonly Drawn[] | null> {
  return page.evaluate(`globalThis.charted?.at(-1)?.series[0]?.data() ?? null`);
}

export interface Write {
  /** 0: candles, 1: volume. */
  readonly index: number;
  /** Time of the point that was written; null: all points again. */
  readonly time: number | null;
}

/** Writes to candles and volume since the last call. */
export function writesOn(page: Page): Promise<readonly Write[]> {
  return page.evaluate(`globalThis.charted.at(-1).log.splice(0).filter(({ index }) => index < 2)`);
}

/** Open, high, low and close of bars as numbers, as the chart has them. */
export function drawnOf(bars: readonly Record<'open' | 'high' | 'low' | 'close', string>[]) {
  return bars.map((bar) => [bar.open, bar.high, bar.low, bar.close].map(Number));
}
