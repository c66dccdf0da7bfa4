/** Every step by its name, and how a schedule is drawn from a seed. */
import { seededRng } from '../../../../src/engine/runtime/rng.ts';
import type { LifeSettings, Schedule, TimedStep } from '../schedule.ts';
import { AIMED_STEPS } from './aimed.ts';
import { EARLIER_STEPS } from './earlier.ts';
import { Draw, type StepKind, stepKind } from './kind.ts';
import { MARKET_STEPS } from './market.ts';
import { NARROW_STEPS } from './narrow.ts';
import { NATS_STEPS } from './nats.ts';
import { NODE_STEPS } from './nodes.ts';
import { STORAGE_STEPS } from './storage.ts';
import { STRAY_STEPS } from './stray.ts';

/** All is mended, and has so long to become right; the player checks it. */
const CALM_MS = 240_000;

export const STEPS: Readonly<Record<string, StepKind>> = {
  ...MARKET_STEPS,
  ...NODE_STEPS,
  ...NATS_STEPS,
  ...STORAGE_STEPS,
  ...STRAY_STEPS,
  ...EARLIER_STEPS,
  ...AIMED_STEPS,
  ...NARROW_STEPS,
  calm: stepKind({
    weight: 0,
    draw: () => ({ forMs: CALM_MS }),
    apply: (life) => life.mend(),
  }),
};

export interface DrawOptions {
  readonly seed: number;
  readonly hours: number;
  /** 3, unless a person says another number. */
  readonly nodes?: number;
  /** Storms of more faults, close behind each other. */
  readonly isBusy?: boolean;
}

const HOUR_MS = 3_600_000;
/** The market starts, and has its first tokens. */
const FIRST_MS = 120_000;
const MAX_FAULTS = 6;
/** Share of storms that consist of one undisturbed step. */
const ALONE_SHARE = 0.3;
/** Behind a step that is alone, before the calm. */
const AFTER_ALONE_MS = 10_000;
/** A calm that takes longer delays what follows. */
const BUSY_CALM_MS = 100_000;

/** Storms at the end of a run, each of one narrow step. */
const LAST_STORMS = 3;
/** Their chance is another one, so that the same seed draws the same storms before them. */
const LAST_SEED = 1_000_003;

/**
 * Times of quiet trade, and storms of several faults, each with a calm behind it. Behind the hours
 * come storms of one narrow step.
 */
export function drawSchedule({ seed, hours, nodes = 3, isBusy = false }: DrawOptions): Schedule {
  const rng = seededRng(seed);
  const draw = new Draw(rng, nodes);
  const settings = drawSettings(draw, nodes);
  const endMs = Math.round(hours * HOUR_MS);
  const steps: TimedStep[] = [];
  const drawn = (atMs: number, step: string) => ({ atMs, step, ...STEPS[step]?.draw(draw) });
  const add = (atMs: number, step: string) => {
    steps.push(drawn(atMs, step));
  };
  add(1_000, 'trade');
  for (let atMs = FIRST_MS; ; ) {
    const trade = draw.rng.unit() < 0.8 ? [drawn(atMs - 20_000, 'trade')] : [];
    const isAlone = draw.rng.unit() < ALONE_SHARE;
    const storm = isAlone ? stormOfOne(draw, 'alone') : stormOfMany(draw, isBusy);
    const calmMs = atMs + storm.forMs;
    if (calmMs + CALM_MS > endMs) break;
    steps.push(...trade);
    for (const { atMs: behindMs, ...step } of storm.steps) {
      steps.push({ atMs: atMs + behindMs, ...step });
    }
    add(calmMs, 'calm');
    const restMs = draw.between(30_000, draw.oneOf([120_000, 1_800_000]));
    atMs = calmMs + (isBusy ? BUSY_CALM_MS : CALM_MS + restMs);
  }
  add(Math.max(FIRST_MS, endMs - CALM_MS), 'calm');
  let lastMs = Math.max(endMs, FIRST_MS + CALM_MS);
  const lastDraw = new Draw(seededRng(seed + LAST_SEED), nodes);
  for (let storms = 0; storms < LAST_STORMS; storms += 1) {
    const storm = stormOfOne(lastDraw, 'last');
    for (const step of storm.steps) steps.push({ ...step, atMs: lastMs });
    steps.push({ atMs: lastMs + storm.forMs, step: 'calm', forMs: CALM_MS });
    lastMs += storm.forMs + BUSY_CALM_MS;
  }
  steps.sort((a, b) => a.atMs - b.atMs);
  return { seed, settings, steps, endMs: lastMs };
}

interface Storm {
  /** By the time since it began. */
  readonly steps: readonly TimedStep[];
  readonly forMs: number;
}

function stormOfOne(draw: Draw, when: 'alone' | 'last'): Storm {
  const step = drawName(draw, (kind) => kind[when] ?? 0);
  const fields = STEPS[step]?.draw(draw) ?? {};
  const forMs = typeof fields.forMs === 'number' ? fields.forMs : 0;
  return { steps: [{ atMs: 0, step, ...fields }], forMs: forMs + AFTER_ALONE_MS };
}

function stormOfMany(draw: Draw, isBusy: boolean): Storm {
  const forMs = draw.between(30_000, 240_000);
  const faults = isBusy
    ? draw.between(MAX_FAULTS / 2, 2 * MAX_FAULTS)
    : draw.between(1, MAX_FAULTS);
  const steps = Array.from({ length: faults }, () => {
    const step = drawName(draw, ({ weight }) => weight);
    return { atMs: draw.between(0, forMs - 1_000), step, ...STEPS[step]?.draw(draw) };
  });
  return { steps, forMs };
}

function drawSettings(draw: Draw, nodes: number): LifeSettings {
  const natsServers = draw.oneOf<1 | 3>([1, 3]);
  return {
    nodes,
    natsServers,
    copies: natsServers === 1 ? 1 : draw.oneOf([1, 3, 3]),
    natsVersion: draw.oneOf<'2.9' | '2.12'>(['2.9', '2.12']),
    leaseMs: draw.oneOf([2_000, 5_000, 10_000]),
    horizonBlocks: draw.oneOf([20, 40]),
    snapshotEvery: draw.oneOf([100, 400]),
    blockEveryMs: draw.oneOf([5_000, 20_000]),
  };
}

function drawName(draw: Draw, weightOf: (kind: StepKind) => number): string {
  const kinds = Object.entries(STEPS);
  const total = kinds.reduce((sum, [, kind]) => sum + weightOf(kind), 0);
  let rest = draw.rng.unit() * total;
  for (const [name, kind] of kinds) {
    rest -= weightOf(kind);
    if (rest < 0) return name;
  }
  return 'kill';
}
