/** A devnet judges by the protocol parameters that it was given, and by others once they change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeRefs } from '../../src/cardano/codec/encode.ts';
import type { RefusalReason } from '../../src/cardano/ledger/port.ts';
import { Ledger } from '../../src/devnet/ledger.ts';
import { LedgerFile } from '../../src/devnet/ledgerFile.ts';
import { MAINNET_645, readDevnetParameters } from '../../src/devnet/parameters.ts';
import { jsonText } from '../../src/engine/runtime/exactJson.ts';
import { ledgerOptions, openTestLedger } from '../support/ledgerWorld.ts';
import { PARAMETERS_544, TEXT_544 } from '../support/parameters.ts';
import { type RawPlan, rawTransaction } from '../support/rawTransaction.ts';
import {
  ADA,
  accepts,
  alice,
  bob,
  first,
  minting,
  type Place,
  pay,
  place,
  plain,
} from './judged.ts';

// trust: our own file, an object
const WHOLE = JSON.parse(jsonText(MAINNET_645.json)) as Record<string, object>;
const changed = (fields: object) => JSON.stringify({ ...WHOLE, ...fields });

test('the default is mainnet as it is since epoch 645', () => {
  const { version, costModels, maxMemory, maxBlockMemory } = place().ledger.parameters.values;
  assert.deepEqual(version, { major: 11, minor: 0 });
  assert.deepEqual(
    costModels.map(({ length }) => length),
    [332, 332, 350],
  );
  assert.deepEqual(costModels[1].slice(59, 62), [30_623, 28_755, 75]);
  assert.deepEqual([maxMemory, maxBlockMemory], [16_500_000n, 72_000_000n]);
});

accepts('at version 11 an input that is a reference, too', (here) =>
  plain(here, { fields: { 18: encodeRefs([first(here.mine)]) } }),
);

const twice = (here: Place) => plain(here, { fields: { 18: encodeRefs([first(here.mine)]) } });
const collaterals = ({ mine, bobs }: Place) =>
  minting(
    { mine },
    { keys: [alice, bob], fields: { 13: encodeRefs([...mine.slice(1, 2), ...bobs.slice(0, 1)]) } },
  );

/** A transaction that is accepted, and what makes it refused. */
const CHANGES: readonly [string, string, (here: Place) => RawPlan, RefusalReason, RegExp][] = [
  ['a dearer byte', changed({ minFeeCoefficient: 4_000 }), plain, 'FEE_TOO_SMALL', /fee/],
  [
    'a dearer transaction',
    changed({ minFeeConstant: { ada: { lovelace: 290_000 } } }),
    plain,
    'FEE_TOO_SMALL',
    /fee/,
  ],
  [
    'dearer memory',
    changed({ scriptExecutionPrices: { memory: '5000/1', cpu: '721/10000000' } }),
    minting,
    'FEE_TOO_SMALL',
    /fee/,
  ],
  [
    'dearer CPU',
    changed({ scriptExecutionPrices: { memory: '577/10000', cpu: '1000/1' } }),
    minting,
    'FEE_TOO_SMALL',
    /fee/,
  ],
  [
    'dearer outputs',
    changed({ minUtxoDepositCoefficient: 430_000 }),
    plain,
    'OUTPUT_TOO_SMALL',
    /too little/,
  ],
  [
    'shorter transactions',
    changed({ maxTransactionSize: { bytes: 200 } }),
    plain,
    'LIMITS_EXCEEDED',
    /at most 200/,
  ],
  ['shorter values', changed({ maxValueSize: { bytes: 8 } }), minting, 'LIMITS_EXCEEDED', /./],
  [
    'less memory',
    changed({ maxExecutionUnitsPerTransaction: { memory: 999, cpu: 10_000_000_000 } }),
    minting,
    'LIMITS_EXCEEDED',
    /memory, at most 999/,
  ],
  [
    'less CPU',
    changed({ maxExecutionUnitsPerTransaction: { memory: 16_500_000, cpu: 999 } }),
    minting,
    'LIMITS_EXCEEDED',
    /CPU, at most 999/,
  ],
  [
    'more collateral',
    changed({ collateralPercentage: 60_000 }),
    minting,
    'COLLATERAL',
    /collateral/i,
  ],
  [
    'fewer collaterals',
    changed({ maxCollateralInputs: 1 }),
    collaterals,
    'COLLATERAL',
    /collateral/i,
  ],
  [
    'an earlier version',
    changed({ version: { major: 10, minor: 0 } }),
    twice,
    'REFUSED',
    /ntersect/,
  ],
  ['other cost models', TEXT_544, minting, 'REFUSED', /script data hash/],
];

for (const [what, text, make, reason, words] of CHANGES) {
  test(`${what} count from the next transaction on, and for one that waits`, () => {
    const [refusing, waiting] = [place(), place()];
    const transaction = (here: Place) => rawTransaction(make(here));
    const { bytes, id } = transaction(waiting);
    assert.deepEqual(waiting.ledger.submit(bytes), { outcome: 'accepted', txHash: id });
    assert.equal(waiting.ledger.changeParameters(readDevnetParameters(text)), null);
    while (waiting.ledger.isRevalidating) waiting.ledger.revalidateOne();
    assert.equal(waiting.ledger.mempool.size, 0, 'it waits no longer');
    assert.equal(waiting.ledger.reasonOf(id), reason);
    refusing.ledger.changeParameters(readDevnetParameters(text));
    const outcome = refusing.ledger.submit(transaction(refusing).bytes);
    assert.ok(outcome.outcome === 'refused', 'it is refused');
    assert.equal(outcome.reason, reason, outcome.message);
    assert.match(outcome.message, words);
  });
}

test('what cheaper parameters allow is accepted, and refused where others are in force', () => {
  const cheap = place();
  const feeLovelace = 1_000n;
  const make = (here: Place) => {
    const outputs = [pay('bob', 1_000n), pay('alice', 1_000n * ADA - 1_000n - feeLovelace)];
    return rawTransaction(plain(here, { feeLovelace, outputs })).bytes;
  };
  const { ledger } = place();
  assert.equal(ledger.submit(make(cheap)).outcome, 'refused');
  const free = { ada: { lovelace: 0 } };
  const fees = { minFeeCoefficient: 1, minFeeConstant: free, minUtxoDepositCoefficient: 1 };
  cheap.ledger.changeParameters(readDevnetParameters(changed(fees)));
  assert.equal(cheap.ledger.submit(make(cheap)).outcome, 'accepted');
  assert.equal(place().ledger.submit(make(cheap)).outcome, 'refused', 'each ledger has its own');
});

test('the chain keeps the parameters that it was given last', () => {
  const options = ledgerOptions();
  const opened = openTestLedger(options);
  opened.ledger.changeParameters(readDevnetParameters(TEXT_544));
  opened.file.close();
  const file = new LedgerFile(options.file);
  assert.deepEqual(
    new Ledger(file, opened.ledger.slots, () => 0).parameters.values,
    PARAMETERS_544,
  );
  file.close();
});

test("takes Ogmios' answer as it is, and says what is wrong with another file", () => {
  const answer = jsonText({ jsonrpc: '2.0', result: MAINNET_645.json, id: null });
  assert.deepEqual(readDevnetParameters(answer), MAINNET_645);
  const large = changed({ governanceActionDeposit: 'HERE' }).replace('"HERE"', `${2n ** 60n}`);
  assert.match(
    jsonText(readDevnetParameters(large).json),
    /"governanceActionDeposit":1152921504606846976/,
  );
  for (const [text, words] of [
    ['', /no JSON/],
    ['[]', /no object/],
    [changed({ plutusCostModels: { 'plutus:v2': [1.5] } }), /plutus:v2 is no integer/],
    [changed({ version: undefined }), /version/],
    [changed({ minFeeReferenceScripts: { base: 15, range: 1, multiplier: 1.2 } }), /25600/],
    [changed({ maxBlockBodySize: { bytes: 1 } }), /limit of a block/],
  ] as const) {
    assert.throws(() => readDevnetParameters(text), words);
  }
});
