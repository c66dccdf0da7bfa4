/**
 * Nodes of one market in this process, over one log. One leads; it is cut off without a word, and
 * another goes on.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { GenesisCopy } from '../../src/devnet/messages.ts';
import { LocalLog } from '../../src/engine/log/local.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { FUNDED, payment } from '../support/ledgerWorld.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { Seat } from './replicaSeat.ts';

const ADA = 1_000_000n;

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
        return [shows, seat.waiting(), seat.node.applied().seq, seat.node.stateHash()];
      }),
    );
    return { pictures, expected: [expected, expected.waiting, seq, leader.node.stateHash()] };
  };
  const areSame = ({ pictures, expected }: Awaited<ReturnType<typeof shown>>) =>
    pictures.every((picture) => isDeepStrictEqual(picture, expected));
  const isLate = await untilAsked('all show the same', shown, areSame).catch(() => true);
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
