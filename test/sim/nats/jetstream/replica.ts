/**
 * The copy of a stream on one server: stores the leader's proposals, and applies a proposal once a
 * majority has stored it. Applied messages stay: if a leader has others at the same sequences, the
 * copy still takes the leader's later ones, as servers do (report 7567 of nats-server).
 */
import type { Timer } from '../../../../src/engine/runtime/clock.ts';
import type { Pipe } from '../pipe.ts';
import type { ModelServer } from '../server.ts';
import type { Applied, Operation, StreamCopy } from './streamCopy.ts';

interface Entry {
  readonly index: number;
  readonly term: number;
  readonly operation: Operation;
  readonly applied: ((result: Applied) => void) | null;
  /** The leader's knowledge when it applied it. */
  readonly fate: Fate;
}

interface Fate {
  /** The last sequence before it; null: no leader has applied it. */
  last: number | null;
  isStored: boolean;
}

/** A copy's content when a server stops, or when an older copy is restored. */
export interface CopyState {
  readonly machine: StreamCopy;
  readonly index: number;
  readonly indexTerm: number;
  readonly term: number;
}

const MIN_ELECTION_MS = 4_000;
const MAX_ELECTION_MS = 9_000;
const LOST_QUORUM_MS = 10_000;

/** The copies of one stream. */
export interface ReplicaGroup {
  readonly all: readonly Replica[];
  /** How many are more than half. */
  readonly majority: number;
  hasQuorum(leader: Replica): boolean;
  elect(candidate: Replica): void;
  applied(replica: Replica, result: Applied): void;
  /** It took messages of another copy. */
  replaced(replica: Replica): void;
}

export class Replica {
  readonly server: ModelServer;
  readonly #group: ReplicaGroup;
  machine: StreamCopy;
  term = 1;
  isLeader = false;
  /** The leader, as this copy knows. */
  leader: Replica | null = null;
  /** It applies agreed operations this much later. */
  #lagMs = 0;
  /**
   * Number of messages that the leader stored and this copy refused: they are not taken for
   * missing.
   */
  #refused = 0;
  /** Index and term of the last operation that was applied. */
  #index = 0;
  #indexTerm = 0;
  /** Stored, and not applied yet. */
  #entries: Entry[] = [];
  #committed = 0;
  /** Last index that the leader reported as agreed. */
  #heard = 0;
  readonly #matched = new Map<Replica, number>();
  readonly #pipes = new Map<Replica, Pipe>();
  #timer: Timer | null = null;

  constructor(group: ReplicaGroup, server: ModelServer, machine: StreamCopy) {
    this.#group = group;
    this.server = server;
    this.machine = machine;
  }

  get state(): CopyState {
    const { machine, term } = this;
    return { machine: machine.copy(), index: this.#index, indexTerm: this.#indexTerm, term };
  }

  get lastIndex(): number {
    return this.#entries.at(-1)?.index ?? this.#index;
  }

  get lastTerm(): number {
    return this.#entries.at(-1)?.term ?? this.#indexTerm;
  }

  get inFlight(): readonly Entry[] {
    return this.#entries;
  }

  hears(other: Replica): boolean {
    return other.server.works && other.server.reaches(this.server);
  }

  propose(operation: Operation, applied: ((result: Applied) => void) | null): void {
    const before = { index: this.lastIndex, term: this.lastTerm };
    const { term } = this;
    const entry = {
      index: before.index + 1,
      term,
      operation,
      applied,
      fate: { last: null, isStored: false },
    };
    this.#entries.push(entry);
    for (const other of this.#others()) {
      this.#tell(other, () => other.#append(this, term, before, entry));
    }
    if (this.#group.majority === 1) this.#commit(entry.index);
  }

  /** Infinity: it stores, and applies nothing until the lag is another. */
  lag(ms: number): void {
    this.#lagMs = ms;
    if (ms === 0) this.#commit(this.#heard);
  }

  lead(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.isLeader = true;
    this.leader = this;
    this.#matched.clear();
    for (const other of this.#others()) {
      if (other.hears(this)) other.leader = this;
      this.#sync(other);
    }
  }

  /** Operations without agreement may be lost; their clients get no answer. */
  follow(leader: Replica | null): void {
    this.isLeader = false;
    this.leader = leader;
    this.#entries = this.#entries.map((entry) => ({ ...entry, applied: null }));
  }

  /** The server ended: its writes after `syncedMs`, and operations without agreement, are gone. */
  stop(syncedMs = Number.POSITIVE_INFINITY): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.follow(null);
    for (const pipe of this.#pipes.values()) this.server.network.end(pipe);
    this.#pipes.clear();
    for (const other of this.#others()) other.#forget(this);
    const lost = this.#entries.findIndex(({ operation }) => isAfter(operation, syncedMs));
    if (lost >= 0) this.#entries = this.#entries.slice(0, lost);
    const { store } = this.machine;
    let { last } = store;
    for (const { seq, timeMs } of store.newest()) {
      if (timeMs <= syncedMs) break;
      last = seq - 1;
    }
    if (last === store.last) return;
    store.truncate(last);
    this.#lost();
  }

  /** On the disk of a server that is down. */
  breakAt(seq: number, isFileRead: boolean): void {
    this.machine.store.breakAt(seq, isFileRead);
    if (isFileRead) this.#lost();
  }

  restore({ machine, index, indexTerm, term }: CopyState): void {
    this.machine = machine.copy();
    this.#refused = 0;
    this.#entries = [];
    this.#index = index;
    this.#committed = index;
    this.#indexTerm = indexTerm;
    this.term = term;
  }

  /** After something changed in the network: starts or stops to wait for a leader. */
  check(): void {
    if (!this.server.works) return;
    if (this.isLeader) {
      // A heartbeat syncs copies that came back.
      for (const other of this.#others()) {
        if (other.server.works && other.leader !== this) this.#sync(other);
      }
      if (this.#group.hasQuorum(this)) this.#wait(null);
      else this.#wait(LOST_QUORUM_MS);
    } else if (this.leader?.isLeader === true && this.hears(this.leader)) {
      this.#wait(null);
    } else {
      const { rng } = this.server.network;
      const spread = MAX_ELECTION_MS - MIN_ELECTION_MS;
      this.#wait(MIN_ELECTION_MS + Math.floor(rng.unit() * spread));
    }
  }

  /** A newer term was seen. */
  yieldTo(term: number): void {
    this.term = Math.max(this.term, term);
    if (this.isLeader) this.follow(null);
  }

  isAsNewAs(other: Replica): boolean {
    if (this.lastTerm !== other.lastTerm) return this.lastTerm > other.lastTerm;
    return this.lastIndex >= other.lastIndex;
  }

  /** It lost messages that it had applied. */
  #lost(): void {
    const { store } = this.machine;
    this.#entries = [];
    this.#index = store.at(store.last)?.index ?? 0;
    this.#committed = this.#index;
  }

  #others(): readonly Replica[] {
    return this.#group.all.filter((other) => other !== this);
  }

  #wait(delayMs: number | null): void {
    if (delayMs === null) {
      this.#timer?.cancel();
      this.#timer = null;
      return;
    }
    this.#timer ??= this.server.network.clock.after(delayMs, () => {
      this.#timer = null;
      if (!this.server.works) return;
      if (this.isLeader) {
        if (!this.#group.hasQuorum(this)) this.follow(null);
      } else if (!this.server.hasRoom) {
        // It does not ask to lead.
      } else if (this.leader?.isLeader !== true || !this.hears(this.leader)) {
        this.#group.elect(this);
      }
      this.check();
    });
  }

  #tell(other: Replica, message: () => void): void {
    let pipe = this.#pipes.get(other);
    if (pipe === undefined) {
      pipe = this.server.network.pipe(this.server.place, other.server.place);
      this.#pipes.set(other, pipe);
    }
    if (other.server.isUp) pipe.send(() => other.server.isUp && message());
  }

  #forget(other: Replica): void {
    const pipe = this.#pipes.get(other);
    if (pipe !== undefined) this.server.network.end(pipe);
    this.#pipes.delete(other);
    this.#matched.delete(other);
  }

  #append(
    leader: Replica,
    term: number,
    before: { readonly index: number; readonly term: number },
    entry: Entry,
  ): void {
    if (term < this.term) return;
    this.#accept(leader, term);
    if (before.index !== this.lastIndex || before.term !== this.lastTerm) {
      this.#tell(leader, () => leader.#sync(this));
      return;
    }
    this.#entries.push({ ...entry, applied: null });
    this.#tell(leader, () => leader.#acknowledged(this, term, entry.index));
  }

  #accept(leader: Replica, term: number): void {
    if (this.isLeader && leader !== this) this.follow(leader);
    this.term = term;
    this.leader = leader;
    this.#wait(null);
  }

  #acknowledged(follower: Replica, term: number, index: number): void {
    if (!this.isLeader || term !== this.term) return;
    this.#matched.set(follower, Math.max(index, this.#matched.get(follower) ?? 0));
    const stored = [this.lastIndex, ...this.#matched.values()].sort((a, b) => b - a);
    const agreed = stored[this.#group.majority - 1] ?? 0;
    if (agreed <= this.#committed) return;
    this.#commit(agreed);
    for (const other of this.#others()) {
      this.#tell(other, () => other.#hearCommit(this, term, agreed));
    }
  }

  #hearCommit(leader: Replica, term: number, index: number): void {
    if (term < this.term || this.leader !== leader) return;
    this.#heard = Math.max(this.#heard, index);
    const commit = () => this.leader === leader && this.#commit(index);
    if (this.#lagMs === 0) commit();
    else if (this.#lagMs < Number.POSITIVE_INFINITY) {
      this.server.network.clock.after(this.#lagMs, commit);
    }
  }

  #commit(index: number): void {
    this.#committed = Math.max(this.#committed, index);
    const nowMs = this.server.network.clock.nowMs();
    let count = 0;
    for (const entry of this.#entries) {
      if (entry.index > this.#committed) break;
      count += 1;
      this.#index = entry.index;
      this.#indexTerm = entry.term;
      if (!this.isLeader && this.#isElsewhere(entry, nowMs)) continue;
      if (this.isLeader) entry.fate.last = this.machine.store.last;
      const result = this.machine.apply(entry.operation, nowMs, entry.index);
      const isStored = result.applied === 'stored';
      if (this.isLeader) {
        entry.fate.isStored = isStored;
        entry.applied?.(result);
      } else if (entry.fate.isStored && !isStored) this.#refused += 1;
      this.#group.applied(this, result);
    }
    if (count > 0) this.#entries = this.#entries.slice(count);
  }

  /** The leader stored it behind another end: this copy keeps its own message at that sequence. */
  #isElsewhere({ operation, fate }: Entry, nowMs: number): boolean {
    const { store } = this.machine;
    if (operation.op !== 'publish' || fate.last === null) return false;
    const expected = fate.last - this.#refused;
    if (expected === store.last) return false;
    if (expected > store.last && this.leader !== null) {
      this.machine.catchUp(this.leader.machine, nowMs);
      this.#refused = 0;
      this.#group.replaced(this);
    }
    return true;
  }

  /** Copies the missing messages of the leader, and continues from there. */
  #follows({ machine, index, indexTerm }: CopyState): void {
    this.machine.catchUp(machine, this.server.network.clock.nowMs());
    this.#refused = 0;
    this.#index = index;
    this.#committed = index;
    this.#indexTerm = indexTerm;
  }

  /** Lets a copy that is at another operation go on from this one. */
  #sync(other: Replica): void {
    if (!this.isLeader) return;
    const { term } = this;
    const state = this.state;
    const entries = [...this.#entries];
    const committed = this.#committed;
    this.#tell(other, () => {
      if (term < other.term) return;
      other.#accept(this, term);
      const isSame = other.lastIndex === this.lastIndex && other.lastTerm === this.lastTerm;
      if (!isSame) {
        other.#follows(state);
        other.#entries = entries.map((entry) => ({ ...entry, applied: null }));
        other.#commit(committed);
        this.#group.replaced(other);
      }
      other.#tell(this, () => this.#acknowledged(other, term, other.lastIndex));
    });
  }
}

function isAfter(operation: Operation, ms: number): boolean {
  return operation.op === 'publish' && operation.timeMs > ms;
}
