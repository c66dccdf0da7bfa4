/** The mempool, how much of it fits into a block, and its limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeRefs, uint } from '../../src/cardano/codec/encode.ts';
import type { Utxo } from '../../src/cardano/codec/output.ts';
import { Mempool } from '../../src/cardano/ledger/mempool.ts';
import { utxosOfCredential } from '../../src/cardano/ledger/views.ts';
import type { Ledger } from '../../src/devnet/ledger.ts';
import { keyNamed, ledgerOptions, openTestLedger } from '../support/ledgerWorld.ts';
import { PARAMETERS } from '../support/parameters.ts';
import { type RawPlan, rawTransaction } from '../support/rawTransaction.ts';
import { ADA, alice, FEE, minting, pay, place, plain } from './judged.ts';

function newest(ledger: Ledger): Utxo {
  const state = { chain: ledger.chain, mempool: ledger.mempool };
  const [first] = utxosOfCredential(state, alice.hash, 'newest', {}).sort((a, b) =>
    a.output.value.lovelace > b.output.value.lovelace ? -1 : 1,
  );
  assert.ok(first);
  return first;
}

test('a block takes what fits, in order; the rest waits for the next', () => {
  const { ledger } = openTestLedger();
  const ids: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    const source = newest(ledger);
    const outputs = Array.from({ length: 300 }, () => pay('bob', ADA));
    const rest = source.output.value.lovelace - 302n * ADA;
    const tx = rawTransaction({
      inputs: [source.ref],
      outputs: [pay('alice', rest), ...outputs],
      feeLovelace: 2n * ADA,
      keys: [keyNamed('alice')],
    });
    assert.equal(ledger.submit(tx.bytes).outcome, 'accepted');
    ids.push(tx.id);
  }
  const blocks: string[][] = [];
  while (ledger.mempool.size > 0) {
    const before = [...ledger.mempool.all()];
    ledger.forge();
    const taken = before.filter(({ tx }) => !ledger.mempool.has(tx.id));
    const bytes = taken.reduce((sum, { tx }) => sum + tx.bytes.length, 0);
    assert.ok(bytes <= PARAMETERS.maxBlockBytes && taken.length > 0);
    blocks.push(taken.map(({ tx }) => tx.id));
  }
  assert.ok(blocks.length > 1, 'it took more than one block');
  assert.deepEqual(blocks.flat(), ids);
});

test('a block takes no more execution units than there are', () => {
  const here = place();
  const { ledger } = here;
  const [a, b, c, collateral] = here.mine;
  assert.ok(a && b && c && collateral);
  for (const input of [a, b, c]) {
    const units = { memory: 1_000n, cpu: 9_000_000_000n };
    const plan: RawPlan = minting(here, {
      inputs: [input],
      redeemers: [{ tag: 1, index: 0, ...units }],
      fields: { 13: encodeRefs([collateral]) },
    });
    assert.equal(ledger.submit(rawTransaction(plan).bytes).outcome, 'accepted');
  }
  ledger.forge();
  const [left] = [...ledger.mempool.all()];
  assert.ok(left && ledger.mempool.size === 1);
  const child = rawTransaction({
    inputs: [{ txHash: left.tx.id, index: 1 }],
    outputs: [pay('bob', 987n * ADA)],
    feeLovelace: ADA,
    keys: [alice],
  });
  assert.equal(ledger.submit(child.bytes).outcome, 'accepted', 'the mempool still counts');
  ledger.forge();
  assert.equal(ledger.mempool.size, 0);
});

test('what expires while it waits is dropped with what depends on it, and nothing else', () => {
  const here = place();
  const { ledger } = here;
  const [, other] = here.mine;
  assert.ok(other);
  const short = rawTransaction(plain(here, { fields: { 3: uint(1) } }));
  assert.equal(ledger.submit(short.bytes).outcome, 'accepted');
  const after = rawTransaction({
    inputs: [{ txHash: short.id, index: 1 }],
    outputs: [pay('bob', 980n * ADA)],
    feeLovelace: 10n * ADA - 300_000n,
    keys: [alice],
  });
  assert.equal(ledger.submit(after.bytes).outcome, 'accepted');
  const apart = rawTransaction(plain(here, { inputs: [other] }));
  assert.equal(ledger.submit(apart.bytes).outcome, 'accepted');
  const reader = rawTransaction({
    inputs: here.mine.slice(2, 3),
    outputs: [pay('bob', 1000n * ADA - FEE)],
    feeLovelace: FEE,
    keys: [alice],
    fields: { 18: encodeRefs([{ txHash: short.id, index: 0 }]) },
  });
  assert.equal(ledger.submit(reader.bytes).outcome, 'accepted');
  ledger.forge();
  assert.equal(ledger.isRevalidating, false, 'no other one is judged again');
  assert.equal(ledger.mempool.size, 0);
  assert.equal(ledger.output({ txHash: apart.id, index: 0 }).state, 'unspent');
  assert.equal(ledger.reasonOf(short.id), 'EXPIRED');
  for (const { id } of [after, reader]) assert.equal(ledger.reasonOf(id), 'INPUT_SPENT');
  const again = rawTransaction(plain(here));
  assert.equal(ledger.submit(again.bytes).outcome, 'accepted', 'its input is free again');
});

/** A list of 220 strings of 64 bytes. */
const LONG = `9f${`5840${'ab'.repeat(64)}`.repeat(220)}ff`;

/** Alice pays Bob, with a long datum, until the mempool takes no more; how often it did. */
function fill(ledger: Ledger): number {
  for (let count = 0; ; count += 1) {
    const source = newest(ledger);
    const rest = source.output.value.lovelace - 102n * ADA;
    const outcome = ledger.submit(
      rawTransaction({
        inputs: [source.ref],
        outputs: [pay('alice', rest), { ...pay('bob', 100n * ADA), datum: LONG }],
        feeLovelace: 2n * ADA,
        keys: [alice],
      }).bytes,
    );
    if (outcome.outcome === 'accepted') continue;
    assert.equal(outcome.reason, 'MEMPOOL_FULL', outcome.message);
    return count;
  }
}

test('what a fork gives back waits beyond the bound; blocks make room', () => {
  const options = ledgerOptions();
  const wallets = [{ keyHash: alice.hash, lovelace: 1_000_000n * ADA, outputs: 1 }];
  const { ledger } = openTestLedger({ ...options, genesis: { ...options.genesis, wallets } });
  const before = fill(ledger);
  ledger.forge(4);
  const more = fill(ledger);
  assert.ok(before > 80 && more > 20, `${before} and ${more}`);
  const waiting = [...ledger.mempool.all()].map(({ tx }) => tx.id);
  ledger.fork(4, 'all');
  while (ledger.isRevalidating) ledger.revalidateOne();
  const returned = [...ledger.mempool.all()].map(({ tx }) => tx.id);
  assert.equal(returned.length, before + more);
  assert.deepEqual(returned.slice(-waiting.length), waiting);
  assert.equal(fill(ledger), 0);
  while (!ledger.mempool.hasRoomFor(PARAMETERS.maxBytes, PARAMETERS)) ledger.forge();
  assert.ok(fill(ledger) > 0);
  ledger.forge(40);
  assert.equal(ledger.mempool.size, 0);
});

test('is bounded in bytes', () => {
  const mempool = new Mempool();
  assert.ok(mempool.hasRoomFor(PARAMETERS.maxBytes, PARAMETERS));
  assert.ok(!mempool.hasRoomFor(16 * PARAMETERS.maxBlockBytes + 1, PARAMETERS));
});
