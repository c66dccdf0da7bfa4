/**
 * `npm run sim -- market [--seed N] [--seconds N] [--path P]`: random markets on one node, for as
 * long as you like, by the wall clock. `npm run sim -- trades [--seed N] [--trades 1000000]
 * [--judged 200]`: random trades by exact rules, no lovelace lost, and this many batches judged by
 * the real validators. `npm run sim -- cluster [--seed N] [--hours H] [--nodes N]`: several nodes
 * in virtual time; `--replay FILE` plays a schedule again, `--quiet` says the seed and the verdict
 * alone, `--no-shrink` leaves a schedule that fails as it is, `--timeline` shows what happened in a
 * sound run, too, `--busy` draws more faults. Ends with 0: sound, 1: a rule is broken, 2: wrong
 * arguments, 3: the simulator failed.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseSchedule } from './life/schedule.ts';
import { drawSchedule, STEPS } from './life/steps/all.ts';
import { judgeSchedule } from './life/verdict.ts';
import { runPlanted } from './planted/run.ts';
import { simulate } from './property.ts';
import { runTrades } from './trades/trades.ts';

const USAGE =
  'npm run sim -- market | trades | cluster | planted; options: the head of test/sim/main.ts';

async function simulateMarket(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      seconds: { type: 'string', default: '60' },
      path: { type: 'string' },
    },
  });
  const seed = integer('--seed', values.seed);
  const seconds = above0('--seconds', values.seconds);
  console.log(`seed ${seed}, ${seconds} s`);
  const path = values.path === undefined ? {} : { path: values.path };
  console.log(await simulate({ seed, seconds, ...path }));
  return true;
}

function simulateTrades(args: readonly string[]): boolean {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      trades: { type: 'string', default: '1000000' },
      judged: { type: 'string', default: '200' },
    },
  });
  const seed = integer('--seed', values.seed);
  const trades = integer('--trades', values.trades);
  const judged = integer('--judged', values.judged);
  console.log(`seed ${seed}, ${trades} trades, ${judged} batches for the validators`);
  console.log(runTrades({ seed, trades, judged }));
  return true;
}

async function simulateCluster(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      hours: { type: 'string', default: '24' },
      nodes: { type: 'string', default: '3' },
      replay: { type: 'string' },
      busy: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      timeline: { type: 'boolean', default: false },
      'no-shrink': { type: 'boolean', default: false },
    },
  });
  const seed = integer('--seed', values.seed);
  const hours = above0('--hours', values.hours);
  const nodes = integer('--nodes', values.nodes);
  const schedule =
    values.replay === undefined
      ? drawSchedule({ seed, hours, nodes, isBusy: values.busy })
      : parseSchedule(readFileSync(values.replay, 'utf8'), new Set(Object.keys(STEPS)));
  const shrinks = !values['no-shrink'];
  const say = (text: string) => console.log(text);
  return judgeSchedule(schedule, {
    say,
    isQuiet: values.quiet,
    showsTimeline: values.timeline,
    shrinks,
  });
}

function integer(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${name} takes an integer, not ${text}`);
  return value;
}

function above0(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${name} takes a number above 0, not ${text}`);
  return value;
}

const [what, ...args] = process.argv.slice(2);
try {
  if (what === 'market') process.exit((await simulateMarket(args)) ? 0 : 1);
  if (what === 'trades') process.exit(simulateTrades(args) ? 0 : 1);
  if (what === 'cluster') process.exit((await simulateCluster(args)) ? 0 : 1);
  if (what === 'planted') process.exit(await runPlanted(args));
  console.error(USAGE);
  process.exit(2);
} catch (error) {
  console.error(error);
  process.exit(3);
}
