/** A ledger and one that copies it, both in this thread, and what can happen to them. */
import assert from 'node:assert/strict';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { refText } from '../../src/cardano/codec/output.ts';
import { utxosOfCredential } from '../../src/cardano/ledger/views.ts';
import type { Opened } from '../../src/devnet/boot.ts';
import { packed } from '../../src/devnet/messages.ts';
import { Replica } from '../../src/devnet/replica.ts';
import { type RawEvent, Stream } from '../../src/devnet/streams.ts';
import {
  FUNDED,
  keyNamed,
  ledgerOptions,
  openTestLedger,
  payment,
} from '../support/ledgerWorld.ts';

const ADA = 1_000_000n;
const VIEWS = ['spendable', 'newest', 'wallet'] as const;

export type Action =
  | { do: 'pay'; from: number; to: number; pick: number }
  | { do: 'mine'; blocks: number }
  | { do: 'fork'; depth: number; resubmit: 'all' | 'none'; judged: number }
  | { do: 'tell' | 'settle' | 'restart' | 'reconcile' };

/** A leader and its copy, both in this thread. */
export class Pair {
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

  /** Told what it is known to have: nothing of it, and nothing that returns, is lost. */
  beginAnew(): void {
    const { tip, mempool } = this.copy.ledger;
    const added = [...mempool.all()].map(({ tx }) => toHex(tx.bytes));
    this.replica.reconcile(tip === null ? [] : [tip], tip === null);
    this.replica.applyMempool({ whole: true, isJudged: false, added, removed: [] });
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

export function begunAs({ file }: Opened) {
  return { text: file.genesis() ?? '', outputs: (file.genesisOutputs() ?? []).map(packed) };
}

export function picture({ ledger, file }: Opened) {
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

export function waitingIds({ mempool }: Opened['ledger']): string[] {
  return [...mempool.all()].map(({ tx }) => tx.id).sort();
}
