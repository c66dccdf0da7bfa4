/** The log's answers about its market after a bit of the entry that names it was turned. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ensureLog } from '../../src/cluster/log/jetstream.ts';
import { connectNats } from '../../src/cluster/nats/connection.ts';
import { marketOfLog } from '../../src/engine/recovery/sameMarket.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { EMPTY_TAIL, nextEntry, tailAfter } from '../support/chain.ts';
import { openLog } from '../support/nats.ts';
import { NatsModel } from './nats/model.ts';

const NAME = 'damaged';
const MARKET = { network: 'devnet', deployment: 'd5', id: 'ab'.repeat(32) };

test('a damaged entry does not say that the log belongs to another market', async (t) => {
  const rng = seededRng(1);
  const latency = { minMs: 0, maxMs: 1 };
  const model = new NatsModel({ clock: systemClock, rng, latency });
  after(() => model.killServer(0));
  const link = await connectNats({ url: 'nats://model', name: 'node' }, rng, model.dialer('node'));
  assert.ok(!(link instanceof Failure));
  after(() => link.close());
  await ensureLog(link, { name: NAME, replicas: 1 });
  const log = await openLog(t, link, NAME);
  const first = nextEntry(EMPTY_TAIL, 0, { kind: 'epoch', reason: 'new', market: MARKET });
  const second = nextEntry(tailAfter(first));
  assert.equal((await log.append(first, 0)).outcome, 'appended');
  assert.deepEqual(await marketOfLog(await openLog(t, link, NAME)), MARKET, 'no entry follows it');
  assert.equal((await log.append(second, 1)).outcome, 'appended');
  assert.deepEqual(await marketOfLog(await openLog(t, link, NAME)), MARKET);
  const text = model.textAt(NAME, 1) ?? '';
  model.rewrite(NAME, 1, 0, text.replace('abab"', 'abac"'));
  assert.equal(await marketOfLog(await openLog(t, link, NAME)), null);
  await log.setLabel(MARKET);
  assert.deepEqual(await marketOfLog(await openLog(t, link, NAME)), MARKET, 'as its label says');
});
