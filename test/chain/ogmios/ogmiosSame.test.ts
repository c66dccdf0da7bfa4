/** One chain, read directly and through Ogmios: the same blocks, also without bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block } from '../../../src/chain/port.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { FUNDED, keyNamed, payment } from '../../support/ledgerWorld.ts';
import { startBridgedPlace } from '../../support/ogmios/place.ts';
import type { TestChain } from '../../support/testChain.ts';
import { until } from '../../support/until.ts';
import { startOgmios } from './ogmiosWorld.ts';
import { StreamModel } from './streamModel.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
const ADA = 1_000_000n;
const NONE = new Uint8Array(0);

/** Some of the funded keys pay others. */
async function pay(ledger: TestChain, unit: () => number): Promise<void> {
  for (const name of FUNDED) {
    const [utxo] = await ledger.byPaymentKey(keyNamed(name).hash, 'newest', { limit: 1 });
    if (utxo === undefined || unit() < 0.3 || utxo.output.value.lovelace < 20n * ADA) continue;
    const to = FUNDED[Math.floor(unit() * FUNDED.length)] ?? 'bob';
    const lovelace = (2n + BigInt(Math.floor(unit() * 10))) * ADA;
    await ledger.submit(payment(utxo, name, to, lovelace).bytes);
  }
}

function unbytes(block: Block): unknown {
  const transactions = block.transactions.map((tx) => {
    const outputs = tx.outputs.map(({ cbor, ...output }) => output);
    return { ...tx, outputs, bytes: NONE, body: NONE, witnessSet: NONE };
  });
  return { ...block, transactions };
}

/**
 * Removes the transactions' positions, which only one reading reports; they must be all positions.
 */
function plain({ txIndexes: places, ...block }: Block): Block {
  const every = block.transactions.map((_, at) => at);
  assert.deepEqual(places ?? every, every);
  return block;
}

for (const includeCbor of [true, false]) {
  const how = includeCbor ? 'with' : 'without';
  test(`${how} their bytes, blocks are the same in both readings, over forks`, {
    timeout: 120_000,
  }, async (t) => {
    t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test ${import.meta.filename}`);
    const { unit } = seededRng(SEED);
    const { ledger, bridge, mine, fork } = await startBridgedPlace(t, { includeCbor });
    const ogmios = await startOgmios(t, bridge.url);
    const direct = await StreamModel.open(t, ledger);
    const far = await StreamModel.open(t, ogmios);
    await mine(2);
    for (let round = 0; round < 12; round += 1) {
      await pay(ledger, unit);
      await mine(1 + Math.floor(unit() * 3));
      if (unit() < 0.4) await fork(1 + Math.floor(unit() * 2), unit() < 0.5 ? 'all' : 'none');
    }
    await mine(1);
    await direct.same(bridge.ogmios.chain);
    await far.same(bridge.ogmios.chain);
    const [here, there] = [direct.blocks.map(plain), far.blocks.map(plain)];
    assert.ok(here.some(({ transactions }) => transactions.length > 0));
    if (includeCbor) assert.deepEqual(there, here);
    else assert.deepEqual(there.map(unbytes), here.map(unbytes));
    await until('the same waits', () => {
      const ids = ({ waiting }: StreamModel) => [...waiting].sort().join();
      return ids(direct) === ids(far);
    });
    await direct.close();
    await far.close();
  });
}
