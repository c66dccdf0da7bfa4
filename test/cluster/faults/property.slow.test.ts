/** Random markets on several nodes in one process, over a stream that does what NATS should not. */
import assert from 'node:assert/strict';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { rebuildState } from '../../../src/engine/actors/rebuild.ts';
import { systemClock as clock, nextTurn, sleep } from '../../../src/engine/runtime/clock.ts';
import { epochNumber } from '../../../src/engine/runtime/position.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { until } from '../../support/until.ts';
import type { FaultyStream } from './faultyLog.ts';
import { newPlace, OneNode, type Place } from './oneProcess.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
const RUNS = Number(process.env.RUNS ?? 3);
const STEPS = 25;
const MEND_MS = 90_000;
const SETTLE_MS = 5_000;

/** One thing that happens, at random. */
async function disturb({ stream, rng }: Place, nodes: readonly OneNode[]): Promise<string> {
  const one = nodes[Math.floor(rng.unit() * nodes.length)] ?? assert.fail();
  const dice = rng.unit();
  if (dice < 0.35) {
    one.mayLead = true;
    return `${one.name} may lead`;
  }
  if (dice < 0.5) {
    one.expire();
    return `${one.name} may not lead`;
  }
  if (dice < 0.65) {
    one.log.isCut = true;
    return `${one.name} is cut off`;
  }
  if (dice < 0.8) {
    for (const node of nodes) node.log.mend();
    return 'all are joined';
  }
  if (dice < 0.84) {
    // A node that is behind notices nothing, and would write where others have written.
    const others = nodes.filter((node) => node !== one);
    one.log.isCut = true;
    for (const node of others) {
      node.log.mend();
      node.mayLead = true;
    }
    await sleep(clock, 150);
    for (const node of others) node.expire();
    const { seq } = one.node.applied();
    stream.truncate(Math.max(0, stream.end - seq));
    // Who is back has said what it has before anybody leads: a lease is long beside that.
    await settled(others);
    for (const node of others) node.say();
    one.log.mend();
    one.mayLead = true;
    return `the log ends where ${one.name} is, at ${seq}, which may lead`;
  }
  // What a node has is announced within its lease; entries are lost by restarts, which take longer.
  for (const node of nodes) node.say();
  if (dice < 0.9) {
    const count = 1 + Math.floor(rng.unit() * 10);
    stream.truncate(count);
    return `the last ${count} entries are lost`;
  }
  if (dice < 0.93) {
    stream.truncate(Number.POSITIVE_INFINITY);
    return 'the stream is lost';
  }
  if (dice < 0.96) {
    const what = rng.unit() < 0.5 ? 'term' : 'hash';
    stream.forge(what);
    return `a stranger wrote entry ${stream.end}, of a wrong ${what}`;
  }
  stream.trouble = rng.unit() / 2;
  return `trouble ${stream.trouble.toFixed(2)}`;
}

/** It has read entries of its epoch that it has not applied: its disk may be slow. */
function isBehind({ node, log: { lastRead } }: OneNode): boolean {
  const { epoch, seq } = node.applied();
  if (lastRead === null || node.hasDiverged) return false;
  return lastRead.entry.epoch === epoch && lastRead.entry.seq > seq;
}

/** What they have read before is applied, unless what they read is refused for ever. */
async function settled(nodes: readonly OneNode[]): Promise<void> {
  const where = () => nodes.map(({ at }) => at).join();
  const untilMs = clock.monotonicMs() + SETTLE_MS;
  const waits = () => nodes.some(isBehind) && clock.monotonicMs() < untilMs;
  for (let [last, same] = ['', 0]; same < 5; same = where() === last && !waits() ? same + 1 : 0) {
    last = where();
    await sleep(clock, 15);
    // More turns than a late answer takes, however slow they are.
    for (let turn = 0; turn < 50; turn += 1) await nextTurn(clock);
  }
}

/** What is still in the stream: a chain, terms that only rise, one leader for each. */
function assertStream({ entries }: FaultyStream): void {
  const leaders = new Set<number>();
  let [term, hash] = [0, ''];
  for (const [index, { entry, hash: own }] of entries.entries()) {
    if (index > 0 && entry.payload.kind !== 'epoch') assert.equal(entry.prevEntryHash, hash);
    assert(entry.term >= term, `term ${entry.term} after ${term}`);
    [term, hash] = [entry.term, own];
    if (entry.payload.kind !== 'leader') continue;
    assert(!leaders.has(term), `two leaders of term ${term}`);
    leaders.add(term);
  }
}

/** The log is sound again and a node may lead: all continue, from one state. */
async function mended(place: Place, nodes: readonly OneNode[], told: string[]): Promise<void> {
  const { stream, faults } = place;
  stream.trouble = 0;
  for (const node of nodes) {
    node.expire();
    node.log.mend();
  }
  const [first] = place.faults;
  if (first !== undefined) throw first;
  const before = stream.history.length;
  const startMs = performance.now();
  const last = () => {
    const { payload, epoch, seq, term } = stream.last?.entry ?? {};
    return `${payload?.kind} ${epoch}:${seq}, term ${term}`;
  };
  const of = ({ at, name, node }: OneNode) => `${name} ${at}${node.hasDiverged ? ' diverged' : ''}`;
  const where = () => `${nodes.map(of)}; the log ends with ${last()}; ${told.join('; ')}`;
  // The node with the longest log can lead; the others are refused, and the lease passes on.
  for (let turn = 0; ; turn += 1) {
    const one = nodes[turn % nodes.length] ?? assert.fail();
    one.mayLead = true;
    // Longer each round: an epoch that a slow machine begins must come to its end once.
    const most = 40 * 2 ** Math.min(6, Math.floor(turn / nodes.length));
    for (let waited = 0; waited < most && one.mayLead; waited += 1) {
      await sleep(clock, 10);
      if (stream.history.length > before + 12) break;
    }
    if (stream.history.length > before + 12) break;
    one.expire();
    assert(performance.now() - startMs < MEND_MS, `no node leads: ${where()}`);
  }
  for (const node of nodes) node.expire();
  const same = () => nodes.every(({ node, at }) => at === nodes[0]?.at && node.synced());
  await until(
    () => `all agree: ${where()}`,
    () => faults.length > 0 || (same() && nodes[0]?.node.applied().seq === stream.end),
    MEND_MS,
  );
  if (faults[0] !== undefined) throw faults[0];
  for (const { node } of nodes) assert.equal(node.stateHash(), nodes[0]?.node.stateHash());
  assertStream(stream);
}

async function market(t: TestContext, seed: number): Promise<Record<string, number>> {
  const rng = seededRng(seed);
  const place = newPlace(rng);
  const { stream, states } = place;
  const nodes: OneNode[] = [];
  const told: string[] = [];
  try {
    for (const name of ['a', 'b', 'c']) nodes.push(await OneNode.start(name, place));
    for (let step = 1; step <= STEPS; step += 1) {
      told.push(await disturb(place, nodes));
      await sleep(clock, Math.floor(rng.unit() * 60));
      if (step % 8 === 0) await mended(place, nodes, told);
    }
    await mended(place, nodes, told);
    for (const { node, files, log } of nodes.slice(0, 1)) {
      const { seq } = node.applied();
      const options = { horizonBlocks: 2160, maxMb: 0, maxLoadedPools: 100, clock };
      const quarantined = (_: string, error: unknown) => place.faults.push(error);
      const file = `${files.directory}/again.sqlite`;
      // A node that was where an epoch begins never needed the snapshot that others take.
      for (const name of readdirSync(place.bases)) {
        copyFileSync(join(place.bases, name), join(files.directory, `base-${name}`));
      }
      const again = await rebuildState(file, seq, log, files, { ...options, quarantined });
      assert.equal(again.checkpoint?.stateHash, node.stateHash(), 'the log alone makes the state');
      await again.close();
    }
  } catch (error) {
    t.diagnostic(`seed ${seed}: ${told.join('; ')}`);
    throw error;
  } finally {
    for (const node of nodes) await node.stop();
  }
  const terms = nodes.reduce((sum, { terms }) => sum + terms, 0);
  const epochs = epochNumber(stream.last?.entry.epoch ?? '');
  return { seed, entries: stream.history.length, positions: states.size, terms, epochs };
}

test('one state at one position with any fault of the log; all continue once it is sound', {
  timeout: 400_000,
}, async (t) => {
  t.diagnostic(`again: SEED=${SEED} node --test test/cluster/faults/property.slow.test.ts`);
  for (let run = 0; run < RUNS; run += 1) {
    t.diagnostic(JSON.stringify(await market(t, SEED + run)));
  }
});
