/** A node with a fold and a ledger of its own, over a log that it shares with others. */
import assert from 'node:assert/strict';
import { refText, type Utxo } from '../../src/cardano/codec/output.ts';
import { Follower } from '../../src/chain/follower.ts';
import { tokenPolicyId } from '../../src/chain/tokenPolicy.ts';
import { LedgerReplica } from '../../src/devnet/chainReplica.ts';
import { EmulatedChain } from '../../src/devnet/emulated.ts';
import type { GenesisCopy } from '../../src/devnet/messages.ts';
import { submitDurably } from '../../src/devnet/submitDurably.ts';
import { dataFiles } from '../../src/engine/actors/files.ts';
import { MarketRecord } from '../../src/engine/actors/marketRecord.ts';
import { Node } from '../../src/engine/actors/node.ts';
import { recover } from '../../src/engine/actors/recovery.ts';
import type { LocalLog } from '../../src/engine/log/local.ts';
import type { Log } from '../../src/engine/log/port.ts';
import { LogWriter } from '../../src/engine/log/writer.ts';
import { type Clock, systemClock } from '../../src/engine/runtime/clock.ts';
import { createEvents, createLogger } from '../../src/engine/runtime/events.ts';
import { createRegistry } from '../../src/engine/runtime/metrics.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { USUAL } from '../support/foldWorld.ts';
import { FUNDED, keyNamed, ledgerOptions } from '../support/ledgerWorld.ts';
import { untilAsked } from '../support/until.ts';

const ADA = 1_000_000n;
const VIEWS = ['spendable', 'newest', 'wallet'] as const;
const rng = seededRng(1);
/** A log on a busy machine is slow: what is written to it is waited for until a test gives up. */
const PATIENCE_MS = 60_000;

/** The clock of submits. */
class Patience {
  readonly #waits = new Set<() => void>();
  #isOver = false;

  readonly clock: Clock = {
    ...systemClock,
    after: (_delayMs, run) => {
      const end = () => {
        cancel();
        run();
      };
      const timer = systemClock.after(this.#isOver ? 0 : PATIENCE_MS, end);
      const cancel = () => {
        this.#waits.delete(end);
        timer.cancel();
      };
      this.#waits.add(end);
      return { cancel };
    },
  };

  /** Who waits, now or later, is late. */
  end(): void {
    this.#isOver = true;
    for (const end of this.#waits) end();
  }
}

/** The log of all, as one of them has it: closed for this one alone. */
function sharedLog(log: LocalLog): Log {
  const closed = Promise.withResolvers<void>();
  return {
    epoch: () => log.epoch(),
    first: () => log.first(),
    last: () => log.last(),
    append: (entry, expectedSeq) => log.append(entry, expectedSeq),
    read: (fromSeq, limit) => log.read(fromSeq, limit),
    reached: (seq) => Promise.race([log.reached(seq), closed.promise]),
    epochs: () => log.epochs(),
    trim: (seq) => log.trim(seq),
    restart: (entry) => log.restart(entry),
    close: async () => closed.resolve(),
  };
}

export class Seat {
  readonly ledger: EmulatedChain;
  readonly node: Node;
  readonly replica: LedgerReplica;
  readonly faults: unknown[];
  readonly #log: Log;
  #follower: Follower | null = null;
  #writer: LogWriter | null = null;
  #patience = new Patience();
  /** Of the times when it led and was cut off. */
  readonly #lost: Patience[] = [];

  static async open(
    log: LocalLog,
    directory: string,
    begun?: GenesisCopy,
    horizonBlocks = USUAL.horizonBlocks,
  ): Promise<Seat> {
    const own = sharedLog(log);
    const options = { ...ledgerOptions(directory), role: 'replica', died: () => {} } as const;
    const ledger = new EmulatedChain({ ...options, ...(begun === undefined ? {} : { begun }) });
    const events = createEvents(
      createLogger({ level: 'silent', clock: systemClock }),
      createRegistry(),
    );
    const files = dataFiles(directory);
    const nodeOptions = { ...USUAL, horizonBlocks };
    const { actorQuarantined: quarantined, epochStarted, stateUnreadable } = events;
    const said = { quarantined, epochStarted, stateUnreadable };
    const { maxMb, maxLoadedPools } = USUAL;
    const kept = { horizonBlocks, maxMb, maxLoadedPools, clock: systemClock, rng };
    const market = new MarketRecord(directory, null);
    const store = await recover(own, files, { ...kept, ...said, market });
    const { seq } = await own.last();
    const node = new Node(store, seq, own, files, systemClock, nodeOptions, events);
    node.start({ applied: () => {}, epochChanged: () => {} });
    await node.reached(seq);
    await ledger.start();
    return new Seat(ledger, node, own);
  }

  private constructor(ledger: EmulatedChain, node: Node, log: Log) {
    this.ledger = ledger;
    this.node = node;
    this.#log = log;
    this.faults = [];
    this.replica = new LedgerReplica(
      { ledger, node, log, clock: systemClock },
      {
        ledgerDiverged: (error) => this.faults.push(error),
        ledgerStalled: (message) => this.faults.push(message),
      },
    );
  }

  /** From a replica that is where the log is. */
  async lead(term: number): Promise<void> {
    const tail = await this.#log.last();
    await this.replica.reached(tail.seq);
    await this.replica.stop();
    await this.ledger.lead();
    this.#patience = new Patience();
    const { node, ledger } = this;
    const log = this.#log;
    const writer = new LogWriter(log, tail, term, systemClock, { appendFailed: assert.fail });
    const { deployment } = ledger;
    const rules = { deployment, tokenPolicyId: tokenPolicyId(deployment) };
    const place = { source: ledger, node, writer, log, rules, rng, clock: systemClock };
    this.#follower = new Follower(
      { ...place, withRaw: true },
      {
        chainFollowed: () => {},
        chainRolledBack: () => {},
        followerFailed: (error) => this.faults.push(error),
      },
    );
    this.#writer = writer;
    await this.#follower.start();
  }

  get tail(): number {
    return this.#writer?.tail.seq ?? 0;
  }

  /** Nothing of it gets into the log any more. */
  async cutOff(): Promise<void> {
    await this.#follower?.stop();
    this.#follower = null;
    this.#lost.push(this.#patience);
  }

  /** Submits from before it was cut off, and those that come before it leads again, are late. */
  giveUp(): void {
    for (const patience of this.#lost.splice(0)) patience.end();
  }

  async close(): Promise<void> {
    await this.cutOff();
    this.giveUp();
    await this.replica.stop();
    await this.ledger.stop();
    await this.node.stop();
  }

  submit(bytes: Uint8Array) {
    return submitDurably(this.ledger, this.node, bytes, this.#patience.clock);
  }

  waiting(): string[] {
    return [...this.node.fold.mempool.ids()].sort();
  }

  async newest(name: string): Promise<readonly Utxo[]> {
    const found = await this.ledger.byPaymentKey(keyNamed(name).hash, 'newest');
    return found.filter(({ output }) => output.value.lovelace > 20n * ADA);
  }

  /** All that the ledger shows. */
  async picture() {
    const refs: Record<string, string[]> = {};
    for (const name of [...FUNDED, 'faucet']) {
      for (const view of VIEWS) {
        const found = await this.ledger.byPaymentKey(keyNamed(name).hash, view);
        refs[`${name} ${view}`] = found.map(({ ref }) => refText(ref));
      }
    }
    const { tip } = await this.ledger.tip();
    return { tip, refs, waiting: await this.#ledgerWaiting(), slots: this.ledger.slotConfig };
  }

  async #ledgerWaiting(): Promise<string[]> {
    const { tip } = await this.ledger.tip();
    const stream = await this.ledger.open(tip === null ? [] : [tip]);
    try {
      for (;;) {
        const event = await stream?.next();
        if (event?.kind === 'mempool') return event.added.map(({ id }) => id).sort();
        if (event === undefined || event === null) return ['a stream that ended'];
      }
    } finally {
      await stream?.close();
    }
  }

  /** All that the leader has is in the log; where it ends then. */
  async settled(): Promise<number> {
    const isWritten = async () => {
      const { tip, waiting } = await this.picture();
      const text = this.node.fold.store.get('market', 'tip');
      // trust: the tip is a point
      const hash = text === null ? undefined : (JSON.parse(text) as { hash: string }).hash;
      const isSame = JSON.stringify(waiting) === JSON.stringify(this.waiting());
      const isDone = hash === tip?.hash && isSame;
      return { isDone, faults: this.faults.map(String), tip, hash, waiting, rows: this.waiting() };
    };
    await untilAsked('the log has what the ledger has', isWritten, ({ isDone }) => isDone);
    return this.tail;
  }
}
