/**
 * The copies of a stream on several servers: a leader proposes, a majority stores, then each copy
 * applies. Raft, with two shortcuts: heartbeats are not sent (a copy notices when the network or a
 * server changes), and a vote is one step. With one copy, proposals are applied at once.
 *
 * A leader that is cut off believes that it leads for `LOST_QUORUM_MS`; it answers reads meanwhile.
 */
import type { ModelServer } from '../server.ts';
import { Replica, type ReplicaGroup } from './replica.ts';
import type { Applied, StreamCopy } from './streamCopy.ts';

interface ReplicasListener {
  /** The copy on a server applied something. */
  applied(replica: Replica, result: Applied): void;
  replaced(replica: Replica): void;
}

export class Replicas implements ReplicaGroup {
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

  /** Adds copies, which copy the leader's content. */
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

  /** The copies that believe to lead: two of them after a partition, for a while. */
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
