/**
 * Memory of a process that builds 10,000 transactions, through two changes of its builder threads.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { BuilderProcess } from './processes/builder.ts';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { batchPlan, cancelPlan, orderPlan, SLOTS } from './support/plans.ts';
import { AS_STARTED, Process } from './support/processes.ts';

const HOW = { options: AS_STARTED };
const MIB = 1_048_576;
/** Where memory is looked at; all of them, a tenth with short windows. */
const MARKS = [500, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 10_000];

/** Of ten builds six are orders, three cancel, one is a full batch. */
function mixOf() {
  const order = orderPlan();
  const cancel = cancelPlan();
  return [order, cancel, order, order, cancel, order, batchPlan(), order, cancel, order];
}

export const buildMemory: Bench = {
  name: 'buildMemory',
  async measure(scale, progress) {
    const builder = await Process.start<BuilderProcess>('builder.ts', 'any', [], HOW);
    await builder.ask('start', SLOTS);
    const plans = mixOf();
    const rows = [row('0', (await builder.ask('state')).rssBytes, 1, null)];
    let before = 0;
    for (const mark of marksOf(scale)) {
      progress(whole(mark));
      const { count, seconds } = await builder.ask('buildMany', { plans, count: mark - before });
      const { rssBytes, generation } = await builder.ask('state');
      rows.push(row(whole(mark), rssBytes, generation, count / seconds));
      before = mark;
    }
    await builder.end();
    const notes = ['Of ten builds six were orders, three cancellations, one a batch of 16.'];
    return { columns: COLUMNS, rows, notes };
  },
};

const COLUMNS = ['builds', 'RSS MiB', 'generation of threads', 'builds/s since'];

function marksOf({ seconds }: Scale): readonly number[] {
  return seconds > 1 ? MARKS : MARKS.map((mark) => mark / 10);
}

function row(name: string, rssBytes: number, generation: number, rate: number | null): string[] {
  const since = rate === null ? '–' : fixed(rate, 1);
  return [name, whole(rssBytes / MIB), String(generation), since];
}
