/** Refusals of transactions with scripts, with their reasons. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  byteString,
  encodeAssets,
  encodeOutput,
  encodeRefs,
  uint,
} from '../../src/cardano/codec/encode.ts';
import { scriptHash } from '../../src/cardano/codec/hash.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { addressOf } from '../support/ledgerWorld.ts';
import { PARAMETERS } from '../support/parameters.ts';
import { ALWAYS, ALWAYS_HASH, NEVER, rawTransaction } from '../support/rawTransaction.ts';
import { ADA, accepts, minting, pay, place, refuses, TOKEN } from './judged.ts';

accepts('a mint', (here) => minting(here));
refuses('fewer tokens minted than made', 'VALUE_NOT_CONSERVED', /not conserved/, (here) =>
  minting(here, { fields: { 9: encodeAssets(new Map([[TOKEN, 4n]])) } }),
);
refuses('collateral that never was', 'INPUT_SPENT', /is unknown/, (here) =>
  minting(here, { fields: { 13: encodeRefs([{ txHash: 'cc'.repeat(32), index: 0 }]) } }),
);
refuses('a wrong script data hash', 'REFUSED', /script data hash/, (here) =>
  minting(here, { fields: { 11: byteString(new Uint8Array(32)) } }),
);
refuses('no script data hash', 'REFUSED', /script data hash/, (here) =>
  minting(here, { fields: { 11: null } }),
);
refuses('a script that fails', 'SCRIPT_FAILED', /script/i, (here) => {
  const token = `${scriptHash(NEVER)}.746f6b`;
  return minting(here, {
    scripts: [NEVER],
    outputs: [
      { address: addressOf('bob'), value: asValue(10n * ADA, [[token, 5n]]) },
      pay('alice', 988n * ADA),
    ],
    fields: { 9: encodeAssets(new Map([[token, 5n]])) },
  });
});
refuses('a script with too small a budget', 'SCRIPT_FAILED', /./, (here) =>
  minting(here, { redeemers: [{ tag: 1, index: 0, memory: 100n, cpu: 100n }] }),
);
refuses('is_valid false though the script succeeds', 'SCRIPT_FAILED', /flag/, (here) =>
  minting(here, { isValid: false }),
);
refuses('a script that is missing', 'REFUSED', /redeemers|script hashes/, (here) =>
  minting(here, { scripts: [] }),
);
refuses('a script too many', 'REFUSED', /script hashes/, (here) =>
  minting(here, { scripts: [ALWAYS, NEVER] }),
);
refuses('a redeemer that is missing', 'REFUSED', /./, (here) => minting(here, { redeemers: [] }));
refuses('a redeemer too many', 'REFUSED', /./, (here) =>
  minting(here, {
    redeemers: [0, 1].map((index) => ({ tag: 1, index, memory: 1_000n, cpu: 1_000_000n })),
  }),
);
refuses('no collateral', 'COLLATERAL', /./, (here) => minting(here, { fields: { 13: null } }));
refuses('a total collateral that is not', 'COLLATERAL', /./, (here) =>
  minting(here, { fields: { 17: uint(5n * ADA) } }),
);
refuses('a collateral return of everything', 'COLLATERAL', /./, (here) =>
  minting(here, { fields: { 16: encodeOutput(pay('alice', 1000n * ADA)) } }),
);
refuses('four collateral inputs', 'COLLATERAL', /./, (here) =>
  minting(here, { fields: { 13: encodeRefs(here.mine.slice(1, 5)) } }),
);
refuses("somebody else's collateral", 'SIGNATURE_MISSING', /key hashes/, (here) =>
  minting(here, { fields: { 13: encodeRefs(here.bobs.slice(0, 1)) } }),
);
refuses('more CPU than a transaction may use', 'LIMITS_EXCEEDED', /CPU/, (here) =>
  minting(here, { redeemers: [{ tag: 1, index: 0, memory: 1_000n, cpu: 10_000_000_001n }] }),
);
refuses('more memory than a transaction may use', 'LIMITS_EXCEEDED', /memory/, (here) =>
  minting(here, {
    redeemers: [{ tag: 1, index: 0, memory: PARAMETERS.maxMemory + 1n, cpu: 1_000n }],
  }),
);
accepts('all the memory and CPU there is', (here) =>
  minting(here, {
    redeemers: [{ tag: 1, index: 0, memory: PARAMETERS.maxMemory, cpu: PARAMETERS.maxCpu }],
  }),
);
refuses('a value of more than 5000 bytes', 'LIMITS_EXCEEDED', /maximum value/, (here) => {
  const name = (n: number) => n.toString(16).padStart(64, '0');
  const tokens = Array.from({ length: 200 }, (_, n) => [`${ALWAYS_HASH}.${name(n)}`, 1n] as const);
  return minting(here, {
    outputs: [
      { address: addressOf('bob'), value: asValue(90n * ADA, tokens) },
      pay('alice', 908n * ADA),
    ],
    fields: { 9: encodeAssets(new Map(tokens)) },
  });
});

test('takes the collateral, and nothing else, of a failed script announced as failing', () => {
  const here = place();
  const token = `${scriptHash(NEVER)}.746f6b`;
  const plan = minting(here, {
    scripts: [NEVER],
    isValid: false,
    outputs: [
      { address: addressOf('bob'), value: asValue(10n * ADA, [[token, 5n]]) },
      pay('alice', 988n * ADA),
    ],
    fields: {
      9: encodeAssets(new Map([[token, 5n]])),
      16: encodeOutput(pay('alice', 995n * ADA)),
      17: uint(5n * ADA),
    },
  });
  const { bytes, id } = rawTransaction(plan);
  const [input, collateral] = here.mine;
  assert.ok(input && collateral);
  assert.deepEqual(here.ledger.submit(bytes), { outcome: 'accepted', txHash: id });
  here.ledger.forge();
  assert.equal(here.ledger.output(input).state, 'unspent');
  assert.equal(here.ledger.output(collateral).state, 'spent');
  const back = here.ledger.output({ txHash: id, index: 2 });
  assert.ok(back.state === 'unspent' && back.utxo.output.value.lovelace === 995n * ADA);
  assert.equal(here.ledger.output({ txHash: id, index: 0 }).state, 'unknown');
  const next = rawTransaction({
    inputs: [{ txHash: id, index: 2 }],
    outputs: [pay('bob', 994n * ADA)],
    feeLovelace: ADA,
    keys: plan.keys ?? [],
  });
  assert.equal(here.ledger.submit(next.bytes).outcome, 'accepted', 'Scalus knows the return');
});
