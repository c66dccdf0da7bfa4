/**
 * `npm run sim -- cluster [--seed N] [--seconds N] [--fault NAME]`: three nodes over NATS, every
 * fault once in an order of the seed, and then at random until the time is over.
 */
import { parseArgs } from 'node:util';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { FAULTS, type FaultName } from '../cluster/faults/faults.ts';
import { finish, play, setUp } from '../cluster/faults/setup.ts';

export async function simulateCluster(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      seconds: { type: 'string', default: '1' },
      fault: { type: 'string', multiple: true },
    },
  });
  const seed = Number(values.seed);
  const rng = seededRng(seed + 1);
  const only = values.fault ?? [];
  const names = namesOf().filter((name) => only.length === 0 || only.includes(name));
  if (names.length === 0) throw new Error(`--fault is one of: ${namesOf().join('; ')}`);
  console.log(`seed ${seed}`);
  const ends: (() => void | Promise<void>)[] = [];
  try {
    const scope = { after: (run: () => void | Promise<void>) => void ends.push(run) };
    const startMs = performance.now();
    const setup = await setUp(scope, seed, console.log);
    let rest = shuffled(names, rng.unit);
    while (rest.length > 0 || performance.now() - startMs < Number(values.seconds) * 1000) {
      if (rest.length === 0) rest = shuffled(names, rng.unit);
      const name = rest.pop();
      if (name !== undefined) await play(setup, name);
    }
    await finish(setup);
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

function namesOf(): FaultName[] {
  // trust: the keys of the object that the type is made of
  return Object.keys(FAULTS) as FaultName[];
}

function shuffled<T>(items: readonly T[], unit: () => number): T[] {
  const keyed = items.map((item) => ({ item, key: unit() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
