/**
 * Several nodes, one chain: random payments, blocks and forks, leaders that vanish at any moment
 * (with blocks that nobody else has), nodes that start again. What was acknowledged is in a block
 * in the end, and every node shows the same.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { EmulatedChain } from '../../src/devnet/emulated.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { untilSeen } from '../support/untilSeen.ts';
import {
  anyPayment,
  checkAll,
  failOver,
  type Market,
  openMarket,
  openSeat,
  seatAt,
} from './replicaWorld.ts';

type Step =
  | { do: 'pay'; from: number; to: number; pick: number }
  | { do: 'mine'; blocks: number }
  | { do: 'fork'; depth: number; isAll: boolean }
  /** The leader vanishes; `lost` blocks and `late` payments of it are in no log. */
  | { do: 'vanish'; to: number; lost: number; late: number; isRestarted: boolean }
  | { do: 'restart'; node: number }
  | { do: 'check' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('pay'),
      from: fc.nat(2),
      to: fc.nat(2),
      pick: fc.nat(9),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('mine'), blocks: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fork'),
      depth: fc.integer({ min: 1, max: 20 }),
      isAll: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('vanish'),
      to: fc.nat(1),
      lost: fc.nat(3),
      late: fc.nat(2),
      isRestarted: fc.nat(3).map((one) => one === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart'), node: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('check') }) },
);

/** What clients were promised. */
class Promises {
  readonly #market: Market;
  readonly #acknowledged = new Set<string>();
  readonly #open: Promise<void>[] = [];
  count = 0;

  constructor(market: Market) {
    this.#market = market;
  }

  get leader() {
    return seatAt(this.#market, this.#market.leader);
  }

  /** Not waited for: other things happen meanwhile. */
  async pay(from: number, to: number, pick: number): Promise<void> {
    const { leader } = this;
    const tx = await anyPayment(leader, from, to, pick);
    if (tx === null) return;
    this.#open.push(
      leader.submit(tx.bytes).then((outcome) => {
        const isAccepted = !(outcome instanceof Failure) && outcome.outcome === 'accepted';
        if (!isAccepted) return;
        this.#acknowledged.add(tx.id);
        this.count += 1;
      }),
    );
  }

  /** Nobody waits any longer for leaders that vanished. */
  async allAnswered(): Promise<void> {
    for (const seat of this.#market.seats) seat.giveUp();
    await Promise.all(this.#open);
  }

  async fork(depth: number, isAll: boolean): Promise<void> {
    await this.allAnswered();
    const { ledger } = this.leader;
    const height = (await ledger.tip()).tip?.height ?? 0;
    if (height === 0) return;
    const back = Math.min(depth, height);
    const resubmit = isAll ? 'all' : 'none';
    if (!isAll) await this.#release(ledger, height - back);
    await ledger.fork(back, { resubmit });
  }

  /** Who asks for a fork without its transactions asks for their loss, and of what needs them. */
  async #release(ledger: EmulatedChain, target: number): Promise<void> {
    for (const id of this.#acknowledged) {
      const head = await ledger.blockOf(id);
      if (head === null || head.height > target) this.#acknowledged.delete(id);
    }
  }

  async checkKept(): Promise<void> {
    await this.allAnswered();
    const { ledger } = this.leader;
    for (let left = 20; left > 0; left -= 1) await ledger.mine(1);
    for (const id of this.#acknowledged) {
      assert.ok((await ledger.blockOf(id)) !== null, `${id} was acknowledged, and is lost`);
    }
  }
}

async function perform(step: Step, market: Market, promises: Promises): Promise<void> {
  if (step.do === 'pay') await promises.pay(step.from, step.to, step.pick);
  else if (step.do === 'mine') await promises.leader.ledger.mine(step.blocks);
  else if (step.do === 'fork') await promises.fork(step.depth, step.isAll);
  else if (step.do === 'check') await checkAll(market);
  else if (step.do === 'vanish') await vanish(step, market, promises);
  else if (step.node !== market.leader) {
    await promises.allAnswered();
    await seatAt(market, step.node).close();
    await openSeat(market, step.node);
  }
}

/** Whoever waits for an answer of the old leader may or may not get it. */
async function vanish(
  { to, lost, late, isRestarted }: Extract<Step, { do: 'vanish' }>,
  market: Market,
  promises: Promises,
): Promise<void> {
  const old = promises.leader;
  await old.cutOff();
  for (let left = late; left > 0; left -= 1) await promises.pay(left, 0, left);
  if (lost > 0) await old.ledger.mine(lost);
  const next = (market.leader + 1 + to) % market.seats.length;
  await failOver(market, next, isRestarted, () => promises.allAnswered());
}

test('what was acknowledged survives every leader, and every node shows the same', {
  timeout: 240_000,
}, async (scope: TestContext) => {
  const market = await openMarket(scope, 3);
  const promises = new Promises(market);
  const list = fc.array(anyStep, { minLength: 15, maxLength: 30 });
  const property = fc.asyncProperty(list, async (steps) => {
    try {
      for (const step of steps) await perform(step, market, promises);
      await promises.checkKept();
      await checkAll(market);
    } finally {
      await promises.allAnswered();
    }
  });
  const numRuns = Number(process.env.RUNS ?? 4);
  const counts = { acknowledged: 0, leaders: 0 };
  await untilSeen(counts, async () => {
    await fc.assert(property, { numRuns, endOnFailure: true, includeErrorInReport: true });
    scope.diagnostic(JSON.stringify({ acknowledged: promises.count, leaders: market.term }));
    counts.acknowledged = Math.max(0, promises.count - 10);
    counts.leaders = Math.max(0, market.term - 3);
  });
});

test('a leader that vanishes in the middle of a fork takes nothing with it', {
  timeout: 120_000,
}, async (scope: TestContext) => {
  const market = await openMarket(scope, 2);
  const promises = new Promises(market);
  for (let round = 0; round < 8; round += 1) {
    for (let at = 0; at < 4; at += 1) await promises.pay(at % 3, round % 3, at);
    await promises.leader.ledger.mine(2);
    await promises.pay(round % 3, 0, 1);
    await promises.fork(1 + (round % 3), true);
    // The log may have: all as before, that the chain went back, or what waits since then in part.
    if (round % 2 === 1) await promises.leader.ledger.mine(1);
    await failOver(market, 1 - market.leader, round === 3, () => promises.allAnswered());
  }
  await promises.checkKept();
  await checkAll(market);
  assert.ok(promises.count > 20, `${promises.count} were acknowledged`);
});
