/**
 * `npm run sim -- [--seed N] [--seconds N] [--path P]`: random markets for as long as you like.
 * `npm run sim -- cluster`: several nodes, and all that may break between them (cluster.ts).
 * `npm run sim -- planted`: whether that finds the faults in planted/ (planted/run.ts).
 */
import { parseArgs } from 'node:util';
import { simulateCluster } from './cluster.ts';
import { runPlanted } from './planted/run.ts';
import { simulate } from './property.ts';

if (process.argv[2] === 'cluster') {
  try {
    await simulateCluster(process.argv.slice(3));
    process.exit(0);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
if (process.argv[2] === 'planted') process.exit(await runPlanted(process.argv.slice(3)));
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    seconds: { type: 'string', default: '60' },
    path: { type: 'string' },
  },
});
const seed = Number(values.seed);
const seconds = Number(values.seconds);
if (!Number.isSafeInteger(seed) || !(seconds > 0)) {
  console.error('--seed takes an integer, --seconds a number above 0');
  process.exit(2);
}
console.log(`seed ${seed}, ${seconds} s`);
const path = values.path === undefined ? {} : { path: values.path };
try {
  console.log(await simulate({ seed, seconds, ...path }));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
