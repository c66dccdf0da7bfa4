/**
 * Pools of two tokens (mainnet, script c876c435…) are left out, and disturb nothing: a transaction
 * that also touches one means the same as without it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptAddress } from '../../src/cardano/codec/address.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import {
  datumOf,
  decodeOutput,
  type Output,
  type OutputRef,
} from '../../src/cardano/codec/output.ts';
import { Constr } from '../../src/cardano/codec/plutusData.ts';
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { assetData, orderData, readPoolData } from '../../src/cardano/datums/datums.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { recogniseBlock } from '../../src/chain/recognise/block.ts';
import { BlockState } from '../../src/chain/recognise/knownState.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import { dataText } from '../support/testData.ts';
import {
  holding,
  MAINNET,
  MAINNET_RULES,
  MainnetMarket,
  pretendedOrder,
  transactionOf,
} from './mainnetWorld.ts';
import { NOTHING } from './middleMarket.ts';
import { launchOf, meaningOf, someRef, transaction } from './recogniseWorld.ts';

const ADA = 1_000_000n;
const REAL = decodeOutput(fromHex(dataText('mainnet/output-pool-of-two-tokens.hex').trim()));
const HASH = 'c876c435e1de1bd93ac71f0e9f956a844cd72493514d2740221bfea6';
const poolOutput = transactionOf('batch-12-buys').outputs[5] ?? assert.fail();
const { nft = '', token = '' } = readPoolData(datumOf(poolOutput)) ?? {};
const owner = { payment: 'aa'.repeat(28), stake: 'bb'.repeat(28) };

/** The real one, on mainnet and with this coin side. */
function ofTwoTokens(coin: string): Output {
  const data = datumOf(REAL);
  assert.ok(data instanceof Constr);
  const own = [...REAL.value.assets].filter(([asset]) => !asset.startsWith('77cb34f7'));
  return {
    ...REAL,
    address: scriptAddress('mainnet', HASH, null),
    value: asValue(REAL.value.lovelace, [...own, [coin, 200_000_000n]]),
    datum: dataHex(new Constr(0, data.fields.with(1, assetData(coin)))),
  };
}

/** The pool in ADA with this much sold. */
function inAda(x: bigint, y: bigint): Output {
  const value = asValue(x + MAINNET.fees.poolKeepLovelace, [
    [nft, 1n],
    [token, y],
  ]);
  return { ...poolOutput, value };
}

function spending(id: string, inputs: OutputRef[], outputs: Output[]): Transaction {
  return holding(id, outputs, inputs);
}

const idOf = (count: number) => count.toString(16).padStart(64, '0');
const told = (events: readonly MarketEvent[]) =>
  events.filter(({ kind }) => kind !== 'made' && kind !== 'spent');

test('the real one has an NFT of the launch policy, and is not taken over', () => {
  const policy = `${MAINNET.launchPolicyId}.`;
  assert.ok([...REAL.value.assets.keys()].some((asset) => asset.startsWith(policy)));
  for (const output of [REAL, ofTwoTokens(`${'77'.repeat(28)}.00`)]) {
    const market = new BlockState(NOTHING);
    assert.deepEqual(
      told(recogniseBlock(1, [holding(idOf(1), [output])], market, MAINNET_RULES)),
      [],
    );
  }
  // Not even where it lies at the script of a pool in ADA.
  const moved = { ...REAL, address: poolOutput.address };
  const events = recogniseBlock(1, [holding(idOf(1), [moved])], NOTHING, MAINNET_RULES);
  assert.deepEqual(told(events), []);
});

test('a trade that touches one as well is the trade that it is without it', async (t) => {
  const followed = async (withOther: boolean) => {
    const market = await MainnetMarket.open(t);
    const other = withOther ? [ofTwoTokens(token)] : [];
    const first = { txHash: idOf(1), index: 0 };
    const second = { txHash: idOf(1), index: 1 };
    const adopted = await market.block(
      holding(idOf(1), [inAda(50n * ADA, 990_000_000n), ...other]),
    );
    const inputs = withOther ? [first, second] : [first];
    const outputs = [inAda(60n * ADA, 988_000_000n), ...other];
    const traded = await market.block(spending(idOf(2), inputs, outputs));
    await market.back(1);
    const again = await market.block(spending(idOf(3), inputs, outputs));
    // The other pool is one more holder of the token.
    const pool = { ...market.world.fold.directory.find(token)?.pool, trust: null };
    const rows = JSON.stringify([market.trades(), pool]);
    return { events: [adopted, traded, again].map(told), rows: rows.replaceAll(idOf(3), 'tx') };
  };
  const [plain, both] = [await followed(false), await followed(true)];
  assert.deepEqual(both, plain);
  const kinds = plain.events.flat().map(({ kind }) => kind);
  assert.deepEqual(kinds, ['adopted', 'moved', 'filled', 'moved', 'filled', 'moved']);
});

test('its orders, tokens for tokens, are none of ours', async (t) => {
  const market = await MainnetMarket.open(t);
  const other = ofTwoTokens(token);
  const sell = pretendedOrder({
    ...{ owner, token, side: 'sell' as const, amount: 500n, beacon: '11'.repeat(28) },
    ...{ stepLovelace: 600_000n, feeLovelace: 500_000n, depositLovelace: 2_700_000n },
    script: 'firstInstantOrder',
  });
  const data = datumOf(sell);
  assert.ok(data instanceof Constr);
  const forTokens = data.fields.with(5, assetData(`${'77'.repeat(28)}.00`));
  const order = { ...sell, datum: dataHex(new Constr(0, forTokens)) };
  await market.block(holding(idOf(1), [inAda(50n * ADA, 990_000_000n), other]));
  assert.deepEqual(told(await market.block(holding(idOf(2), [order]))), []);
  // The instant order of today, which the pool of two tokens would take.
  const { order: script } = MAINNET.scripts;
  const redeemer = {
    ...{ network: 'mainnet' as const, stake: null, pointer: false },
    payment: { kind: 'key', hash: owner.payment },
  } as const;
  const datum = orderData({
    redeemer,
    ...{ input: token, output: `${'77'.repeat(28)}.00`, poolNft: null, owner: owner.payment },
    ...{ worstPrice: { numerator: 1n, denominator: 1n }, executor: '1e'.repeat(28) },
    ...{ feeLovelace: 1_100_000n, depositLovelace: 1_500_000n, refundAfterMs: 1n },
  });
  const instant = {
    ...order,
    address: scriptAddress('mainnet', script.hash, null),
    value: asValue(2_600_000n, [[token, 500n]]),
    datum: dataHex(datum),
  };
  assert.deepEqual(told(await market.block(holding(idOf(3), [instant]))), []);
});

test('a launch beside the NFT of a pool that is not followed is a launch', () => {
  const launch = launchOf('Beside');
  const policy = launch.nft.split('.')[0] ?? '';
  const before = `${policy}.${'00'.repeat(32)}`;
  const mint = new Map([[before, 1n], ...launch.tx.mint]);
  const foreign = transaction({
    outputs: [
      { address: scriptAddress('testnet', HASH, null), value: asValue(ADA, [[before, 1n]]) },
    ],
    inputs: [someRef()],
  });
  const tx = { ...launch.tx, mint, outputs: [...launch.tx.outputs, ...foreign.outputs] };
  const kinds = meaningOf(tx).map(({ kind }) => kind);
  assert.deepEqual(kinds.slice(0, 3), ['launched', 'filled', 'moved']);
});
