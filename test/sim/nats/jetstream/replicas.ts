/**
 * The copies of a stream on several servers: a leader proposes, a majority stores, then each copy
 * applies. Raft, with two shortcuts: heartbeats are not sent (a copy notices when the network or a
 * server changes), and a vote is one step. With one copy, what is proposed is applied at once.
 *
 * A leader that is cut off believes that it leads for `LOST_QUORUM_MS`; it answers reads meanwhile.
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
}

/** What a copy has when a server stops, and what an older copy brings back. */
export interface CopyState {
  readonly machine: StreamCopy;
  readonly index: number;
  readonly indexTerm: number;
  readonly term: number;
}

const LEAST_ELECTION_MS = 4_000;
const MOST_ELECTION_MS = 9_000;
const LOST_QUORUM_MS = 10_000;

/** Called when the copy on a server applied something, and when it was replaced. */
export type AppliedListener = (replica: Replica, result: Applied) => void;

export class Replica {
  readonly server: ModelServer;
  readonly #group: Replicas;
  machine: StreamCopy;
  term = 1;
  isLeader = false;
  /** The leader, as this copy knows. */
  leader: Replica | null = null;
  /** It applies what is agreed on so much later. */
  #lagMs = 0;
  /** Of the last operation that was applied. */
  #index = 0;
  #indexTerm = 0;
  /** Stored, and not applied yet. */
  #entries: Entry[] = [];
  #committed = 0;
  /** What the leader said is agreed on. */
  #heard = 0;
  readonly #matched = new Map<Replica, number>();
  readonly #pipes = new Map<Replica, Pipe>();
  #timer: Timer | null = null;

  constructor(group: Replicas, server: ModelServer, machine: StreamCopy) {
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
    const entry = { index: before.index + 1, term: this.term, operation, applied };
    this.#entries.push(entry);
    for (const other of this.#others()) {
      const { term } = this;
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

  /** What was not agreed on may be lost; those who asked for it get no answer. */
  follow(leader: Replica | null): void {
    this.isLeader = false;
    this.leader = leader;
    this.#entries = this.#entries.map((entry) => ({ ...entry, applied: null }));
  }

  /** The server ended: what it wrote after `syncedMs`, and what was not agreed on, is gone. */
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
    this.#entries = [];
    this.#index = store.at(last)?.index ?? 0;
    this.#committed = this.#index;
  }

  restore({ machine, index, indexTerm, term }: CopyState): void {
    this.machine = machine.copy();
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
      // What a heartbeat tells a copy that came back.
      for (const other of this.#others()) {
        if (other.server.works && other.leader !== this) this.#sync(other);
      }
      if (this.#group.hasQuorum(this)) this.#wait(null);
      else this.#wait(LOST_QUORUM_MS);
    } else if (this.leader?.isLeader === true && this.hears(this.leader)) {
      this.#wait(null);
    } else {
      const { rng } = this.server.network;
      const spread = MOST_ELECTION_MS - LEAST_ELECTION_MS;
      this.#wait(LEAST_ELECTION_MS + Math.floor(rng.unit() * spread));
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
      const result = this.machine.apply(entry.operation, nowMs, entry.index);
      if (this.isLeader) entry.applied?.(result);
      this.#group.applied(this, result);
    }
    if (count > 0) this.#entries = this.#entries.slice(count);
  }

  /** Brings a copy that has something else, or less, to what this one has. */
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
        other.restore({ ...state, term });
        other.machine.catchUp(other.server.network.clock.nowMs());
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

export interface ReplicasListener {
  applied: AppliedListener;
  replaced(replica: Replica): void;
}

export class Replicas {
  all: readonly Replica[];
  readonly #listener: ReplicasListener;

  constructor(
    servers: readonly ModelServer[],
    machine: () => StreamCopy,
    listener: ReplicasListener,
  ) {
    this.#listener = listener;
    this.all = servers.map((server) => new Replica(this, server, machine()));
  }

  /** Adds copies, which take what the leader has. */
  grow(servers: readonly ModelServer[], machine: () => StreamCopy): void {
    this.all = [...this.all, ...servers.map((server) => new Replica(this, server, machine()))];
    this.check();
  }

  /** Keeps the leader and as many others as there is room for; answers those that go. */
  shrink(count: number): readonly Replica[] {
    const [leader] = this.leaders;
    const others = this.all.filter((one) => one !== leader);
    const kept = [...(leader === undefined ? [] : [leader]), ...others].slice(0, count);
    const gone = this.all.filter((one) => !kept.includes(one));
    this.all = kept;
    for (const replica of gone) replica.stop();
    return gone;
  }

  /** The copy on this server, if there is one. */
  remove(server: ModelServer): void {
    const gone = this.all.find((one) => one.server === server);
    this.all = this.all.filter((one) => one !== gone);
    gone?.stop();
    this.check();
  }

  get majority(): number {
    return Math.floor(this.all.length / 2) + 1;
  }

  /** Those that believe to lead: two of them after a partition, for a while. */
  get leaders(): readonly Replica[] {
    return this.all.filter((one) => one.isLeader && one.server.works);
  }

  begin(leader: Replica): void {
    leader.lead();
  }

  hasQuorum(leader: Replica): boolean {
    const heard = this.all.filter(
      (other) =>
        other === leader || (other.server.works && leader.hears(other) && other.hears(leader)),
    );
    return heard.length >= this.majority;
  }

  /** One step: asks for votes, counts them, leads. */
  elect(candidate: Replica): void {
    candidate.term += 1;
    const { term } = candidate;
    const voters = this.all.filter((other) => {
      if (other === candidate) return true;
      if (!other.server.works || !other.hears(candidate)) return false;
      const isNewer = other.term < term;
      if (isNewer) other.yieldTo(term);
      return isNewer && candidate.isAsNewAs(other) && candidate.hears(other);
    });
    if (voters.length >= this.majority) candidate.lead();
    else candidate.leader = null;
    // A leader that saw the newer term gave up: all wait for the next one, not the candidate alone.
    this.check();
  }

  check(): void {
    for (const replica of this.all) replica.check();
  }

  applied(replica: Replica, result: Applied): void {
    this.#listener.applied(replica, result);
  }

  replaced(replica: Replica): void {
    this.#listener.replaced(replica);
  }
}
