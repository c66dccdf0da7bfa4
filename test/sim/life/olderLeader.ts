/** A node of the version before that leads for a moment: as during an upgrade. */
import { Bucket } from '../../../src/cluster/nats/bucket.ts';
import { connectNats } from '../../../src/cluster/nats/connection.ts';
import { openEntry, sealEntry } from '../../../src/engine/log/entry.ts';
import { sleep } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { appendAs04 } from '../../support/appendsOf04.ts';
import type { Life } from './life.ts';
import { MARKET } from './steps/nats.ts';

const TRIES = 50;
const TRY_MS = 200;

/** Takes the lease, appends, and releases it. */
export async function leadAs04(life: Life, version: number, count: number): Promise<void> {
  const { nats, clock, rng, timeline } = life.deps;
  const address = { url: 'nats://nats.sim:4222', name: 'older' };
  const link = await connectNats(address, rng, nats.dialer('older'));
  if (link instanceof Failure) return timeline.note('older', link.message);
  try {
    const replicas = nats.copiesOf(`KV_${MARKET}-nodes`) ?? 1;
    const shape = { name: `${MARKET}-nodes`, replicas, ttlMs: life.leaseMs };
    const bucket = new Bucket(link, shape, TRY_MS);
    const lease = JSON.stringify({ node: 'older', subject: `${MARKET}-leader` });
    let taken = await bucket.create('leader', lease);
    for (let tries = 0; taken.write !== 'done'; tries += 1) {
      if (tries > TRIES) return timeline.note('older', 'did not get the lease');
      await sleep(clock, TRY_MS);
      taken = await bucket.create('leader', lease);
    }
    const seq = nats.lastSeq(MARKET);
    const text = nats.textAt(MARKET, seq);
    if (text !== null) {
      const stored = await appendAs04(link, MARKET, entriesAfter(text, version, count));
      timeline.note('older', `appended behind ${seq}: ${stored.join(', ')}`);
    }
    // By its revision, as that version does: another node may have the lease by now.
    await bucket.remove('leader', taken.revision);
  } finally {
    await link.close();
  }
}

/** A new term behind the entry in `text`: its leader, and changes of the mempool without any. */
function entriesAfter(text: string, version: number, count: number) {
  const last = openEntry(text);
  const { epoch, term, timeMs } = last.entry;
  let { seq } = last.entry;
  let prevEntryHash = last.hash;
  return Array.from({ length: count }, (_, at) => {
    seq += 1;
    const payload =
      at === 0
        ? ({ kind: 'leader', node: 'older' } as const)
        : ({ kind: 'mempool', seenMs: timeMs, whole: false, added: [], removed: [] } as const);
    const sealed = sealEntry({
      version,
      epoch,
      seq,
      term: term + 1,
      prevEntryHash,
      timeMs,
      payload,
    });
    prevEntryHash = sealed.hash;
    return sealed;
  });
}
