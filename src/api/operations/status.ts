/** State of the node for health, readiness and the Health topic, from `server/wiring/health.ts`. */

import type { SyncProgress } from '../../chain/syncMeter.ts';
import type { Position } from '../../engine/runtime/position.ts';
import type { Reason } from '../../engine/runtime/reasons.ts';
import type { Tip } from '../gateway/port.ts';

interface StatusTip extends Tip {
  /** Market time in Unix seconds: of the newest entry; null before the first. */
  readonly time: number | null;
  /** Height of the newest block; null without a chain. */
  readonly height: number | null;
}

/** Blocks that the chain took back. */
interface StatusRollback {
  readonly seq: number;
  readonly toSlot: number | null;
  readonly blocks: number | null;
}

export interface NodeStatus {
  /** Name of this process, to tell several apart. */
  readonly node: string;
  role(): 'leader' | 'follower' | 'reader';
  /** Name of the node that leads, as this one saw it last; null: none. */
  leader(): string | null;
  /** Term of the leader whose entry was applied last. */
  term(): number;
  /** Entries that are written, and not applied here yet. */
  lagEntries(): number;
  applied(): Position;
  /** Hex; equal on every node at the same position. */
  stateHash(): string;
  /** Entry after which it was taken. */
  hashedSeq(): number;
  synced(): boolean;
  /** It answers about the market: it has caught up, or has no leader to catch up with. */
  serves(): boolean;
  /** Progress of catching up with a public chain; null: it has caught up, or there is none. */
  sync(): SyncProgress | null;
  /** The source of entries is silent, so the answers are right but old. */
  stale(): boolean;
  /** Among several nodes: why this one must not lead; null: it may. */
  mayNotLead(): string | null;
  /** Pools quarantined after a repeated fault; the others continue. */
  quarantined(): number;
  /** Why it is degraded; empty: it is not. */
  reasons(): readonly Reason[];
  /** Submissions are accepted: no present reason stops them. */
  submits(): boolean;
  /** Tokens of pools with a step that fails, as the leader knows; empty on others. */
  stuckPools(): readonly string[];
  tip(): StatusTip;
  /** The newest rollback that still holds; null: there was none. */
  rollback(): StatusRollback | null;
}
