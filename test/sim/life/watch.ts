/**
 * Rules that must hold at every step, under any disturbance:
 *
 * - `state`: two nodes at one position of one log have one state, and a node never goes back;
 * - `log`: terms of the stored entries rise, each has one leader, each entry is of its leader;
 * - `leader`: no node leads for at most two leases after the last disturbance;
 * - `stale`: a node that NATS does not reach reports that its state is old;
 * - `end`: a process ends by itself only with a reason that a person can act on;
 * - `memory`: this process, which holds all nodes, stays below its limit.
 */

import { openEntry, type SealedEntry } from '../../../src/engine/log/entry.ts';
import { epochNumber } from '../../../src/engine/runtime/position.ts';
import type { App } from '../../../src/server/app.ts';
import type { Life } from './life.ts';
import type { LifeNode, StoredMessage } from './ports.ts';
import { LEASE_STREAM, MARKET } from './steps/nats.ts';
import { AnswerRules } from './watchAnswers.ts';
import { LogRules } from './watchLog.ts';
import { MAX_BEHIND_MS, NodeRules } from './watchNodes.ts';

const LOOK_MS = 500;
/** Leases, and a little for the next try (docs/cluster.md: 1.2 of a lease after a crash). */
const LEADERLESS_LEASES = 2;
/** STALE_AFTER_MS, two checks and what notices a connection that is lost. */
const MAX_FRESH_MS = 12_000 + 8_000;
/** Asking costs much. */
const MEMORY_EVERY = 240;
const MAX_HEAP = 1_500_000_000;

interface Written {
  /** In the stream. */
  readonly seq: number;
  readonly hash: string;
  readonly epoch: string;
  readonly storedMs: number;
  /** In the epoch. */
  readonly entry: number;
  readonly term: number;
  /** The node that began that term; null: the stream does not say. */
  readonly leader: string | null;
}

export class Watch {
  readonly #life: Life;
  readonly #apps = new Map<LifeNode, App>();
  /** The stream's content, as written in this run. */
  readonly #written: Written[] = [];
  /** The same by epoch and number: the hash. */
  readonly #hashes = new Map<string, string>();
  readonly #startedMs = new Map<string, number>();
  readonly #logRules: LogRules;
  readonly #nodeRules: NodeRules;
  readonly #answerRules: AnswerRules;
  #ledMs = 0;
  /** When servers of NATS last had no leader for the log or the lease: they take 4 to 9 s. */
  #formingMs = 0;
  #leaders = '';
  #entries = 0;
  #looks = 0;

  constructor(life: Life) {
    this.#life = life;
    this.#logRules = new LogRules(life);
    this.#nodeRules = new NodeRules(life);
    this.#answerRules = new AnswerRules(life);
    life.deps.nats.onStored = (message) => this.#stored(message);
    this.#look();
  }

  /** Positions that at least two nodes were at. */
  get shared(): number {
    return this.#life.truths.shared;
  }

  /** Entries that were ever stored. */
  get entries(): number {
    return this.#entries;
  }

  get nowMs(): number {
    return this.#life.deps.clock.monotonicMs();
  }

  /** A node that NATS does not reach says so. */
  #checkStale({ name, app }: LifeNode, nowMs: number): void {
    const sinceMs = this.#life.cut.sinceMs(name);
    if (sinceMs === null || nowMs - sinceMs < MAX_FRESH_MS) return;
    const startedMs = this.#startedMs.get(name) ?? nowMs;
    if (nowMs - startedMs < MAX_FRESH_MS || app?.chain?.isStale() !== false) return;
    if (app.node.synced()) this.#broken('stale', `${name} has no NATS and says it is fresh`);
  }

  #broken(invariant: string, why: string): void {
    this.#life.deps.broken(invariant, why);
  }

  #look(): void {
    const { clock, timeline } = this.#life.deps;
    clock.after(LOOK_MS, () => this.#look());
    for (const node of this.#life.nodes) this.#lookAt(node);
    const leading = this.#leading;
    const names = leading.map(({ name }) => name).join(', ');
    if (names !== this.#leaders)
      timeline.note('', names === '' ? 'no node leads' : `leads: ${names}`);
    this.#leaders = names;
    const { nowMs } = this;
    this.#checkLeaders(leading);
    for (const node of this.#life.living) this.#checkStale(node, nowMs);
    this.#logRules.look(nowMs);
    this.#answerRules.look();
    const isOld = ({ storedMs }: Written) => storedMs < nowMs - MAX_BEHIND_MS;
    this.#nodeRules.look(nowMs, this.#written.findLast(isOld) ?? null);
    const newest = this.#written.at(-1)?.epoch ?? null;
    const hashAt = (epoch: string, seq: number) => this.#hashes.get(`${epoch}:${seq}`) ?? null;
    if (newest !== null) this.#nodeRules.checkServed(nowMs, epochNumber(newest), hashAt);
    if (leading[0] !== undefined) {
      this.#life.leaderName = leading[0].name;
      this.#ledMs = clock.monotonicMs();
    }
    this.#checkLeader();
    if (++this.#looks % MEMORY_EVERY !== 0) return;
    const { heapUsed } = process.memoryUsage();
    if (heapUsed > MAX_HEAP) this.#broken('memory', `the heap has ${heapUsed} bytes`);
  }

  // A leader that lost the lease with its bucket notices at the next renewal.
  #checkLeaders(leading: readonly LifeNode[]): void {
    if (leading.length < 2 || this.nowMs <= this.#life.lossMs) return;
    this.#broken('leader', `${leading.map(({ name }) => name).join(', ')} lead at one time`);
  }

  get #leading(): LifeNode[] {
    return this.#life.living.filter(({ app }) => app?.chain?.roles?.leads() === true);
  }

  #checkLeader(): void {
    const { clock, nats } = this.#life.deps;
    if (!nats.isLed(MARKET) || !nats.isLed(LEASE_STREAM)) this.#formingMs = this.nowMs;
    const { isDisturbed, onlyUnfitSinceMs, pending, nodes } = this.#life;
    const mayLead = onlyUnfitSinceMs !== null && pending.size === 0 && nodes.length > 1;
    if ((isDisturbed && !mayLead) || nodes.length === 0) return;
    const { disturbedMs, lossMs } = this.#life;
    const sinceMs = Math.max(this.#ledMs, disturbedMs, lossMs, this.#formingMs);
    const most = LEADERLESS_LEASES * this.#life.leaseMs + 2 * LOOK_MS;
    const forMs = clock.monotonicMs() - sinceMs;
    if (forMs > most) this.#broken('leader', `no node has led for ${Math.round(forMs)} ms`);
  }

  #lookAt(node: LifeNode): void {
    const { app } = node;
    if (app === null) {
      this.#apps.delete(node);
      return;
    }
    if (this.#apps.get(node) === app) return;
    this.#apps.set(node, app);
    this.#startedMs.set(node.name, this.nowMs);
    app.chain?.roles?.onRole(() => this.#checkLeaders(this.#leading));
    let was = { number: 0, seq: 0, term: 0 };
    const compare = () => {
      this.#answerRules.applied(node.name, app);
      const { checkpoint } = app.node.fold.store;
      if (checkpoint === null) return;
      const { epoch, seq, stateHash, entryHash, term } = checkpoint;
      this.#compare(node.name, `${epoch}:${seq}`, `${stateHash} ${entryHash} ${term}`);
      const now = { number: epochNumber(epoch), seq, term };
      const isBack =
        now.number < was.number ||
        (now.number === was.number && (now.seq < was.seq || now.term < was.term));
      if (isBack) {
        const from = `${was.number}:${was.seq}, term ${was.term}`;
        this.#broken(
          'state',
          `${node.name} went back to ${epoch}:${seq}, term ${term}, from ${from}`,
        );
      }
      was = now;
    };
    app.node.onApplied(compare);
    // What it applied before it was looked at.
    compare();
  }

  #compare(node: string, position: string, text: string): void {
    const others = this.#life.told(`state ${position}`, text, node);
    if (others !== null) this.#broken('state', `${node} and ${others} differ at ${position}`);
  }

  /** Sequences that NATS lost are written again, from an earlier one on. */
  #stored({ stream, seq, subject, text }: StoredMessage): void {
    if (stream !== MARKET) return;
    this.#entries += 1;
    const written = this.#written;
    while ((written.at(-1)?.seq ?? 0) >= seq) {
      const { epoch, entry } = written.pop() ?? { epoch: '', entry: 0 };
      this.#hashes.delete(`${epoch}:${entry}`);
    }
    const read = this.#life.strangers.has(text) ? null : readEntry(text);
    this.#logRules.stored(stream, seq, subject, read?.entry ?? null);
    if (read === null) return;
    const { epoch, term, payload } = read.entry;
    const last = written.at(-1);
    const starter = payload.kind === 'leader' ? payload.node : null;
    const isNew = term !== last?.term || epoch !== last.epoch;
    const leader = starter ?? (isNew ? null : last.leader);
    const { nowMs: storedMs } = this;
    const place = { seq, hash: read.hash, epoch, entry: read.entry.seq };
    const own = { ...place, term, leader, storedMs };
    const why = last === undefined ? null : wrongAfter(last, own, read, starter);
    if (why !== null) this.#broken('log', `entry ${epoch}:${own.entry}, stored as ${seq}: ${why}`);
    written.push(own);
    this.#hashes.set(`${epoch}:${own.entry}`, own.hash);
  }
}

/** Why an entry must not be stored behind another; null: it may. */
function wrongAfter(
  last: Written,
  own: Written,
  { entry }: SealedEntry,
  starter: string | null,
): string | null {
  const [before, now] = [epochNumber(last.epoch), epochNumber(own.epoch)];
  if (now < before) return `epoch ${own.epoch} after ${last.epoch}`;
  // The first entry of an epoch is where the log begins again.
  if (entry.payload.kind === 'epoch') return null;
  if (own.epoch !== last.epoch) return `no first entry of its epoch, after one of ${last.epoch}`;
  if (own.entry !== last.entry + 1) return `it follows entry ${last.entry}`;
  if (entry.prevEntryHash !== last.hash) return 'it follows another entry than the one before';
  if (own.term < last.term) return `term ${own.term} after ${last.term}`;
  if (own.term === last.term && starter !== null) {
    return `${starter} leads in term ${own.term}, and so does ${last.leader}`;
  }
  if (own.term > last.term && starter === null) return `term ${own.term} has no leader entry`;
  return null;
}

function readEntry(text: string): SealedEntry | null {
  try {
    const sealed = openEntry(text);
    return typeof sealed.entry.epoch === 'string' ? sealed : null;
  } catch {
    return null;
  }
}
