/**
 * The events of a run, as plain JSON: written before the run, from its seed. A step contains all
 * its data, so a schedule with fewer or shorter steps is valid, too.
 */
import { isRecord } from '../../../src/api/gateway/input.ts';

export interface LifeSettings {
  readonly nodes: number;
  readonly natsServers: 1 | 3;
  /** Copies of each stream when the market begins. Absent: as many as servers. */
  readonly copies?: number;
  readonly natsVersion: '2.9' | '2.12';
  readonly leaseMs: number;
  readonly horizonBlocks: number;
  readonly snapshotEvery: number;
  readonly blockEveryMs: number;
}

export type Field = string | number | Readonly<Record<string, string>>;

/** Fields beside these two are the step's own; `forMs`: how long it lasts. */
export interface TimedStep {
  readonly atMs: number;
  readonly step: string;
  readonly forMs?: number;
  readonly [field: string]: Field | undefined;
}

export interface Schedule {
  /** Seed of all random choices of the run. */
  readonly seed: number;
  readonly settings: LifeSettings;
  /** In the order of their times. */
  readonly steps: readonly TimedStep[];
  /** When the last check is made. */
  readonly endMs: number;
}

/** Throws an error that a person can correct. */
export function parseSchedule(text: string, known: ReadonlySet<string>): Schedule {
  const value: unknown = JSON.parse(text);
  const wrong = (why: string) => new Error(`this is no schedule: ${why}`);
  if (!isRecord(value)) throw wrong('it is not an object');
  const { seed, settings, steps, endMs } = value;
  if (!Number.isSafeInteger(seed)) throw wrong('`seed` is an integer');
  if (!isRecord(settings)) throw wrong('`settings` is an object');
  if (typeof endMs !== 'number' || !(endMs > 0)) throw wrong('`endMs` is a time above 0');
  if (!Array.isArray(steps)) throw wrong('`steps` is a list');
  let lastMs = 0;
  for (const [index, step] of steps.entries()) {
    if (!isRecord(step) || typeof step.step !== 'string' || !known.has(step.step)) {
      throw wrong(`steps[${index}].step is one of ${[...known].join(', ')}`);
    }
    const { atMs } = step;
    if (typeof atMs !== 'number' || atMs < lastMs) throw wrong(`steps[${index}].atMs goes back`);
    lastMs = atMs;
  }
  // trust: compared above, but for the settings, whose absence fails the first use
  return value as unknown as Schedule;
}

/** One line for each step: to be read and changed by hand. */
export function scheduleText({ steps, ...rest }: Schedule): string {
  const lines = steps.map((step) => `    ${oneLine(step)}`).join(',\n');
  const head = JSON.stringify(rest, null, 2).slice(0, -2);
  return `${head},\n  "steps": [\n${lines}\n  ]\n}\n`;
}

/** As Biome formats a short object, so that a kept schedule needs no change. */
function oneLine(step: Readonly<Record<string, Field | undefined>>): string {
  const fields = Object.entries(step).map(([name, field]) => {
    const text = typeof field === 'object' ? oneLine(field) : JSON.stringify(field);
    return `"${name}": ${text}`;
  });
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

export function describeStep({ atMs: _, step, ...fields }: TimedStep): string {
  const parts = Object.entries(fields).map(([name, field]) => {
    return `${name}=${typeof field === 'object' ? JSON.stringify(field) : field}`;
  });
  return [step, ...parts].join(' ');
}
