/**
 * `npm run sim -- planted [NAME…] [--minutes 10] [--jobs 1] [--hours 1]`: for each planted fault,
 * copies the tree, applies the patch, and runs the cluster simulator with seeds 1, 2, 3 … until an
 * invariant breaks or the processor minutes are used. Prints a Markdown table.
 *
 * A seed that breaks without the fault says nothing: its find is checked on an unpatched copy, and
 * does not count. Exit code 1: fewer than 90 % were found.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { OUT_OF_TIME } from './cpuLimit.ts';
import { copyOfTree, plantedFaults } from './planted.ts';

interface SeedRun {
  /** null: the time was used. */
  readonly broke: string | null;
  readonly isOver: boolean;
  readonly cpuMs: number;
}

interface Found {
  readonly fault: string;
  /** The broken rule; null: nothing in the time. */
  readonly invariant: string | null;
  readonly seed: number;
  readonly cpuMs: number;
}

interface RunOptions {
  readonly limitMs: number;
  readonly hours: string;
}

const MINUTE_MS = 60_000;
const WANTED_SHARE = 0.9;
const LAST_LINES = 12;

export async function runPlanted(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      minutes: { type: 'string', default: '10' },
      jobs: { type: 'string', default: '1' },
      hours: { type: 'string', default: '1' },
    },
  });
  const [minutes, jobs] = [Number(values.minutes), Number(values.jobs)];
  if (!(minutes > 0) || !Number.isSafeInteger(jobs) || jobs < 1) {
    throw new Error('--minutes takes a number above 0, --jobs an integer above 0');
  }
  const known = plantedFaults();
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`there is no fault ${unknown}; the faults: ${known.join(', ')}`);
  }
  const names = positionals.length > 0 ? positionals : known;
  const found = await search(names, jobs, { limitMs: minutes * MINUTE_MS, hours: values.hours });
  console.log(tableOf(found));
  const count = found.filter(({ invariant }) => invariant !== null).length;
  console.log(`\n${count} of ${found.length} found within ${minutes} CPU minutes each.`);
  return count >= WANTED_SHARE * found.length ? 0 : 1;
}

async function search(
  names: readonly string[],
  jobs: number,
  options: RunOptions,
): Promise<readonly Found[]> {
  const sound = copyOfTree(null);
  const soundSeeds = new Map<number, Promise<boolean>>();
  const isSound = (seed: number) => {
    const known = soundSeeds.get(seed) ?? breaksWithoutFault(sound.path, seed, options);
    soundSeeds.set(seed, known);
    return known;
  };
  const waiting = [...names];
  const found = new Map<string, Found>();
  const work = async () => {
    for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
      const result = await searchOne(fault, isSound, options);
      found.set(fault, result);
      console.error(lineOf(result));
    }
  };
  try {
    await Promise.all(Array.from({ length: jobs }, work));
  } finally {
    sound.remove();
  }
  return names.flatMap((name) => found.get(name) ?? []);
}

async function breaksWithoutFault(
  tree: string,
  seed: number,
  options: RunOptions,
): Promise<boolean> {
  const { broke } = await runSeed(tree, seed, options.limitMs, options);
  if (broke !== null) console.error(`seed ${seed} breaks without a fault: ${broke}`);
  return broke === null;
}

async function searchOne(
  fault: string,
  isSound: (seed: number) => Promise<boolean>,
  options: RunOptions,
): Promise<Found> {
  const tree = copyOfTree(fault);
  let cpuMs = 0;
  try {
    for (let seed = 1; ; seed += 1) {
      const run = await runSeed(tree.path, seed, options.limitMs - cpuMs, options);
      cpuMs += run.cpuMs;
      const isFound = run.broke !== null && (await isSound(seed));
      if (isFound) return { fault, invariant: run.broke, seed, cpuMs };
      if (run.isOver || cpuMs >= options.limitMs) return { fault, invariant: null, seed, cpuMs };
    }
  } finally {
    tree.remove();
  }
}

/** One run of the simulator in another process, whose processor time is limited. */
function runSeed(
  tree: string,
  seed: number,
  limitMs: number,
  { hours }: RunOptions,
): Promise<SeedRun> {
  const preload = join(tree, 'test/sim/planted/cpuLimit.ts');
  const args = [
    '--disable-warning=ExperimentalWarning',
    `--import=${preload}`,
    join(tree, 'test/sim/main.ts'),
    'cluster',
    `--seed=${seed}`,
    '--no-shrink',
    '--quiet',
    '--busy',
    `--hours=${hours}`,
  ];
  const child = spawn(process.execPath, args, {
    cwd: tree,
    env: { ...process.env, CPU_LIMIT_MS: String(limitMs) },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const texts = ['', '', '', ''];
  for (const index of [1, 2, 3]) {
    child.stdio[index]?.on('data', (bytes: Buffer) => {
      texts[index] += bytes.toString();
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      const [, said = '', complaint = '', used = ''] = texts;
      const cpuMs = Number(used);
      const isOver = code === OUT_OF_TIME;
      if (code === 0 || isOver) return resolve({ broke: null, isOver, cpuMs });
      resolve({ broke: brokenIn(said, complaint, code), isOver, cpuMs });
    });
  });
}

/** The name of the invariant; of a simulator that ended otherwise, its last words. */
function brokenIn(said: string, complaint: string, code: number | null): string {
  const named = /^invariant: (.*)$/m.exec(said)?.[1];
  if (named !== undefined) return named;
  const words = `${said}\n${complaint}`.trim().split('\n').slice(-LAST_LINES).join(' / ');
  return `the process ended with ${code}: ${words}`;
}

function tableOf(found: readonly Found[]): string {
  const head = '| fault | found by | seed | CPU seconds |\n|---|---|---:|---:|';
  return [head, ...found.map(lineOf)].join('\n');
}

function lineOf({ fault, invariant, seed, cpuMs }: Found): string {
  const by = invariant?.replaceAll('|', '\\|').slice(0, 120) ?? `**not found** up to seed ${seed}`;
  return `| ${fault} | ${by} | ${invariant === null ? '' : seed} | ${Math.round(cpuMs / 1000)} |`;
}
