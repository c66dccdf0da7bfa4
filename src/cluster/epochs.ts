/**
 * Whether the log still is the one we have, and what is done when it is not: only a leader opens an
 * epoch, at its own state; the others take that state over, or find that they have it.
 *
 * A leader also looks for damage in what the log holds (`look`): it has that in memory and would
 * not notice, while nobody who is behind could get past it.
 */
import type { DataFiles } from '../engine/actors/files.ts';
import type { MarketRecord } from '../engine/actors/marketRecord.ts';
import type { Node } from '../engine/actors/node.ts';
import { isInLog, restartLog } from '../engine/actors/recovery.ts';
import { marketOfLog } from '../engine/actors/sameMarket.ts';
import type { Log } from '../engine/log/port.ts';
import { OtherMarket } from '../engine/runtime/marketIdentity.ts';
import { epochNumber } from '../engine/runtime/position.ts';
import type { Rng } from '../engine/runtime/rng.ts';
import type { JetstreamLog } from './log/jetstream.ts';
import { type Announcement, hasNewestState } from './nats/announcements.ts';
import { StreamMissing } from './nats/stream.ts';

export interface EpochsDeps {
  readonly name: string;
  readonly log: Log & Pick<JetstreamLog, 'check'> & Partial<Pick<JetstreamLog, 'audit'>>;
  readonly node: Node;
  readonly files: DataFiles;
  readonly rng: Rng;
  /** Of the data directory. */
  readonly market: MarketRecord;
  /** The log was begun by another market: this node can do nothing there. */
  otherMarket(error: Error): void;
  /** Makes the log's stream where it is gone. */
  ensureStream(): Promise<unknown>;
  /** Those of the other nodes that are alive. */
  others(): Promise<readonly Announcement[]>;
  /** The same as far as they were heard, without asking NATS. Absent: none. */
  heard?(): readonly Announcement[];
  /** Gives the snapshot that an epoch begins from to all nodes. */
  publishBase(epoch: string): Promise<void>;
  epochStarted(epoch: string, reason: string): void;
}

/** How far a node is; null: it has nothing yet. */
export function announcementOf(name: string, node: Node): Announcement | null {
  const { checkpoint } = node.fold.store;
  if (checkpoint === null) return null;
  const { epoch, term, seq } = checkpoint;
  return { node: name, epoch, term, seq };
}

/** Entries of one look: a message may have 1 MB. */
const AUDIT_ENTRIES = 64;

export class Epochs {
  readonly #deps: EpochsDeps;
  /** Where the next look begins. */
  #auditFrom = 1;
  /** How far the others were at the last look, by name. */
  #positionsBefore: ReadonlyMap<string, number> = new Map();
  /** Where the last look for one that does not move was. */
  #stalledAt = 0;
  /** An entry that could not be read, or went missing. */
  #damaged: { readonly epoch: string; readonly seq: number } | null = null;

  constructor(place: EpochsDeps) {
    this.#deps = place;
  }

  /**
   * The log holds what we applied last, or begins right behind it, and can be followed from there.
   * Throws when it gives no answer: then nothing is known.
   */
  async logHasOurState(): Promise<boolean> {
    const { log, node } = this.#deps;
    const { checkpoint } = node.fold.store;
    if (checkpoint === null) return true;
    const { seq, entryHash: hash, epoch } = checkpoint;
    if (node.hasDiverged || (await this.#isStillDamaged(epoch))) return false;
    const found = await log.check({ seq, hash, epoch });
    if (found === 'unreachable') throw new Error('the log gives no answer');
    return found === 'same' || (found === 'trimmed' && (await isInLog(checkpoint, log)));
  }

  /**
   * The log ends before what another living node has of this epoch: it was shortened, and to go on
   * in it would put other entries where those were.
   */
  async isLogShortened(): Promise<boolean> {
    const { log, node, others } = this.#deps;
    const { epoch } = node.applied();
    const known = (await others()).filter((other) => other.epoch === epoch);
    // Asked after them: what they had announced was in the log before.
    const { seq } = await log.last();
    return known.some((other) => other.seq > seq);
  }

  /**
   * Looks at the next piece of what the log holds, and at what comes next for a node that is behind
   * and does not move: one such node each time, in turn, so that a look costs the same for two and
   * for fifty. Answers the seq of an entry that is damaged or missing; to be asked again and again.
   */
  async auditNext(): Promise<number | null> {
    const { log, node } = this.#deps;
    if (log.audit === undefined) return null;
    const { epoch, seq } = node.applied();
    const stuck = this.#nextStalled(epoch, seq);
    for (const from of stuck === null ? [this.#auditFrom] : [stuck, this.#auditFrom]) {
      const found = await log.audit(from, AUDIT_ENTRIES);
      // What was begun anew meanwhile is another log.
      if (node.applied().epoch !== epoch) return null;
      if (found.audited === 'damaged') {
        this.#damaged = { epoch, seq: found.seq };
        return found.seq;
      }
      if (from === this.#auditFrom) this.#auditFrom = found.atEnd ? 1 : found.nextSeq;
    }
    return null;
  }

  /** Where a node stands that is behind and did not move since the last look; null: none. */
  #nextStalled(epoch: string, seq: number): number | null {
    const { heard = () => [] } = this.#deps;
    const behind = heard().filter((other) => other.epoch === epoch && other.seq < seq);
    const before = this.#positionsBefore;
    this.#positionsBefore = new Map(behind.map((other) => [other.node, other.seq]));
    const stuck = behind
      .filter((other) => before.get(other.node) === other.seq)
      .map((other) => Math.max(1, other.seq))
      .sort((a, b) => a - b);
    // Beyond what the last look read, and from the lowest again.
    const next = stuck.find((at) => at >= this.#stalledAt + AUDIT_ENTRIES) ?? stuck[0] ?? null;
    if (next !== null) this.#stalledAt = next;
    return next;
  }

  /** It was, and still is: else who once found that would never take this log for its own again. */
  async #isStillDamaged(epoch: string): Promise<boolean> {
    const known = this.#damaged;
    if (known?.epoch !== epoch) return false;
    const found = await this.#deps.log.audit?.(Math.max(1, known.seq - 1), 2);
    if (found?.audited === 'sound') this.#damaged = null;
    return this.#damaged !== null;
  }

  /** The log is this market's, and neither it nor a living node knows more than we do. */
  async mayOpenEpoch(): Promise<boolean> {
    const { node, name, others } = this.#deps;
    if (!(await this.#isOurMarket())) return false;
    const standing = announcementOf(name, node);
    const { checkpoint } = node.fold.store;
    if (standing === null || checkpoint === null) return true;
    const { seq, entryHash: hash, epoch } = checkpoint;
    // It went on without us and has forgotten where we are: we need a snapshot of it.
    if ((await this.#deps.log.check({ seq, hash, epoch })) === 'trimmed') return false;
    return hasNewestState(standing, await others());
  }

  /** The log begins anew, right behind our state. */
  async openEpoch(givenUp?: AbortSignal): Promise<void> {
    const {
      node,
      log,
      files,
      rng,
      market,
      ensureStream: ensureLog,
      publishBase,
      epochStarted,
    } = this.#deps;
    const { store } = node.fold;
    if (store.checkpoint === null) return;
    await ensureLog();
    const options = { rng, market, publishBase, epochStarted };
    await restartLog(store.checkpoint, store, log, files, options);
    await this.adoptNewest();
    await node.reached((await log.last()).seq, givenUp);
  }

  /** Where another leader's epoch, or its snapshot, has what we need: we go on from there. */
  async recover(): Promise<void> {
    await this.adoptNewest();
    if (this.#deps.node.hasDiverged) this.#deps.node.rejoin();
  }

  /** Where another leader's epoch replaced ours: we go on from there. */
  async adoptNewest(): Promise<void> {
    const { log, node } = this.#deps;
    const newest = (await log.epochs()).at(-1);
    if (newest === undefined) return;
    const [sealed] = await log.read(newest, 1);
    if (sealed?.entry.payload.kind !== 'epoch' || !(await this.#isOurMarket())) return;
    const isNewer = epochNumber(sealed.entry.epoch) > epochNumber(node.applied().epoch);
    if (isNewer) node.adopt(sealed);
  }

  /** A log of another market is neither followed nor begun again. Throws without an answer. */
  async #isOurMarket(): Promise<boolean> {
    const { log, market, otherMarket } = this.#deps;
    try {
      const there = await marketOfLog(log);
      if (there !== null) market.compare(there, 'the log in NATS');
      return true;
    } catch (error) {
      if (error instanceof StreamMissing) return true;
      if (!(error instanceof OtherMarket)) throw error;
      otherMarket(error);
      return false;
    }
  }
}
