/**
 * Entries of the log, done to a ledger that copies: its blocks, its mempool, its way back. Nothing
 * but the ledger is changed, and the ledger by nobody else meanwhile.
 *
 * A rollback names an entry; which block was the newest then is known for all blocks since `begin`,
 * and before it for as many as the fold can go back to.
 */

import { REFUSALS } from '../cardano/ledger/port.ts';
import { SnapshotNeeded } from '../chain/lineage.ts';
import { Pieced } from '../chain/mempoolPieces.ts';
import type { Removal } from '../chain/port.ts';
import type { DroppedTransaction, MempoolPayload, SealedEntry } from '../engine/log/entry.ts';
import { type Clock, sleep } from '../engine/runtime/clock.ts';
import type { BlockHead } from './ledgerFile.ts';
import type { BlockCopy, CopyOutcome, MempoolCopy } from './replica.ts';

export interface CopyingLedger {
  apply(blocks: readonly BlockCopy[]): Promise<CopyOutcome>;
  applyMempool(change: MempoolCopy): Promise<CopyOutcome>;
  rollTo(point: BlockHead | null): Promise<CopyOutcome>;
}

/** This node's ledger and the log are of different chains: a fault of the program or of a file. */
export class LedgerDiverged extends Error {}

/** A block, and the entry it is in. */
export interface CopiedBlock {
  readonly seq: number;
  readonly head: BlockHead;
}

/** Of one commit of the ledger. */
const MOST_BLOCKS = 64;
const MOST_CHARACTERS = 4_000_000;
/** Blocks that are remembered: twice what can be rolled back. */
const MOST_KNOWN = 2 * 2161;
const MAX_RETRY_MS = 5_000;

export class Copier {
  readonly #ledger: CopyingLedger;
  readonly #clock: Clock;
  readonly #stalled: (message: string) => void;
  readonly #isStopping: () => boolean;
  /** Ascending. */
  #blocks: CopiedBlock[] = [];
  /** Of the last leader whose whole mempool is known. */
  #term = 0;
  /** Of a mempool that is told in several entries. */
  #pieces = new Pieced();

  constructor(
    ledger: CopyingLedger,
    clock: Clock,
    stalled: (message: string) => void,
    isStopping: () => boolean,
  ) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#stalled = stalled;
    this.#isStopping = isStopping;
  }

  /** The ledger is at the last of `blocks`, which are in ascending order. */
  begin(blocks: readonly CopiedBlock[], term: number): void {
    this.#blocks = [...blocks];
    this.#term = term;
    this.#pieces = new Pieced();
  }

  /** In the order of the log. Stops between two calls of the ledger when asked to. */
  async take(entries: readonly SealedEntry[]): Promise<void> {
    let pending: CopiedBlock[] = [];
    let copies: BlockCopy[] = [];
    let characters = 0;
    const flush = async () => {
      if (copies.length > 0) await this.#do(() => this.#ledger.apply(copies));
      this.#remember(pending);
      [pending, copies, characters] = [[], [], 0];
    };
    for (const { entry } of entries) {
      const { payload, seq, term } = entry;
      if (payload.kind !== 'mempool') await this.#changeMempool(this.#pieces.giveUp(), term);
      if (payload.kind === 'passed') throw new SnapshotNeeded(withoutBytes(seq));
      if (payload.kind === 'block' && payload.chain !== undefined) {
        const { height, slot, hash, raw } = payload.chain;
        if (raw === undefined) throw new SnapshotNeeded(withoutBytes(seq));
        const head = { height, slot, hash };
        pending.push({ seq, head });
        copies.push({ head, raw });
        characters += raw.reduce((sum, hex) => sum + hex.length, 0);
        if (copies.length >= MOST_BLOCKS || characters >= MOST_CHARACTERS) await flush();
        continue;
      }
      if (payload.kind === 'mempool' || payload.kind === 'rollback' || payload.kind === 'epoch') {
        await flush();
      }
      if (payload.kind === 'mempool') await this.#changeMempool(this.#pieces.take(payload), term);
      else if (payload.kind === 'rollback') await this.goBackTo(payload.toSeq);
    }
    await flush();
  }

  /** To what was at entry `seq`. */
  async goBackTo(seq: number): Promise<void> {
    const kept = this.#blocks.filter((block) => block.seq <= seq);
    const undone = this.#blocks[kept.length];
    if (undone === undefined) return;
    const target = kept.at(-1)?.head ?? null;
    if (target === null && undone.head.height > 1) {
      throw new SnapshotNeeded(`entry ${seq}, to go back to, is deeper than this ledger can`);
    }
    await this.#do(() => this.#ledger.rollTo(target));
    this.#blocks = kept;
  }

  /** All that waits; what waits here beside it is told of again, or judged by who leads next. */
  async setMempool(added: readonly string[]): Promise<void> {
    const change = { whole: true, isJudged: false, added, removed: [] };
    await this.#do(() => this.#ledger.applyMempool(change));
  }

  /** null: nothing is known to have changed yet. */
  async #changeMempool(payload: MempoolPayload | null, term: number): Promise<void> {
    if (payload === null) return;
    const { whole, added, removed } = payload;
    // A new leader has judged all that it found before it tells what waits.
    const isJudged = whole && term > this.#term;
    if (whole) this.#term = term;
    const change = {
      whole,
      isJudged,
      added: added.flatMap(({ raw }) => raw ?? []),
      removed: removed.map(removalOf),
    };
    await this.#do(() => this.#ledger.applyMempool(change));
  }

  #remember(blocks: readonly CopiedBlock[]): void {
    this.#blocks.push(...blocks);
    if (this.#blocks.length > 2 * MOST_KNOWN) this.#blocks = this.#blocks.slice(-MOST_KNOWN);
  }

  /** While the ledger's disk refuses, this waits. */
  async #do(work: () => Promise<CopyOutcome>): Promise<void> {
    for (let attempt = 1; !this.#isStopping(); attempt += 1) {
      const outcome = await work();
      if (outcome.outcome === 'done') return;
      if (outcome.outcome === 'diverged') throw new LedgerDiverged(outcome.message);
      if (attempt === 1) this.#stalled(outcome.message);
      await sleep(this.#clock, Math.min(MAX_RETRY_MS, 50 * 2 ** Math.min(attempt, 10)));
    }
  }
}

function withoutBytes(seq: number): string {
  return (
    `entry ${seq} has a block without its transactions, as a node alone writes it: ` +
    'replace ledger.sqlite by a snapshot of a node that has that block'
  );
}

function removalOf({ id, reason }: DroppedTransaction): Removal {
  return { id, reason: REFUSALS.find((each) => each === reason) ?? 'REFUSED' };
}
