/** How a ledger is put before a transaction: Alice pays, mints, or tries what must not be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAssets, encodeRefs } from '../../src/cardano/codec/encode.ts';
import type { OutputRef } from '../../src/cardano/codec/output.ts';
import { asValue, coins } from '../../src/cardano/codec/value.ts';
import type { RefusalReason } from '../../src/cardano/ledger/port.ts';
import { utxosOfCredential } from '../../src/cardano/ledger/views.ts';
import type { Ledger } from '../../src/devnet/ledger.ts';
import { addressOf, keyNamed, ledgerOptions, openTestLedger } from '../support/ledgerWorld.ts';
import { ALWAYS, ALWAYS_HASH, type RawPlan, rawTransaction } from '../support/rawTransaction.ts';

export const ADA = 1_000_000n;
export const FEE = 300_000n;
export const alice = keyNamed('alice');
export const bob = keyNamed('bob');
export const TOKEN = `${ALWAYS_HASH}.746f6b`;

export interface Place {
  readonly ledger: Ledger;
  /** Alice's and Bob's outputs of 1,000 ADA. */
  readonly mine: readonly OutputRef[];
  readonly bobs: readonly OutputRef[];
}

/** In memory: it is never opened again. */
export function place(): Place {
  const { ledger } = openTestLedger({ ...ledgerOptions(), file: ':memory:' });
  const of = (hash: string) =>
    utxosOfCredential(ledger, hash, 'spendable', {}).map(({ ref }) => ref);
  return { ledger, mine: of(alice.hash), bobs: of(bob.hash) };
}

export function first(refs: readonly OutputRef[]): OutputRef {
  const [ref] = refs;
  assert.ok(ref);
  return ref;
}

/** Alice pays Bob 10 ADA; `change` makes it another transaction. */
export function plain({ mine }: Pick<Place, 'mine'>, change: Partial<RawPlan> = {}): RawPlan {
  return {
    inputs: [first(mine)],
    outputs: [pay('bob', 10n * ADA), pay('alice', 990n * ADA - FEE)],
    feeLovelace: FEE,
    keys: [alice],
    ...change,
  };
}

export function pay(name: string, lovelace: bigint) {
  return { address: addressOf(name), value: coins(lovelace) };
}

/** Alice mints 5 of a token whose policy takes anything. */
export function minting(here: Pick<Place, 'mine'>, change: Partial<RawPlan> = {}): RawPlan {
  const { fields, ...rest } = change;
  return plain(here, {
    outputs: [
      { address: addressOf('bob'), value: asValue(10n * ADA, [[TOKEN, 5n]]) },
      pay('alice', 988n * ADA),
    ],
    feeLovelace: 2n * ADA,
    scripts: [ALWAYS],
    redeemers: [{ tag: 1, index: 0, memory: 1_000n, cpu: 1_000_000n }],
    fields: {
      9: encodeAssets(new Map([[TOKEN, 5n]])),
      13: encodeRefs(here.mine.slice(1, 2)),
      ...fields,
    },
    ...rest,
  });
}

/** Class names of the ledger library, which no message may contain. */
export const CLASS_NAME = /\b[a-z]\w*\.\w+\.[A-Z]|\$[A-Z]|Borer|TreeSet|TransactionInput|Coin\(/;

export function refuses(
  what: string,
  reason: RefusalReason,
  words: RegExp,
  make: (here: Place) => RawPlan,
) {
  test(`${reason}: ${what}`, () => {
    const here = place();
    const outcome = here.ledger.submit(rawTransaction(make(here)).bytes);
    assert.equal(outcome.outcome, 'refused', JSON.stringify(outcome));
    assert.equal(outcome.reason, reason, outcome.message);
    assert.match(outcome.message, words);
    assert.ok(outcome.message.length < 1400, 'a message of sane length');
    assert.doesNotMatch(outcome.message, CLASS_NAME);
    const again = here.ledger.submit(rawTransaction(plain(here)).bytes);
    assert.equal(again.outcome, 'accepted', 'a refused transaction leaves no trace');
  });
}

export function accepts(what: string, make: (here: Place) => RawPlan) {
  test(`accepts ${what}`, () => {
    const here = place();
    const { bytes, id } = rawTransaction(make(here));
    const outcome = here.ledger.submit(bytes);
    assert.deepEqual(outcome, { outcome: 'accepted', txHash: id });
  });
}
