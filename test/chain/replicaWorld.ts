/**
 * Nodes of one market in this process: each with its own fold and its own ledger in a thread, all
 * over one log. One leads; it is cut off without a word, and another goes on.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { dataFiles } from '../../src/actors/files.ts';
import { Node } from '../../src/actors/node.ts';
import { recover } from '../../src/actors/recovery.ts';
import { refText, type Utxo } from '../../src/cardano/output.ts';
import { EmulatedChain } from '../../src/chain/emulated.ts';
import { Follower } from '../../src/chain/follower.ts';
import { LedgerReplica } from '../../src/chain/replica.ts';
import { submitDurably } from '../../src/chain/submitDurably.ts';
import { tokenPolicyId } from '../../src/chain/tokenPolicy.ts';
import type { GenesisCopy } from '../../src/ledger/messages.ts';
import { LocalLog } from '../../src/log/local.ts';
import type { Log } from '../../src/log/port.ts';
import { LogWriter } from '../../src/log/writer.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Failure } from '../../src/runtime/errors.ts';
import { createEvents, createLogger } from '../../src/runtime/events.ts';
import { createRegistry } from '../../src/runtime/metrics.ts';
import { seededRng } from '../../src/runtime/rng.ts';
import { USUAL } from '../support/foldWorld.ts';
import { FUNDED, keyNamed, ledgerOptions, payment } from '../support/ledgerWorld.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';

const ADA = 1_000_000n;
const VIEWS = ['spendable', 'newest', 'wallet'] as const;
const rng = seededRng(1);

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
    const recovery = { ...nodeOptions, ...said, clock: systemClock, rng };
    const store = await recover(own, files, recovery);
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
  }

  async close(): Promise<void> {
    await this.cutOff();
    await this.replica.stop();
    await this.ledger.stop();
    await this.node.stop();
  }

  submit(bytes: Uint8Array) {
    return submitDurably(this.ledger, this.node, bytes, systemClock);
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

export interface Market {
  readonly log: LocalLog;
  readonly directories: readonly string[];
  readonly begun: GenesisCopy;
  readonly horizonBlocks: number | undefined;
  seats: Seat[];
  leader: number;
  term: number;
}

/** `count` nodes, the first of which leads. Stops with the test. */
export async function openMarket(
  scope: Scope,
  count: number,
  horizonBlocks?: number,
): Promise<Market> {
  const shared = temporaryDirectory();
  const log = new LocalLog(join(shared, 'shared.sqlite'), systemClock, 0);
  const directories = Array.from({ length: count }, () => temporaryDirectory());
  const first = await Seat.open(log, directories[0] ?? shared, undefined, horizonBlocks);
  const begun = await first.ledger.genesis();
  assert.ok(!(begun instanceof Failure));
  await first.replica.start();
  await first.lead(1);
  const market = { log, directories, begun, horizonBlocks, seats: [first], leader: 0, term: 1 };
  scope.after(async () => {
    for (const seat of market.seats) await seat.close();
    await log.close();
  });
  for (let at = 1; at < count; at += 1) await openSeat(market, at);
  return market;
}

/** As a replica. */
export async function openSeat(market: Market, at: number): Promise<Seat> {
  const { log, directories, begun, horizonBlocks } = market;
  const seat = await Seat.open(log, directories[at] ?? '', begun, horizonBlocks);
  market.seats[at] = seat;
  await seat.replica.start();
  return seat;
}

export function seatAt({ seats }: Market, at: number): Seat {
  const seat = seats[at];
  assert.ok(seat !== undefined, `node ${at} is there`);
  return seat;
}

/** Another one leads; the old one is cut off, and made to follow without a word from before. */
export async function failOver(
  market: Market,
  to: number,
  isRestarted: boolean,
  beforeClose: () => Promise<void> = async () => {},
): Promise<void> {
  const old = market.leader;
  await seatAt(market, old).cutOff();
  market.term += 1;
  market.leader = to;
  await seatAt(market, to).lead(market.term);
  if (isRestarted) {
    await beforeClose();
    await seatAt(market, old).close();
    await openSeat(market, old);
    return;
  }
  await seatAt(market, old).ledger.follow();
  await seatAt(market, old).replica.start();
}

/**
 * Every replica shows what the leader shows, and its mempool is the fold's; as soon as all have
 * what the leader wrote. After a fork it writes what waits anew, though nothing else has changed.
 */
export async function checkAll(market: Market): Promise<void> {
  const leader = seatAt(market, market.leader);
  await leader.settled();
  const shown = async () => {
    const expected = await leader.picture();
    const { seq } = await market.log.last();
    const pictures = await Promise.all(
      market.seats.map(async (seat) => {
        await seat.node.reached(seq);
        if (seat !== leader) await seat.replica.reached(seq);
        assert.deepEqual(seat.faults, []);
        const shows = await seat.picture();
        return [shows, seat.waiting(), seat.node.stateHash()];
      }),
    );
    return { pictures, expected: [expected, expected.waiting, leader.node.stateHash()] };
  };
  const areSame = ({ pictures, expected }: Awaited<ReturnType<typeof shown>>) =>
    pictures.every((picture) => isDeepStrictEqual(picture, expected));
  const isLate = await untilAsked('all show the same', shown, areSame, 3_000).catch(() => true);
  if (isLate !== true) return;
  const { pictures, expected } = await shown();
  for (const picture of pictures) assert.deepEqual(picture, expected);
}

/** A payment from what `seat` shows; null when the wallet is too small. */
export async function anyPayment(seat: Seat, from: number, to: number, pick: number) {
  const [name, other] = [FUNDED[from] ?? 'alice', FUNDED[to] ?? 'bob'];
  const rich = await seat.newest(name);
  const source = rich[pick % Math.max(1, rich.length)];
  return source === undefined ? null : payment(source, name, other, 5n * ADA);
}
