/** Appends without end and prints every acknowledged seq: a process to be killed. */
import { LocalLog } from '../../../src/engine/log/local.ts';
import { chainAfter } from '../../support/chain.ts';

const [file = ''] = process.argv.slice(2);
const log = await LocalLog.open({ file, maxMb: 0 });
for (;;) {
  const entries = chainAfter(await log.last(), 1 + ((await log.last()).seq % 7));
  await Promise.all(
    entries.map(async (sealed) => {
      const { outcome } = await log.append(sealed, sealed.entry.seq - 1);
      if (outcome === 'appended') process.stdout.write(`${sealed.entry.seq} ${sealed.hash}\n`);
    }),
  );
}
