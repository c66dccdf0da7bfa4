/** The property of the simulation, for a number of seconds or of markets, from a seed. */
import fc from 'fast-check';
import { type Command, commands } from './commands.ts';
import { newTally, play, type Tally } from './market.ts';

interface SimulationOptions {
  /** Seed of the first market; each further one has the next. */
  readonly seed: number;
  readonly seconds: number;
  /** No more markets than these, however many there is time for. */
  readonly markets?: number;
  /** Plays one market only: of `seed`, at the place that a failure printed. */
  readonly path?: string;
}

/** How long a failure may be made smaller. */
const SHRINK_MS = 30_000;

/**
 * Plays random markets until time is over; throws at the first that is wrong, made as small as time
 * allows, with how to play it again. A started market is played to its end.
 */
export async function simulate(options: SimulationOptions): Promise<Tally> {
  const { seed, seconds, markets = Number.POSITIVE_INFINITY, path } = options;
  const tally = newTally();
  const endMs = performance.now() + seconds * 1000;
  const property = fc.asyncProperty(commands, async (drawn) => {
    if (performance.now() < endMs + SHRINK_MS) await play(drawn, tally);
  });
  if (path !== undefined) {
    judge(await fc.check(property, { seed, path, numRuns: 1 }));
    return tally;
  }
  for (let n = 0; n < markets && performance.now() < endMs; n += 1) {
    judge(await fc.check(property, { seed: seed + n, numRuns: 1 }));
  }
  return tally;
}

function judge(details: fc.RunDetails<[Command[]]>): void {
  if (!details.failed) return;
  const { seed, counterexamplePath, counterexample, errorInstance: error } = details;
  const again = `npm run sim -- market --seed ${seed} --path ${counterexamplePath}`;
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const steps = counterexample?.[0] ?? [];
  const list = steps.map((step) => `  ${JSON.stringify(step)}`).join('\n');
  throw new Error(`seed ${seed}; again: ${again}\nafter\n${list}\n${reason}`);
}
