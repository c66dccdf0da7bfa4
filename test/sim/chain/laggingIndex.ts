/**
 * Kupo behind its node: a separate index, which starts as a copy of the devnet's file and learns of
 * blocks and rollbacks late and in order.
 */
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { effectsOf } from '../../../src/cardano/ledger/mempool.ts';
import type { DevnetCore } from '../../../src/devnet/devnet.ts';
import { KupoAnswers } from '../../../src/devnet/kupo/server.ts';
import { Ledger } from '../../../src/devnet/ledger.ts';
import { type BlockRecord, LedgerFile } from '../../../src/devnet/ledgerFile.ts';
import type { Clock } from '../../../src/engine/runtime/clock.ts';

interface LaggingIndexDeps {
  readonly core: DevnetCore;
  /** The devnet's file. */
  readonly file: string;
  readonly blocksKept: number;
  /** Clock of the devnet's process. */
  readonly clock: Clock;
}

export class LaggingIndex {
  lagMs = 0;
  readonly answers: KupoAnswers;
  readonly #core: DevnetCore;
  readonly #clock: Clock;
  readonly #copy: string;
  readonly #file: LedgerFile;
  readonly #ledger: Ledger;
  /** Not applied yet, oldest first. */
  readonly #queue: (() => void)[] = [];
  readonly #unlisten: () => void;
  /** Up to which it has copied blocks, applied or not. */
  #height: number;
  #isClosed = false;

  constructor({ core, file, blocksKept, clock }: LaggingIndexDeps) {
    this.#core = core;
    this.#clock = clock;
    this.#copy = `${file}.kupo`;
    for (const end of ['', '-wal']) {
      rmSync(this.#copy + end, { force: true });
      if (existsSync(file + end)) copyFileSync(file + end, this.#copy + end);
    }
    this.#file = new LedgerFile(this.#copy, 0, blocksKept);
    this.#ledger = new Ledger(this.#file, core.ledger.slots, () => 0);
    this.#height = core.ledger.height;
    this.answers = new KupoAnswers(this.#ledger, this.#file, { clock, version: 'devnet' });
    this.#unlisten = core.node.chain.listen({
      changed: () => this.#changed(),
      shortened: (height) => {
        this.#height = Math.min(this.#height, height);
        this.#later(() => {
          const depth = this.#ledger.height - height;
          if (depth > 0) this.#ledger.fork(depth, 'none');
        });
      },
    });
  }

  /** Whether it has applied everything that it was given. */
  get isCurrent(): boolean {
    return this.#queue.length === 0;
  }

  close(): void {
    this.#isClosed = true;
    this.#unlisten();
    this.#file.close();
    for (const end of ['', '-wal', '-shm']) rmSync(this.#copy + end, { force: true });
  }

  #changed(): void {
    const { ledger, file } = this.#core;
    const blocks: BlockRecord[] = [];
    for (; this.#height < ledger.height; this.#height += 1) {
      const head = file.head(this.#height + 1);
      if (head === null) throw new Error(`block ${this.#height + 1} is on the chain`);
      const transactions = file.transactionsOf(head.height).map(({ id, bytes }) => {
        return { id, bytes, ...effectsOf(decodeTransaction(bytes)) };
      });
      blocks.push({ ...head, transactions });
    }
    if (blocks.length > 0) this.#later(() => void this.#ledger.append(blocks));
  }

  /** The oldest first, whichever timer is due: the lag may shrink. */
  #later(apply: () => void): void {
    this.#queue.push(apply);
    this.#clock.after(this.lagMs, () => {
      if (!this.#isClosed) this.#queue.shift()?.();
    });
  }
}
