/**
 * Random payments, mints, failing scripts, blocks, forks, restarts: the ledger's answers equal the
 * answers of a naive follower that reads the same blocks. No lovelace and no token appears or is
 * lost.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeAssets, encodeOutput, encodeRefs, uint } from '../../src/cardano/codec/encode.ts';
import { scriptHash } from '../../src/cardano/codec/hash.ts';
import { refText, type Utxo } from '../../src/cardano/codec/output.ts';
import { addValues, asValue, coins, equalValues } from '../../src/cardano/codec/value.ts';
import { credentialOf } from '../../src/cardano/ledger/utxoSet.ts';
import { utxosOfAsset, utxosOfCredential } from '../../src/cardano/ledger/views.ts';
import type { Resubmit } from '../../src/devnet/ledger.ts';
import { LedgerStream } from '../support/ledgerStream.ts';
import {
  addressOf,
  FUNDED,
  keyNamed,
  ledgerOptions,
  openTestLedger,
} from '../support/ledgerWorld.ts';
import {
  ALWAYS,
  ALWAYS_HASH,
  NEVER,
  type RawPlan,
  rawTransaction,
} from '../support/rawTransaction.ts';
import type { OpenedLedger } from '../support/testChain.ts';
import { NaiveChain } from './naiveChain.ts';

const ADA = 1_000_000n;
const FEE = ADA;
const TOKEN = `${ALWAYS_HASH}.746f6b`;
const VIEWS = ['spendable', 'newest', 'wallet'] as const;

type Action =
  | { kind: 'pay'; from: number; to: number; pick: number; slots: number | null }
  | { kind: 'mint' | 'fail' | 'rival'; from: number; pick: number }
  | { kind: 'mine'; blocks: number }
  | { kind: 'fork'; depth: number; resubmit: 'all' | 'none' | 'odd'; settle: boolean }
  | { kind: 'read' }
  | { kind: 'restart' };

const from = fc.nat(2);
const pick = fc.nat(20);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('pay'),
      from,
      to: from,
      pick,
      slots: fc.option(fc.integer({ min: 1, max: 3 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('mint', 'fail', 'rival'), from, pick }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('mine'), blocks: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('fork'),
      depth: fc.integer({ min: 1, max: 6 }),
      resubmit: fc.constantFrom('all', 'none', 'odd'),
      settle: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: 'read' }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' }) },
);

class World {
  readonly #options = ledgerOptions();
  #opened: OpenedLedger = openTestLedger(this.#options);
  readonly #genesis = [...this.#opened.ledger.chain.all()];
  #stream = new LedgerStream(this.#opened.ledger, this.#opened.file, null);
  #model = new NaiveChain(this.#genesis);

  run(next: Action): void {
    if (next.kind === 'read') this.read();
    else if (next.kind === 'restart') this.restart();
    else if (next.kind === 'mine') this.#opened.ledger.forge(next.blocks);
    else if (next.kind === 'fork') this.fork(next);
    else this.submit(next);
  }

  submit(next: Extract<Action, { pick: number }>): void {
    const { ledger } = this.#opened;
    this.settle();
    const name = FUNDED[next.from] ?? 'alice';
    const state = { chain: ledger.chain, mempool: ledger.mempool };
    const view = next.kind === 'rival' ? 'spendable' : 'newest';
    const rich = utxosOfCredential(state, keyNamed(name).hash, view, {}).filter(
      ({ output }) => output.value.lovelace > 20n * ADA,
    );
    const source = rich[next.pick % Math.max(1, rich.length)];
    if (source === undefined) return;
    const { bytes, id } = rawTransaction(planOf(next, name, source, ledger.slot));
    assert.deepEqual(ledger.submit(bytes), { outcome: 'accepted', txHash: id });
    if (next.kind !== 'rival') return;
    const again = rawTransaction(planOf({ ...next, kind: 'mint' }, name, source, ledger.slot));
    const outcome = ledger.submit(again.bytes);
    assert.equal(outcome.outcome === 'refused' && outcome.reason, 'INPUT_SPENT');
  }

  fork({ depth, resubmit, settle }: Extract<Action, { kind: 'fork' }>): void {
    const { ledger, file } = this.#opened;
    const odd = (): string[] =>
      Array.from({ length: ledger.height }, (_, at) => file.transactionsOf(at + 1))
        .flat()
        .map(({ id }) => id)
        .filter((_, at) => at % 2 === 1);
    const which: Resubmit = resubmit === 'odd' ? odd() : resubmit;
    const fork = ledger.fork(depth, which);
    if (!('takenBack' in fork)) {
      assert.ok(depth > ledger.height, fork.message);
      return;
    }
    this.#stream.forked(fork);
    if (settle) this.settle();
  }

  settle(): void {
    while (this.#opened.ledger.isRevalidating) this.#opened.ledger.revalidateOne();
  }

  read(): void {
    for (let events = this.#stream.read(); events.length > 0; events = this.#stream.read()) {
      for (const event of events) this.#model.apply(event);
    }
  }

  restart(): void {
    this.#opened.file.close();
    this.#opened = openTestLedger(this.#options);
    const { ledger, file } = this.#opened;
    this.#stream = new LedgerStream(ledger, file, null);
    this.#model = new NaiveChain(this.#genesis);
  }

  check(): void {
    this.settle();
    this.read();
    const { ledger, file } = this.#opened;
    const heights = Array.from({ length: ledger.height }, (_, at) => at + 1);
    assert.deepEqual(
      this.#model.hashes,
      heights.map((height) => file.head(height)?.hash),
    );
    assert.equal(this.#model.limbo, 0, 'everything taken back was heard of');
    assert.deepEqual(
      this.#model.waiting,
      [...ledger.mempool.all()].map(({ tx }) => tx.id),
    );
    const confirmed = this.#model.confirmed();
    assert.deepEqual(
      [...ledger.chain.all()].map(({ ref }) => refText(ref)).sort(),
      [...confirmed.keys()].sort(),
    );
    for (const utxo of file.unspent()) assert.deepEqual(utxo, confirmed.get(refText(utxo.ref)));
    assert.equal([...file.unspent()].length, confirmed.size);
    this.checkViews();
    const total = addValues(...[...confirmed.values()].map(({ output }) => output.value));
    assert.ok(equalValues(total, this.#model.expectedTotal()), 'nothing appears, nothing is lost');
  }

  checkViews(): void {
    const { ledger } = this.#opened;
    const state = { chain: ledger.chain, mempool: ledger.mempool };
    const texts = (utxos: readonly Utxo[]) => utxos.map(({ ref }) => refText(ref)).sort();
    for (const view of VIEWS) {
      for (const name of FUNDED) {
        const { hash } = keyNamed(name);
        assert.deepEqual(
          texts(utxosOfCredential(state, hash, view, {})),
          this.#model.view(view, (utxo) => credentialOf(utxo) === hash),
          `${name}, ${view}`,
        );
      }
      assert.deepEqual(
        texts(utxosOfAsset(state, TOKEN, view)),
        this.#model.view(view, ({ output }) => output.value.assets.has(TOKEN)),
        `token, ${view}`,
      );
    }
  }

  close(): void {
    this.#opened.file.close();
  }
}

function planOf(
  next: Extract<Action, { pick: number }>,
  name: string,
  source: Utxo,
  slot: number,
): RawPlan {
  const { value } = source.output;
  const plan: RawPlan = { inputs: [source.ref], feeLovelace: FEE, keys: [keyNamed(name)] };
  const rest = { ...value, lovelace: value.lovelace - FEE };
  if (next.kind === 'pay') {
    const gift = { address: addressOf(FUNDED[next.to] ?? 'bob'), value: coins(5n * ADA) };
    const change = { ...rest, lovelace: rest.lovelace - 5n * ADA };
    const fields = next.slots === null ? {} : { 3: uint(slot + next.slots) };
    return { ...plan, outputs: [gift, { address: addressOf(name), value: change }], fields };
  }
  const outputs = [{ address: addressOf(name), value: rest }];
  if (next.kind === 'rival') return { ...plan, outputs };
  if (next.kind === 'fail' && value.assets.size === 0) return failing(plan, name, source);
  const minted = asValue(rest.lovelace, [...rest.assets, [TOKEN, 5n]]);
  return {
    ...plan,
    outputs: [{ address: addressOf(name), value: minted }],
    ...scripted(ALWAYS),
    fields: {
      9: encodeAssets(new Map([[TOKEN, 5n]])),
      13: encodeRefs([source.ref]),
      16: encodeOutput({
        address: addressOf(name),
        value: { ...value, lovelace: value.lovelace - 2n * ADA },
      }),
      17: uint(2n * ADA),
    },
  };
}

function scripted(script: string): Pick<RawPlan, 'scripts' | 'redeemers'> {
  return { scripts: [script], redeemers: [{ tag: 1, index: 0, memory: 1_000n, cpu: 1_000_000n }] };
}

/** Its script fails, as announced: 2 ADA of the collateral are lost, nothing else moves. */
function failing(plan: RawPlan, name: string, source: Utxo): RawPlan {
  const { value } = source.output;
  const token = `${scriptHash(NEVER)}.746f6b`;
  const back = { ...value, lovelace: value.lovelace - 2n * ADA };
  const made = asValue(value.lovelace - FEE, [[token, 5n]]);
  return {
    ...plan,
    outputs: [{ address: addressOf(name), value: made }],
    ...scripted(NEVER),
    isValid: false,
    fields: {
      9: encodeAssets(new Map([[token, 5n]])),
      13: encodeRefs([source.ref]),
      16: encodeOutput({ address: addressOf(name), value: back }),
      17: uint(2n * ADA),
    },
  };
}

test('the ledger equals what a naive follower computes from the blocks', {
  timeout: 300_000,
}, () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 10, maxLength: 50 }), (actions) => {
      const world = new World();
      try {
        for (const next of actions) world.run(next);
        world.check();
      } finally {
        world.close();
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 25) },
  );
});
