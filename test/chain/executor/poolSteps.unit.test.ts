/** Graduation and Collect as plans. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  collectStep,
  type FundedStep,
  graduationStep,
  type PoolOutput,
} from '../../../src/chain/executor/fundedStep.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { AMM_AT_GRADUATION, curveAt } from '../../engine/market/pools.ts';
import { NFT, refOf, TOKEN } from './orders.ts';

const FULL = curveAt(736_463_314n, 18_188_400_123n);
const FLOAT = { ref: { txHash: '00'.repeat(32), index: 1 }, lovelace: 5_000_000n };
const LATE_FLOAT = { ...FLOAT, ref: { txHash: 'ff'.repeat(32), index: 0 } };

function request(state: PoolOutput['state'], float = FLOAT) {
  const pool = { ref: refOf(5), address: 'addr_pool', nft: NFT, token: TOKEN, state };
  const from = { fees: DEFAULT_FEES, feeAddress: 'addr_fee', networkFeeLovelace: 300_000n };
  return { pool, ...from, funding: [float] };
}

function planned(answer: ReturnType<typeof collectStep>): FundedStep {
  assert.ok(answer.outcome === 'funded', answer.outcome);
  return answer;
}

test('a graduating pool moves with its whole value; funding pays the network fee', () => {
  const { inputs, outputs } = planned(graduationStep(request(FULL), 'addr_amm'));
  assert.deepEqual(
    inputs.map(({ redeemer }) => redeemer),
    [null, { kind: 'graduate', index: 1 }],
  );
  assert.deepEqual(outputs[1], { kind: 'pool', address: 'addr_amm', value: inputs[1]?.value });
  assert.equal(outputs[1]?.value.lovelace, 18_191_400_123n);
  assert.equal(outputs[0]?.value.lovelace, 4_700_000n);
  assert.equal(outputs.length, 2);
});

test('a pool below its cap does not graduate', () => {
  const below = { ...FULL, x: FULL.thresholdLovelace - 1n };
  assert.throws(() => graduationStep(request(below), 'addr_amm'), /at its cap/);
});

test('a Collect pays exactly what is owed, in an output that pairs with no input', () => {
  const owing = { ...AMM_AT_GRADUATION, owed: 5_123_456n };
  for (const float of [FLOAT, LATE_FLOAT]) {
    const { inputs, outputs } = planned(collectStep(request(owing, float), 'addr_creator'));
    const at = float === FLOAT ? 1 : 0;
    assert.deepEqual(inputs[at]?.redeemer, { kind: 'collect', index: at, payout: 2 });
    assert.equal(inputs[at]?.value.lovelace, 18_196_523_456n);
    assert.equal(outputs[at]?.value.lovelace, 18_191_400_000n);
    assert.deepEqual(outputs[2], {
      kind: 'payout',
      address: 'addr_creator',
      value: { lovelace: 5_123_456n, assets: new Map() },
    });
    assert.equal(outputs[1 - at]?.kind, 'fee');
  }
});

test('both need funding that keeps its minimum after the network fee', () => {
  const poor = { ...FLOAT, lovelace: 1_499_999n };
  const missing = { outcome: 'funding needed', missingLovelace: 1_500_000n };
  assert.deepEqual(graduationStep(request(FULL, poor), 'addr_amm'), missing);
  const owing = { ...AMM_AT_GRADUATION, owed: 5_000_000n };
  assert.deepEqual(collectStep(request(owing, poor), 'addr_creator'), missing);
});
