/** A step of a schedule: how its fields are drawn, and its effect. */
import type { Rng } from '../../../../src/engine/runtime/rng.ts';
import type { Life, NodeChoice } from '../life.ts';
import type { Field, TimedStep } from '../schedule.ts';

/** Chance while a schedule is drawn. */
export class Draw {
  readonly rng: Rng;
  readonly nodes: number;

  constructor(rng: Rng, nodes: number) {
    this.rng = rng;
    this.nodes = nodes;
  }

  /** A whole number, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.rng.unit() * (most - least + 1));
  }

  oneOf<T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.rng.unit() * choices.length)] ?? choices[0];
  }

  /** The leader more often than others. */
  node(): NodeChoice {
    return this.oneOf<NodeChoice>([
      'leader',
      'leader',
      'follower',
      this.between(0, this.nodes - 1),
    ]);
  }

  /** Milliseconds: often short, at times longer than any lease, seldom minutes. */
  duration(): number {
    const most = this.oneOf([2_000, 8_000, 8_000, 30_000, 30_000, 90_000]);
    return this.between(200, most);
  }
}

type Fields = Readonly<Record<string, Field>>;

export interface StepKind {
  /** How often, beside the others. */
  readonly weight: number;
  /**
   * Set if the step tests something only when nothing else is disturbed: the weight of such a
   * storm.
   */
  readonly alone?: number;
  /** The weight of such a storm at the end of a run, behind all others. */
  readonly last?: number;
  draw(draw: Draw): Fields;
  apply(life: Life, step: TimedStep): void;
}

export function stepKind<F extends Fields>(kind: {
  readonly weight: number;
  readonly alone?: number;
  readonly last?: number;
  draw(draw: Draw): F;
  apply(life: Life, fields: F): void;
}): StepKind {
  const { apply } = kind;
  // trust: fields are drawn by this kind, or written by hand after its example
  return { ...kind, apply: (life, step) => apply(life, step as TimedStep & F) };
}
