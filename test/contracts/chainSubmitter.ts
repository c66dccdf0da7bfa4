/** Contract of every submitter (src/chain/port.ts). */
import assert from 'node:assert/strict';
import { REFUSALS } from '../../src/cardano/ledger/port.ts';
import { payment } from '../support/ledgerWorld.ts';
import { checker, type MakePlace, paid, wallet } from './chainPlace.ts';

export function chainSubmitterContract(name: string, make: MakePlace): void {
  const check = checker(name, make);

  check(
    'takes the same transaction again, while it waits and when it is in a block',
    async (place) => {
      const { bytes, id } = await paid(place);
      const accepted = { outcome: 'accepted', txHash: id };
      assert.deepEqual(await place.chain.submit(bytes), accepted);
      await place.mine(2);
      assert.deepEqual(await place.chain.submit(bytes), accepted);
    },
  );

  check('refuses with a reason and a message', async (place) => {
    const [utxo] = await wallet(place, 'alice');
    assert.ok(utxo);
    await paid(place);
    for (const [bytes, reason] of [
      [Uint8Array.of(1, 2, 3), 'MALFORMED'],
      [new Uint8Array(20_000), 'LIMITS_EXCEEDED'],
      [payment(utxo, 'alice', 'bob', 20_000_000n).bytes, 'INPUT_SPENT'],
    ] as const) {
      const outcome = await place.chain.submit(bytes);
      assert.ok(outcome.outcome === 'refused' && outcome.message !== '');
      assert.equal(outcome.reason, reason, outcome.message);
      assert.ok(REFUSALS.includes(outcome.reason));
    }
  });

  check('takes a transaction that spends what another makes that still waits', async (place) => {
    const { id } = await paid(place);
    const [state] = await place.chain.byRefs([{ txHash: id, index: 1 }]);
    assert.ok(state?.state === 'unspent');
    const { bytes } = payment(state.utxo, 'alice', 'carol', 5_000_000n);
    assert.equal((await place.chain.submit(bytes)).outcome, 'accepted');
  });

  check('lets only one of many at the same moment spend an output', async (place) => {
    const [utxo] = await wallet(place, 'alice');
    assert.ok(utxo);
    const rivals = Array.from({ length: 10 }, (_, at) =>
      payment(utxo, 'alice', 'bob', BigInt(at + 2) * 1_000_000n),
    );
    const outcomes = await Promise.all(rivals.map(({ bytes }) => place.chain.submit(bytes)));
    assert.equal(outcomes.filter(({ outcome }) => outcome === 'accepted').length, 1);
  });
}
