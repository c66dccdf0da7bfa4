/**
 * Builds per second of one builder thread, against the assembler in a loop without thread and pool,
 * and against the scripts alone.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { TransactionPlan } from '../src/cardano/transactions/plan.ts';
import type { Assembler } from './processes/assembler.ts';
import type { BuilderProcess } from './processes/builder.ts';
import { type Bench, fixed, percent, type Scale, whole } from './support/bench.ts';
import { batchPlan, cancelPlan, orderPlan, SLOTS } from './support/plans.ts';
import { AS_STARTED, Process, pinned } from './support/processes.ts';
import { type Done, total } from './support/work.ts';

const KINDS: readonly (readonly [string, TransactionPlan])[] = [
  ['order, no script', orderPlan()],
  ['cancel, 1 script', cancelPlan()],
  ['batch of 16, 17 scripts', batchPlan()],
];

const HOW = { options: AS_STARTED };

interface Sides {
  readonly pool: Done;
  readonly loop: Done;
  readonly scripts: Done;
}

export const build: Bench = {
  name: 'build',
  async measure(scale, progress) {
    const builder = await Process.start<BuilderProcess>('builder.ts', 'server', [], HOW);
    const assembler = await Process.start<Assembler>('assembler.ts', 'server', [], HOW);
    await builder.ask('start', SLOTS);
    const rows: string[][] = [];
    for (const [name, plan] of KINDS) {
      progress(name);
      const looked = await assembler.ask('look', { plan, slots: SLOTS, seconds: 0 });
      const { sizeBytes, evaluations } = looked;
      const sides = await measureSides(builder, assembler, plan, scale);
      rows.push([name, whole(sizeBytes), ...cells(sides, evaluations)]);
    }
    await Promise.all([builder.end(), assembler.end()]);
    const notes = [pinned ? 'Both sides on core 0, in turns.' : 'Not pinned.'];
    return { columns: COLUMNS, rows, notes };
  },
};

const COLUMNS = [
  'transaction',
  'bytes',
  'builds/s',
  'loop builds/s',
  'ratio',
  'CPU ms',
  'loop CPU ms',
  'CPU ratio',
  'script runs',
  'one run CPU ms',
  'scripts’ share',
];

async function measureSides(
  builder: Process<BuilderProcess>,
  assembler: Process<Assembler>,
  plan: TransactionPlan,
  { seconds, rounds }: Scale,
): Promise<Sides> {
  const pool: Done[] = [];
  const loop: Done[] = [];
  const scripts: Done[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    // The first round warms up; compiling the whole evaluator takes seconds.
    const task = { plan, slots: SLOTS, seconds };
    const parts = [
      await builder.ask('build', task),
      await assembler.ask('assemble', task),
      await assembler.ask('scripts', { ...task, seconds: seconds / 2 }),
    ] as const;
    if (round === 0) continue;
    pool.push(parts[0]);
    loop.push(parts[1]);
    scripts.push(parts[2]);
  }
  return { pool: total(pool), loop: total(loop), scripts: total(scripts) };
}

function cells({ pool, loop, scripts }: Sides, evaluations: number): string[] {
  const rate = ({ count, seconds }: Done) => count / seconds;
  const cpuMs = ({ cpuUs, count }: Done) => cpuUs / 1000 / count;
  const hasScripts = evaluations > 0;
  return [
    fixed(rate(pool), 1),
    fixed(rate(loop), 1),
    fixed(rate(pool) / rate(loop)),
    fixed(cpuMs(pool)),
    fixed(cpuMs(loop)),
    fixed(cpuMs(loop) / cpuMs(pool)),
    String(evaluations),
    hasScripts ? fixed(cpuMs(scripts)) : '–',
    hasScripts ? percent((evaluations * cpuMs(scripts)) / cpuMs(pool)) : '–',
  ];
}
