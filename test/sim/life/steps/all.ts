/** Every step by its name, and how a schedule is drawn from a seed. */
import { seededRng } from '../../../../src/engine/runtime/rng.ts';
import type { LifeSettings, Schedule, TimedStep } from '../schedule.ts';
import { AIMED_STEPS } from './aimed.ts';
import { Draw, type StepKind, stepKind } from './kind.ts';
import { MARKET_STEPS } from './market.ts';
import { NATS_STEPS } from './nats.ts';
import { NODE_STEPS } from './nodes.ts';

/** All is mended, and has so long to become right; the player checks it. */
const CALM_MS = 240_000;

export const STEPS: Readonly<Record<string, StepKind>> = {
  ...MARKET_STEPS,
  ...NODE_STEPS,
  ...NATS_STEPS,
  ...AIMED_STEPS,
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
const MOST_FAULTS = 6;

/** Times of quiet trade, and storms of several faults, each with a calm behind it. */
export function drawSchedule({ seed, hours, nodes = 3, isBusy = false }: DrawOptions): Schedule {
  const rng = seededRng(seed);
  const draw = new Draw(rng, nodes);
  const settings = drawSettings(draw, nodes);
  const endMs = Math.round(hours * HOUR_MS);
  const steps: TimedStep[] = [];
  const add = (atMs: number, step: string) => {
    steps.push({ atMs, step, ...STEPS[step]?.draw(draw) });
  };
  add(1_000, 'trade');
  for (let atMs = FIRST_MS; ; ) {
    const stormMs = draw.between(30_000, 240_000);
    const calmMs = atMs + stormMs;
    if (calmMs + CALM_MS > endMs) break;
    if (draw.rng.unit() < 0.8) add(atMs - 20_000, 'trade');
    const faults = isBusy
      ? draw.between(MOST_FAULTS / 2, 2 * MOST_FAULTS)
      : draw.between(1, MOST_FAULTS);
    for (let fault = 0; fault < faults; fault += 1) {
      add(atMs + draw.between(0, stormMs - 1_000), drawName(draw));
    }
    add(calmMs, 'calm');
    const restMs = isBusy ? 30_000 : draw.between(30_000, draw.oneOf([120_000, 1_800_000]));
    atMs = calmMs + CALM_MS + restMs;
  }
  add(Math.max(FIRST_MS, endMs - CALM_MS), 'calm');
  steps.sort((a, b) => a.atMs - b.atMs);
  return { seed, settings, steps, endMs: Math.max(endMs, FIRST_MS + CALM_MS) };
}

function drawSettings(draw: Draw, nodes: number): LifeSettings {
  return {
    nodes,
    natsServers: draw.oneOf<1 | 3>([1, 3]),
    natsVersion: draw.oneOf<'2.9' | '2.12'>(['2.9', '2.12']),
    leaseMs: draw.oneOf([2_000, 5_000]),
    horizonBlocks: draw.oneOf([20, 40]),
    snapshotEvery: draw.oneOf([100, 400]),
    blockEveryMs: draw.oneOf([5_000, 20_000]),
  };
}

function drawName(draw: Draw): string {
  const kinds = Object.entries(STEPS);
  const total = kinds.reduce((sum, [, { weight }]) => sum + weight, 0);
  let rest = draw.rng.unit() * total;
  for (const [name, { weight }] of kinds) {
    rest -= weight;
    if (rest < 0) return name;
  }
  return 'kill';
}
