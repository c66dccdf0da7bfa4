/**
 * Polls the health of every node and reads the log: never two states at one position, never two
 * leaders in a term, no stale node that reports fresh, and no 200 from a node whose state the log
 * does not continue.
 */
import assert from 'node:assert/strict';
import { JetstreamLog } from '../../../src/cluster/log/jetstream.ts';
import type { NatsLink } from '../../../src/cluster/nats/connection.ts';
import type { Entry, SealedEntry } from '../../../src/engine/log/entry.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { epochNumber } from '../../../src/engine/runtime/position.ts';
import { PATIENT_MS } from '../../support/nats.ts';
import type { Scope } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { type Health, MARKET, type Nodes } from './nodes.ts';

const EVERY_MS = 60;
/** Longest time between the last message and `stale`. */
const MAX_SILENT_MS = 15_000;
const READ = 512;

interface Sample {
  readonly node: string;
  /** The node answered between the two. */
  readonly askedMs: number;
  readonly heardMs: number;
  readonly health: Health;
}

export class Watcher {
  readonly faults: unknown[] = [];
  /** Positions that at least two nodes were seen at. */
  shared = 0;
  readonly #states = new Map<string, { hash: string; node: string; isShared: boolean }>();
  /** The newest position that was seen by then, in time. */
  readonly #newest: { atMs: number; number: number; seq: number }[] = [];
  readonly #entries = new Map<string, SealedEntry>();
  readonly #nodes: Nodes;
  #running = true;

  constructor(scope: Scope, nodes: Nodes) {
    this.#nodes = nodes;
    const ended = this.#run();
    scope.after(() => {
      this.#running = false;
      return ended;
    });
  }

  async #run(): Promise<void> {
    while (this.#running) {
      const { living } = this.#nodes;
      const askedMs = performance.now();
      const found = await Promise.all(living.map((node) => node.health()));
      const heardMs = performance.now();
      for (const [index, health] of found.entries()) {
        const name = living[index]?.name ?? '';
        if (health !== null) this.#see({ node: name, askedMs, heardMs, health });
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  assertSound(): void {
    const [first] = this.faults;
    if (first !== undefined) throw first;
  }

  /** All living nodes ready, at one position, in one state. */
  async converged(limitMs: number): Promise<Health> {
    const startMs = performance.now();
    for (let last = ''; ; ) {
      this.assertSound();
      const { living } = this.#nodes;
      const found = await Promise.all(living.map((node) => node.health()));
      const [first] = found;
      const isOne = found.every(
        (one) =>
          one?.status === 200 && !one.stale && one.epoch === first?.epoch && one.seq === first.seq,
      );
      if (isOne && first !== undefined && first !== null) {
        for (const one of found) assert.equal(one?.stateHash, first.stateHash);
        return first;
      }
      last = JSON.stringify(found);
      assert(performance.now() - startMs < limitMs, `the nodes never agreed: ${last}`);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS / 3));
    }
  }

  #see(sample: Sample): void {
    const { node, health, askedMs, heardMs } = sample;
    try {
      assert.equal(health.status, health.synced ? 200 : 503, `${node}: ${JSON.stringify(health)}`);
      this.#compare(sample);
      const number = epochNumber(health.epoch);
      const newest = this.#newest.at(-1) ?? { number: 0, seq: 0 };
      const isNewer =
        number > newest.number || (number === newest.number && health.seq > newest.seq);
      if (isNewer) this.#newest.push({ atMs: heardMs, number, seq: health.seq });
      if (health.status !== 200 || health.stale) return;
      const known = this.#newest.findLast((one) => one.atMs < askedMs - MAX_SILENT_MS);
      if (known === undefined) return;
      const isOld = number < known.number || (number === known.number && health.seq < known.seq);
      assert(!isOld, `${node} calls itself fresh at ${health.epoch}:${health.seq}, long ago`);
    } catch (error) {
      this.faults.push(error);
    }
  }

  #compare({ node, health: { epoch, seq, stateHash } }: Sample): void {
    const key = `${epoch}:${seq}`;
    const known = this.#states.get(key);
    if (known === undefined) this.#states.set(key, { hash: stateHash, node, isShared: false });
    else {
      assert.equal(stateHash, known.hash, `${node} and ${known.node} differ at ${key}`);
      if (node !== known.node && !known.isShared) {
        known.isShared = true;
        this.shared += 1;
      }
    }
  }

  /**
   * Keeps the entries of the log: before a fault that may lose them, and when all is well again.
   */
  async archive(link: NatsLink): Promise<void> {
    // A client waits between two tries, so nodes may be connected again before this link is.
    await until('the link to NATS is back', () => link.connected);
    const log = await JetstreamLog.open(link, systemClock, {
      name: MARKET,
      answerMs: PATIENT_MS,
    });
    try {
      const { seq: last } = await log.last();
      for (let next = await log.first(); next <= last; ) {
        const entries = await log.read(next, READ);
        for (const sealed of entries) this.#keep(sealed);
        const end = entries.at(-1)?.entry.seq;
        assert(end !== undefined, `entry ${next} of ${last} is there`);
        next = end + 1;
      }
    } finally {
      await log.close();
    }
    assertOrder([...this.#entries.values()].map(({ entry }) => entry));
  }

  get entries(): number {
    return this.#entries.size;
  }

  #keep(sealed: SealedEntry): void {
    const { epoch, seq } = sealed.entry;
    const key = `${epoch}:${seq}`;
    const known = this.#entries.get(key);
    assert(known === undefined || known.hash === sealed.hash, `${key} was another entry before`);
    this.#entries.set(key, sealed);
  }
}

/** Terms only rise, each has one leader, and an entry is its leader's or from before it. */
function assertOrder(entries: readonly Entry[]): void {
  const ordered = entries.toSorted(
    (a, b) => epochNumber(a.epoch) - epochNumber(b.epoch) || a.seq - b.seq,
  );
  const leaders = new Map<number, string>();
  const names = new Map<number, string>();
  let term = 0;
  for (const { epoch, seq, term: own, payload } of ordered) {
    const at = `${epoch}:${seq}`;
    const name = names.get(epochNumber(epoch));
    assert(name === undefined || name === epoch, `two epochs of one number: ${name}, ${epoch}`);
    names.set(epochNumber(epoch), epoch);
    assert(own >= term, `${at} is of term ${own} after term ${term}`);
    term = own;
    if (payload.kind !== 'leader') continue;
    assert(!leaders.has(own), `${at}: term ${own} is ${leaders.get(own)}'s, not ${payload.node}'s`);
    leaders.set(own, payload.node);
  }
}
