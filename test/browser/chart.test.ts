/**
 * An hour of a simulated market with rollbacks, in virtual time, drawn by the datafeed on the
 * chart library's development build: it throws where its rules are broken, and must not.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTestApp } from '../support/app.ts';
import { bundleText, openBrowser, visit } from './support.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

/**
 * Runs in the page. The rows are the client's own; who feeds them here is a script: bars that move,
 * bars that end, quiet minutes, late trades, rollbacks of one bar and of many, older bars.
 */
/** The script below imports these, with the development build of the chart library. */
const PARTS = `
export { drawBars } from './src/client/datafeed/index.ts';
export { BarRows } from './src/client/mirrors/barList.ts';
export * as library from 'lightweight-charts';
`;

const HOUR = `async (seed) => {
  const { drawBars, BarRows, library } = globalThis.parts;
  const place = document.createElement('div');
  place.style.width = '600px';
  place.style.height = '300px';
  document.body.append(place);
  const chart = library.createChart(place, { layout: { attributionLogo: false } });
  const candles = chart.addSeries(library.CandlestickSeries);
  const volume = chart.addSeries(library.HistogramSeries, { priceScaleId: 'volume' });
  let state = seed >>> 0;
  const chance = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const upTo = (count) => Math.floor(chance() * count);
  const START = 1_700_000_040;
  const barOf = (time) => {
    const sorted = [1 + upTo(999), 1 + upTo(999), 1 + upTo(999), 1 + upTo(999)];
    const text = (value) => '0.00000' + String(value).padStart(4, '0');
    const [open, close] = sorted;
    const [high, low] = [Math.max(...sorted), Math.min(...sorted)];
    const prices = { open: text(open), high: text(high), low: text(low), close: text(close) };
    const volume = String(upTo(9999));
    return { time, ...prices, volume, baseVolume: '1', trades: 1, final: false };
  };
  const rows = new BarRows([], true);
  const listeners = new Set();
  const snapshot = () => ({
    isKnown: true, bars: [...rows.bars], standing: rows.standing, hasOlder: rows.hasOlder,
  });
  const mirror = {
    state: snapshot(),
    isLoaded: true,
    onChange(listener) { listeners.add(listener); return () => listeners.delete(listener); },
    async loadOlder() { return false; },
  };
  const tell = (reason, changed, removed) => {
    mirror.state = snapshot();
    for (const listener of listeners) listener(mirror.state, { reason, changed, removed });
  };
  const take = (reason, news) => {
    const { changed, removed } = rows.apply(news, false);
    tell(reason, changed, removed);
  };
  const drawing = drawBars(mirror, { candles, volume, timeScale: chart.timeScale() });
  rows.hasOlder = false;
  const counts = { updates: 0, rollbacks: 0, removals: 0, late: 0, older: 0, checks: 0 };
  const check = (series, valueOf, drawnOf) => {
    const shown = JSON.stringify(series.data().map(drawnOf));
    const wanted = JSON.stringify(mirror.state.bars.map(valueOf));
    const what = [JSON.stringify(counts), shown.slice(-300), wanted.slice(-300)];
    if (shown !== wanted) throw new Error('after, drawn, wanted: ' + what.join('; '));
    counts.checks += 1;
  };
  let oldest = START;
  for (let second = 0; second < 3600; second += 1) {
    const time = START + Math.floor(second / 60) * 60;
    const isQuiet = Math.floor(second / 60) % 7 === 6;
    if (!isQuiet && chance() < 0.6) {
      counts.updates += 1;
      take('update', [barOf(time)]);
    }
    if (chance() < 0.02 && rows.bars.length > 2) {
      counts.late += 1;
      const bar = rows.bars[upTo(rows.bars.length)];
      take('revised', [barOf(bar.time)]);
    }
    if (chance() < 0.01 && rows.bars.length > 1) {
      counts.rollbacks += 1;
      const depth = 1 + upTo(Math.min(6, rows.bars.length - 1));
      const gone = rows.bars.slice(-depth);
      const [first, ...rest] = gone;
      const isGone = chance() < 0.5;
      counts.removals += rest.length + (isGone ? 1 : 0);
      const head = isGone ? { time: first.time, removed: true } : barOf(first.time);
      take('revised', [head, ...rest.map((bar) => ({ time: bar.time, removed: true }))]);
    }
    if (chance() < 0.005) {
      counts.older += 1;
      const older = [3, 2, 1].map((back) => barOf(oldest - back * 60));
      oldest -= 180;
      rows.prepend(older, false);
      tell('history', [], []);
    }
    if (second % 20 === 0) await new Promise(requestAnimationFrame);
    const sides = ['time', 'open', 'high', 'low', 'close'];
    const numbers = (of) => sides.map((side) => Number(of[side]));
    check(candles, numbers, numbers);
    check(volume, (b) => [b.time, +b.volume], (p) => [p.time, p.value]);
  }
  drawing.close();
  chart.remove();
  return counts;
}`;

test('the chart library raises no assertion over an hour of market with rollbacks', async (t) => {
  const [browser, app] = await Promise.all([openBrowser(t), newTestApp(t)]);
  const seen = await visit(browser, app.url);
  await seen.open();
  await seen.live();
  const stdin = { contents: PARTS, loader: 'ts', resolveDir: process.cwd() } as const;
  const iife = { format: 'iife', globalName: 'globalThis.parts', minify: false } as const;
  await seen.page.evaluate(await bundleText({ stdin, ...iife, conditions: ['development'] }));
  // trust: the script above returns these counts
  const counts = (await seen.page.evaluate(`(${HOUR})(${SEED})`)) as Record<string, number>;
  assert.equal(counts.checks, 7200, 'each second was looked at');
  for (const [what, count] of Object.entries(counts)) {
    assert(count > 0, `${what} happened; seed ${SEED}`);
  }
  seen.assertClean();
});
