/** Amounts and unlock tables of the page: exact, and the same as the server's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseAddress } from '../../src/cardano/codec/address.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { decodePlutusData } from '../../src/cardano/codec/plutusData.ts';
import { amountOf } from '../../src/cardano/codec/value.ts';
import { readLockData } from '../../src/cardano/datums/datums.ts';
import { planLock } from '../../src/cardano/transactions/lock.ts';
import { makeGenesis } from '../../src/cardano/validators/genesis.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { plainAmount, readAmount, shownAmount } from '../../src/web/trade/amount.ts';
import { unlockSchedule } from '../../src/web/trade/unlockSchedule.ts';
import { addressOf, genesisPlan } from '../support/ledgerWorld.ts';

const amounts = fc.bigInt({ min: 1n, max: 10n ** 29n });

test('a written amount is read again, to the last digit', () => {
  fc.assert(
    fc.property(amounts, fc.constantFrom(0, 6), (amount, decimals) => {
      assert.equal(readAmount(plainAmount(amount, decimals), decimals), amount);
      const spaced = shownAmount(amount, decimals).replaceAll(',', ' ');
      assert.equal(readAmount(spaced, decimals), amount);
    }),
  );
});

test('invalid amounts are refused in words, never rounded', () => {
  for (const text of [
    '',
    ' ',
    '.',
    '1,5',
    '1,000',
    '1e3',
    '-1',
    '0',
    '0.0',
    '٣',
    '1.2.3',
    '0x10',
  ]) {
    assert.equal(typeof readAmount(text, 6), 'string', text);
  }
  assert.equal(typeof readAmount('1.0000001', 6), 'string');
  assert.equal(typeof readAmount('1.5', 0), 'string');
  assert.equal(typeof readAmount('9'.repeat(31), 0), 'string');
  assert.deepEqual(
    ['1.5', '.5', '5.', '0.000001'].map((text) => readAmount(text, 6)),
    [1_500_000n, 500_000n, 5_000_000n, 1n],
  );
});

test('the unlock table is what the server plans', () => {
  const { deployment } = makeGenesis(genesisPlan());
  const owner = parseAddress(addressOf('alice'));
  assert(owner !== null);
  const nowMs = 1_700_000_000_000;
  const token = `${'ab'.repeat(28)}.aa`;
  const spans = fc.integer({ min: 1, max: 400 * 86_400_000 });
  const stageCounts = fc.integer({ min: 1, max: 10 });
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 15n }),
      stageCounts,
      spans,
      (amount, stagesCount, spanMs) => {
        const lockEndMs = nowMs + spanMs;
        const request = { owner, token, amount, lockEndMs, stagesCount };
        const plan = planLock(deployment, request, [], nowMs);
        const shown = unlockSchedule(amount, stagesCount, nowMs, lockEndMs);
        if (plan instanceof Failure) {
          assert.deepEqual(shown, []);
          return;
        }
        const planned = plan.outputs.map(({ value, datum }) => {
          const lock = readLockData(decodePlutusData(fromHex(datum ?? '')));
          return [amountOf(value, token), Number(lock?.unlockMs)];
        });
        assert.deepEqual(
          shown.map((unlock) => [unlock.amount, unlock.atMs]),
          planned,
        );
      },
    ),
  );
});
