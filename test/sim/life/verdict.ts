/** Plays a schedule, reports its result, and shortens a failing one. */
import { type Outcome, runSchedule } from './run.ts';
import { type Schedule, scheduleText } from './schedule.ts';
import { cutAfter, shrink } from './shrink.ts';
import { timeText } from './timeline.ts';

interface VerdictOptions {
  say(text: string): void;
  /** The seed and the verdict alone. */
  readonly isQuiet: boolean;
  /** The timeline is shown also where nothing is broken. */
  readonly showsTimeline: boolean;
  /** A schedule that fails is made shorter. */
  readonly shrinks: boolean;
}

const HOUR_MS = 3_600_000;
const SHRINK_MS = 600_000;

/** true: no rule was broken. */
export async function judgeSchedule(schedule: Schedule, options: VerdictOptions): Promise<boolean> {
  const { say, isQuiet, shrinks } = options;
  const { seed, endMs, steps, settings } = schedule;
  say(`seed ${seed}, ${(endMs / HOUR_MS).toFixed(2)} h, ${steps.length} steps`);
  if (!isQuiet) say(JSON.stringify(settings));
  // Real time, which a run replaces.
  const cpu = process.cpuUsage();
  const outcome = await runSchedule(schedule);
  const { user, system } = process.cpuUsage(cpu);
  const minutes = (user + system) / 6e7;
  const pace = (outcome.atMs / HOUR_MS / minutes).toFixed(1);
  const { broken, counts, digest } = outcome;
  if (options.showsTimeline && broken === null) sayTimeline(outcome, say);
  if (!isQuiet) say(JSON.stringify(counts));
  const speed = `${(minutes * 60).toFixed(1)} CPU s, ${pace} h a CPU minute`;
  const passed = `${timeText(outcome.atMs)} in ${speed}; ${digest}`;
  if (broken === null) {
    say(`nothing is broken: ${passed}`);
    return true;
  }
  if (!isQuiet) sayTimeline(outcome, say);
  say(`invariant: ${broken.invariant}: ${broken.why.slice(0, 2_000)}`);
  say(`broken after ${passed}`);
  if (!shrinks) return false;
  const shortest = await shortestOf(cutAfter(schedule, outcome.atMs), broken.invariant, options);
  say('The shortest schedule that fails so; play it again with --replay FILE:');
  say(scheduleText(shortest));
  return false;
}

function sayTimeline({ timeline, positions }: Outcome, say: (text: string) => void): void {
  for (const line of timeline) say(line);
  for (const line of positions) say(line);
}

async function shortestOf(
  schedule: Schedule,
  invariant: string,
  { say, isQuiet }: VerdictOptions,
): Promise<Schedule> {
  const startUs = cpuUs();
  const isOver = () => cpuUs() - startUs > SHRINK_MS * 1000;
  return shrink(schedule, {
    fails: async (candidate) => (await runSchedule(candidate)).broken?.invariant === invariant,
    isOver,
    tried({ steps, endMs }, failed) {
      if (isQuiet) return;
      const left = `${steps.length} steps, ${(endMs / 1000).toFixed(0)} s`;
      say(`shrinking: ${left}: ${failed ? 'it fails' : 'it does not fail'}`);
    },
  });
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
