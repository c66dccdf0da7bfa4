/** One run of a schedule, in a separate world, from its start to its verdict. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Broken, Player } from './player.ts';
import type { Schedule } from './schedule.ts';
import { Timeline } from './timeline.ts';
import { openWorld } from './world.ts';

export interface Outcome {
  /** The rule that was broken first; null: none. */
  readonly broken: Broken | null;
  /** Virtual time of its end. */
  readonly atMs: number;
  /** Equal for two runs in which the same happened. */
  readonly digest: string;
  readonly timeline: readonly string[];
  readonly positions: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

const MAX_LINES = 150;

/** It leaves nothing in the process or on the disk. */
export async function runSchedule(schedule: Schedule, directory?: string): Promise<Outcome> {
  const place = directory ?? mkdtempSync(join(tmpdir(), 'sim-'));
  let broken: Broken | null = null;
  const fail = (invariant: string, why: string) => {
    if (broken !== null) return;
    broken = { invariant, why };
    timeline.note('', `BROKEN ${invariant}: ${why}`);
  };
  let nowMs = () => 0;
  const timeline = new Timeline(() => nowMs(), place);
  const world = await openWorld(schedule, place, timeline, fail);
  const player = new Player(world.time, world.life, () => broken);
  nowMs = () => player.nowMs;
  try {
    try {
      await player.play(schedule);
      if (broken === null) await player.stop();
      for (const why of world.life.deps.chain.audit()) fail('chain', why);
    } catch (error) {
      fail('crash', stackOf(error));
    }
    const { calms, compared, frames, watch } = player;
    return {
      broken,
      atMs: player.nowMs,
      digest: timeline.digest,
      timeline: timeline.last(MAX_LINES),
      positions: player.positions(),
      counts: {
        calms,
        compared,
        frames,
        entries: watch.entries,
        requests: player.requests,
        shared: watch.shared,
        tokens: world.life.deps.chain.tokens.length,
        events: world.time.events,
      },
    };
  } finally {
    await world.close();
    if (directory === undefined) rmSync(place, { recursive: true, force: true });
  }
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\nbecause of ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
