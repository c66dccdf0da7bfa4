/**
 * Where the contracts of the chain's ports are run: an adapter, and a way to make things happen on
 * its chain. `test/support/ledgerWorld.ts` lists the funded keys.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Utxo } from '../../src/cardano/codec/output.ts';
import type { Submitter, UtxoLookup } from '../../src/cardano/ledger/port.ts';
import type { ChainEvent, ChainSource, ChainStream } from '../../src/chain/port.ts';
import type { SignedTransaction } from '../../src/devnet/payment.ts';
import { keyNamed, payment } from '../support/ledgerWorld.ts';

export interface ChainPlace {
  readonly chain: ChainSource & Submitter & UtxoLookup;
  mine(blocks: number): Promise<void>;
  /** Takes blocks back; their transactions return or are dropped. */
  fork(depth: number, resubmit: 'all' | 'none'): Promise<void>;
}

export type MakePlace = (scope: TestContext) => Promise<ChainPlace>;

export function checker(name: string, make: MakePlace) {
  return (behaviour: string, run: (place: ChainPlace) => Promise<void>) =>
    test(`${name}: ${behaviour}`, { timeout: 60_000 }, async (scope) => run(await make(scope)));
}

/** Confirmed outputs of a funded wallet. */
export function wallet({ chain }: ChainPlace, name: string): Promise<readonly Utxo[]> {
  return chain.byPaymentKey(keyNamed(name).hash, 'spendable');
}

const ADA = 1_000_000n;

/** Alice's output number `at` pays Bob; submitted. `ada` makes it another transaction. */
export async function paid(place: ChainPlace, at = 0, ada = 10n): Promise<SignedTransaction> {
  const utxo = (await wallet(place, 'alice'))[at];
  assert.ok(utxo, `alice has an output ${at}`);
  return submitted(place, payment(utxo, 'alice', 'bob', ada * ADA));
}

export async function submitted(
  { chain }: ChainPlace,
  signed: SignedTransaction,
): Promise<SignedTransaction> {
  const outcome = await chain.submit(signed.bytes);
  assert.deepEqual(outcome, { outcome: 'accepted', txHash: signed.id });
  return signed;
}

export async function opened(
  { chain }: ChainPlace,
  points: Parameters<ChainSource['open']>[0] = [],
): Promise<ChainStream> {
  const stream = await chain.open(points);
  assert.ok(stream, 'one of the points is on the chain');
  return stream;
}

type Of<Kind extends ChainEvent['kind']> = Extract<ChainEvent, { kind: Kind }>;

/** The next event, which must be of this kind. */
export async function next<Kind extends ChainEvent['kind']>(
  stream: ChainStream,
  kind: Kind,
): Promise<Of<Kind>> {
  const event = await stream.next();
  assert.equal(
    event?.kind,
    kind,
    JSON.stringify(event, (_, v) => (typeof v === 'bigint' ? `${v}` : v)),
  );
  // trust: the kind was compared
  return event as Of<Kind>;
}

/** The next `count` blocks, whatever else is said in between. */
export async function blocksOf(
  stream: ChainStream,
  count: number,
): Promise<Of<'forward'>['block'][]> {
  const blocks: Of<'forward'>['block'][] = [];
  while (blocks.length < count) {
    const event = await stream.next();
    assert.ok(event, 'the stream is open');
    if (event.kind === 'forward') blocks.push(event.block);
  }
  return blocks;
}
