/** The property of the simulation, for a number of runs or of seconds, from a seed. */
import fc from 'fast-check';
import { commands } from './commands.ts';
import { newTally, play, type Tally } from './market.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Where in the tree of shrunk values to begin, as a failure printed it. */
  readonly path?: string;
}

/** Runs random markets until time is over; throws with seed and path at the first that is wrong. */
export async function simulate({ seed, seconds, path }: SimulationOptions): Promise<Tally> {
  const tally = newTally();
  const property = fc.asyncProperty(commands, (drawn) => play(drawn, tally));
  const details = await fc.check(property, {
    seed,
    numRuns: 1_000_000,
    interruptAfterTimeLimit: seconds * 1000,
    ...(path === undefined ? {} : { path }),
  });
  if (!details.failed) return tally;
  // Out of time before a first run was through is no failure of the market.
  if (details.counterexample === null) return tally;
  const again = `node test/sim/run.ts --seed ${details.seed} --path ${details.counterexamplePath}`;
  const error = details.errorInstance;
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const steps = JSON.stringify(details.counterexample[0]);
  throw new Error(`seed ${details.seed}; again: ${again}\nafter ${steps}\n${reason}`);
}
