/**
 * A ledger that copies another one, over random payments, blocks, forks and restarts: it has the
 * same outputs and the same mempool, and leading it loses nothing that it was told of.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toHex } from '../../src/cardano/hex.ts';
import { refText } from '../../src/cardano/output.ts';
import type { Opened } from '../../src/ledger/boot.ts';
import { packed } from '../../src/ledger/messages.ts';
import { Replica } from '../../src/ledger/replica.ts';
import { type RawEvent, Stream } from '../../src/ledger/streams.ts';
import { utxosOfCredential } from '../../src/ledger/views.ts';
import {
  FUNDED,
  genesisPlan,
  keyNamed,
  ledgerOptions,
  openTestLedger,
  payment,
} from '../support/ledgerWorld.ts';

const ADA = 1_000_000n;
const VIEWS = ['spendable', 'newest', 'wallet'] as const;

type Action =
  | { do: 'pay'; from: number; to: number; pick: number }
  | { do: 'mine'; blocks: number }
  | { do: 'fork'; depth: number; resubmit: 'all' | 'none'; judged: number }
  | { do: 'tell' | 'settle' | 'restart' | 'reconcile' };

const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('pay'),
      from: fc.nat(2),
      to: fc.nat(2),
      pick: fc.nat(9),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('mine'), blocks: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fork'),
      depth: fc.integer({ min: 1, max: 20 }),
      resubmit: fc.constantFrom('all', 'none'),
      judged: fc.nat(3),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('tell', 'settle') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart', 'reconcile') }) },
);

/** A leader and its copy, both in this thread. */
class Pair {
  readonly leader: Opened = openTestLedger();
  readonly #options = { ...ledgerOptions(), genesisTimeMs: 1, begun: begunAs(this.leader) };
  copy: Opened = openTestLedger(this.#options);
  replica = new Replica(this.copy.ledger, this.copy.file, () => {});
  readonly #stream = new Stream(this.leader.ledger, this.leader.file, null);

  run(action: Action): void {
    const { ledger } = this.leader;
    if (action.do === 'pay') this.#pay(action);
    else if (action.do === 'mine') ledger.forge(action.blocks);
    else if (action.do === 'fork') this.#fork(action);
    else if (action.do === 'tell') this.tell();
    else if (action.do === 'settle') this.settle();
    else this.#startAnew(action.do === 'restart');
  }

  settle(): void {
    const { ledger } = this.leader;
    while (ledger.isRevalidating) ledger.revalidateOne();
  }

  tell(): void {
    for (let events = this.#stream.read(); events.length > 0; events = this.#stream.read()) {
      for (const event of events) this.copyEvent(event);
    }
  }

  copyEvent(event: RawEvent): void {
    if (event.kind === 'forward') {
      const raw = event.transactions.map(toHex);
      assert.deepEqual(this.replica.apply([{ head: event.head, raw }]), { outcome: 'done' });
    } else if (event.kind === 'back') {
      const head = event.point === null ? null : this.copy.file.headAt(event.point.slot);
      assert.deepEqual(this.replica.rollTo(head), { outcome: 'done' });
    } else {
      const added = event.added.map(toHex);
      this.replica.applyMempool({ ...event, added, isJudged: false });
    }
  }

  #pay({ from, to, pick }: Extract<Action, { do: 'pay' }>): void {
    this.settle();
    const { ledger } = this.leader;
    const [name, other] = [FUNDED[from] ?? 'alice', FUNDED[to] ?? 'bob'];
    const rich = utxosOfCredential(ledger, keyNamed(name).hash, 'newest', {}).filter(
      ({ output }) => output.value.lovelace > 20n * ADA,
    );
    const source = rich[pick % Math.max(1, rich.length)];
    if (source === undefined) return;
    const { bytes } = payment(source, name, other, 5n * ADA);
    assert.equal(ledger.submit(bytes).outcome, 'accepted');
  }

  /** Told before it and right after it: a slow reader is the matter of other tests. */
  #fork({ depth, resubmit, judged }: Extract<Action, { do: 'fork' }>): void {
    this.tell();
    const { ledger } = this.leader;
    const fork = ledger.fork(Math.min(depth, ledger.height), resubmit);
    if (!('takenBack' in fork)) return;
    this.#stream.forked(fork);
    for (let left = judged; left > 0; left -= 1) ledger.revalidateOne();
    this.tell();
  }

  /** The copy forgets what waits, as when it is opened anew, and is told all of it. */
  #startAnew(isOpened: boolean): void {
    this.settle();
    this.tell();
    if (isOpened) {
      this.copy.file.close();
      this.copy = openTestLedger(this.#options);
      this.replica = new Replica(this.copy.ledger, this.copy.file, () => {});
    }
    const { tip, height } = this.leader.ledger;
    const points = tip === null ? [] : [{ slot: tip.slot + 1, hash: 'ff' }, tip];
    const point = tip === null ? null : { slot: tip.slot, hash: tip.hash };
    const found = this.replica.reconcile(points, height <= 1);
    assert.deepEqual(found, { outcome: 'common', point });
    const added = [...this.leader.ledger.mempool.all()].map(({ tx }) => toHex(tx.bytes));
    // In an order in which they cannot be judged: rows are sorted by when they first came.
    const change = { whole: true, isJudged: true, added: added.reverse(), removed: [] };
    this.replica.applyMempool(change);
  }

  check(): void {
    this.settle();
    this.tell();
    assert.deepEqual(picture(this.copy), picture(this.leader));
    assert.equal(this.copy.ledger.isRevalidating, false, 'it was told of all that returned');
  }

  close(): void {
    this.leader.file.close();
    this.copy.file.close();
  }
}

function begunAs({ file }: Opened) {
  return { text: file.genesis() ?? '', outputs: (file.genesisOutputs() ?? []).map(packed) };
}

function picture({ ledger, file }: Opened) {
  const refs = FUNDED.flatMap((name) =>
    VIEWS.map((view) =>
      utxosOfCredential(ledger, keyNamed(name).hash, view, {}).map(({ ref }) => refText(ref)),
    ),
  );
  return {
    tip: ledger.tip,
    slots: ledger.slots,
    waiting: waitingIds(ledger),
    refs,
    all: [...ledger.chain.all()].map(({ ref }) => refText(ref)).sort(),
    file: [...file.unspent()].map(({ ref }) => refText(ref)).sort(),
  };
}

function waitingIds({ mempool }: Opened['ledger']): string[] {
  return [...mempool.all()].map(({ tx }) => tx.id).sort();
}

test('a copy has the outputs, the views and the mempool of its leader', () => {
  fc.assert(
    fc.property(fc.array(anyAction, { minLength: 10, maxLength: 60 }), (actions) => {
      const pair = new Pair();
      try {
        for (const action of actions) pair.run(action);
        pair.check();
      } finally {
        pair.close();
      }
    }),
    { numRuns: 30 },
  );
});

test('a copy that begins to lead has all that its leader had, in the middle of a fork, too', () => {
  fc.assert(
    fc.property(
      fc.array(anyAction, { minLength: 10, maxLength: 40 }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(5),
      (actions, depth, judged) => {
        const pair = new Pair();
        try {
          for (const action of actions) pair.run(action);
          pair.settle();
          pair.run({ do: 'fork', depth, resubmit: 'all', judged });
          const { ledger } = pair.copy;
          ledger.judgeAnew();
          while (ledger.isRevalidating) ledger.revalidateOne();
          pair.settle();
          assert.deepEqual(waitingIds(ledger), waitingIds(pair.leader.ledger));
          ledger.forge();
          const slot = pair.copy.file.tip()?.slot ?? 0;
          assert.ok(slot > (pair.leader.ledger.tip?.slot ?? 0), 'slots go on');
        } finally {
          pair.close();
        }
      },
    ),
    { numRuns: 20 },
  );
});

test('a block that does not follow, or is another than its hash says, changes nothing', () => {
  const pair = new Pair();
  pair.run({ do: 'pay', from: 0, to: 1, pick: 0 });
  pair.run({ do: 'mine', blocks: 1 });
  pair.run({ do: 'pay', from: 0, to: 1, pick: 4 });
  pair.run({ do: 'mine', blocks: 1 });
  const { file } = pair.leader;
  const block = (height: number) => {
    const raw = file.transactionsOf(height).map(({ bytes }) => toHex(bytes));
    const head = file.head(height);
    assert.ok(head !== null);
    return { head, raw };
  };
  const [first, second] = [block(1), block(2)];
  const before = picture(pair.copy);
  const missing = { ...first, raw: [] };
  const moved = { ...first, head: { ...first.head, slot: first.head.slot + 1 } };
  const garbled = { ...first, raw: ['80'] };
  for (const blocks of [[second], [missing], [moved], [garbled], [first, first]]) {
    assert.equal(pair.replica.apply(blocks).outcome, 'diverged', JSON.stringify(blocks));
    assert.deepEqual(picture(pair.copy), before);
  }
  assert.deepEqual(pair.replica.apply([first, second]), { outcome: 'done' });
  assert.equal(pair.replica.rollTo({ ...first.head, hash: 'ff' }).outcome, 'diverged');
  assert.deepEqual(picture(pair.copy), picture(pair.leader));
  pair.close();
});

test('a block whose inputs are not there is told as such', () => {
  const pair = new Pair();
  pair.run({ do: 'pay', from: 0, to: 1, pick: 0 });
  const wallets = genesisPlan().wallets.slice(1);
  const options = { ...ledgerOptions(), genesis: { ...genesisPlan(), wallets } };
  const other = openTestLedger(options);
  pair.run({ do: 'mine', blocks: 1 });
  const { tip } = pair.leader.ledger;
  assert.ok(tip !== null);
  const raw = pair.leader.file.transactionsOf(1).map(({ bytes }) => toHex(bytes));
  const replica = new Replica(other.ledger, other.file, () => {});
  const outcome = replica.apply([{ head: tip, raw }]);
  assert.ok(outcome.outcome === 'diverged');
  assert.match(outcome.message, /input .* is not there/);
  other.file.close();
  pair.close();
});

test('blocks that nobody else has are taken back, and slots of theirs may come again', () => {
  const pair = new Pair();
  pair.run({ do: 'mine', blocks: 3 });
  pair.tell();
  const common = pair.leader.ledger.tip;
  assert.ok(common !== null);
  pair.copy.ledger.forge(5);
  const points = [common];
  assert.equal(pair.replica.reconcile([{ slot: 2, hash: 'ff' }], false).outcome, 'none');
  assert.equal(pair.copy.ledger.height, 8, 'nothing was undone');
  const found = pair.replica.reconcile(points, false);
  assert.deepEqual(found, {
    outcome: 'common',
    point: { slot: common.slot, hash: common.hash },
  });
  pair.run({ do: 'pay', from: 0, to: 1, pick: 0 });
  pair.run({ do: 'mine', blocks: 2 });
  pair.check();
  assert.ok(pair.copy.ledger.blockSlot > pair.leader.ledger.blockSlot, 'it made later ones');
  assert.deepEqual(pair.replica.reconcile([], true), { outcome: 'common', point: null });
  assert.equal(pair.copy.ledger.height, 0);
  pair.close();
});

test('what began is given to others after it was spent and forgotten', () => {
  const pair = new Pair();
  const before = begunAs(pair.leader);
  for (const from of [0, 1, 2]) pair.run({ do: 'pay', from, to: from, pick: 0 });
  pair.run({ do: 'mine', blocks: 1 });
  pair.leader.ledger.forge(2_200);
  assert.deepEqual(begunAs(pair.leader), before);
  pair.close();
});

test('does not begin with what other keys began', () => {
  const pair = new Pair();
  const genesis = { ...genesisPlan(), executorKeyHash: keyNamed('other').hash };
  const options = { ...ledgerOptions(), genesis, begun: begunAs(pair.leader) };
  assert.throws(() => openTestLedger(options), /other keys/);
  openTestLedger({ ...options, genesis: genesisPlan() }).file.close();
  pair.close();
});
