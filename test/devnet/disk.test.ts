/** A disk that refuses: nothing changes, pending transactions stay, and the same works later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coins } from '../../src/cardano/codec/value.ts';
import { genesisUtxosOf } from '../../src/cardano/validators/genesis.ts';
import { Ledger } from '../../src/devnet/ledger.ts';
import { LedgerFile } from '../../src/devnet/ledgerFile.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { addressOf, GENESIS_TIME_MS, ledgerOptions, payment } from '../support/ledgerWorld.ts';

const SLOTS = { zeroTimeMs: GENESIS_TIME_MS, zeroSlot: 0, slotLengthMs: 1000 };
const ONE = { address: addressOf('alice'), value: coins(10_000_000n) };
const FUNDS = genesisUtxosOf(Array.from({ length: 40 }, () => ONE));

function refs(ledger: Ledger): string[] {
  return [...ledger.chain.all()].map(({ ref }) => `${ref.txHash} ${ref.index}`).sort();
}

/** Blocks until the disk is full, each with a payment in the end; the last payment waits. */
function fillDisk(ledger: Ledger): string {
  while (ledger.forge(100) === null) assert.ok(ledger.height < 100_000);
  for (const source of FUNDS) {
    const { bytes, id } = payment(source, 'alice', 'bob', 5_000_000n);
    assert.equal(ledger.submit(bytes).outcome, 'accepted');
    const [before, tip] = [refs(ledger), ledger.tip];
    const failure = ledger.forge();
    if (failure === null) continue;
    assert.equal(failure.cause, 'NOT_READY');
    assert.match(failure.message, /SQLITE_FULL.*make room/);
    assert.deepEqual([refs(ledger), ledger.tip], [before, tip]);
    assert.ok(ledger.mempool.has(id));
    return id;
  }
  assert.fail('the disk is never full');
}

test('a block that the disk refuses is made once there is room, with what waited', () => {
  const { file } = ledgerOptions();
  const small = new LedgerFile(file, 1);
  small.begin('{}', FUNDS);
  const ledger = new Ledger(small, SLOTS, () => 0);
  const id = fillDisk(ledger);
  assert.ok(ledger.forge() instanceof Failure, 'it is still full');
  const undone = ledger.fork(500, 'all');
  assert.ok('takenBack' in undone, 'and going back makes room');
  while (ledger.isRevalidating) ledger.revalidateOne();
  while (ledger.mempool.size > 0) assert.equal(ledger.forge(), null);
  assert.ok(small.isInBlock(id));
  small.close();
  const again = new LedgerFile(file);
  const read = new Ledger(again, SLOTS, () => 0);
  assert.deepEqual([read.tip, refs(read)], [ledger.tip, refs(ledger)]);
  again.close();
});
