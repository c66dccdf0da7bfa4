import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blake2b256 } from '../../../src/cardano/codec/hash.ts';
import { datumOf, type Utxo } from '../../../src/cardano/codec/output.ts';
import { auxiliaryOf, decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../../src/cardano/codec/value.ts';
import { poolNftName, readPoolData } from '../../../src/cardano/datums/datums.ts';
import { readMetadata } from '../../../src/cardano/datums/metadata.ts';
import { walletMetadata } from '../../../src/cardano/datums/walletMetadata.ts';
import {
  METADATA_OUTPUT,
  POOL_OUTPUT,
  planLaunch,
} from '../../../src/cardano/transactions/launch.ts';
import { failureOf } from '../../../src/cardano/transactions/port.ts';
import { quoteLaunch } from '../../../src/engine/market/quote.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { accepted } from './verdict.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  built,
  COLLATERAL,
  COLLATERAL_OWNER,
  DEPLOYMENT,
  outcomeOf,
  type Person,
  REFERENCES,
  refused,
  SETTINGS,
  signedBy,
} from './world.ts';

const METADATA = {
  ticker: 'DAVE',
  logoCID: 'bafkreicvwyxybvpllwbwgazxsmazslidtjlidoqtrwue7oqng6ij7kvlmm',
  description: 'A token',
  mediaType: 'image/png',
  launchType: 0,
  socials: { twitter: '', discord: '', telegram: '', website: '' },
};

const LONG = {
  ...METADATA,
  description: '😀'.repeat(500),
  socials: {
    twitter: `https://x.com/${'a'.repeat(186)}`,
    discord: `https://x.com/${'b'.repeat(186)}`,
    telegram: `https://x.com/${'c'.repeat(186)}`,
    website: `https://x.com/${'d'.repeat(186)}`,
  },
};

function launch(wallet: readonly Utxo[], buy = 0n, metadata = METADATA, creator: Person = ALICE) {
  const { curve, thresholdLovelace, fees } = DEPLOYMENT;
  const quote = quoteLaunch(curve, thresholdLovelace, fees, buy);
  assert.ok(quote.outcome === 'launch');
  const request = { creator: creator.address, name: 'Dave', metadata, quote };
  const references = [REFERENCES.launchPolicy, SETTINGS];
  const parameters = PARAMETERS;
  const data = { wallet, references, collateral: COLLATERAL, parameters };
  const planned = planLaunch(DEPLOYMENT, request, data);
  assert.ok(!(planned instanceof Failure));
  return { ...planned, quote };
}

test('a launch makes pool, fee and metadata, and mints nothing else', () => {
  const wallet = [ada(ALICE, 300n * ADA), ada(ALICE, 5n * ADA)];
  const { plan, nft, token, launchId } = launch(wallet);
  const bytes = accepted(built(plan), plan, [ALICE, COLLATERAL_OWNER]);
  const { outputs, mint, inputs } = decodeTransaction(bytes);
  assert.deepEqual(
    mint,
    new Map([
      [nft, 1n],
      [token, 1_000_000_000n],
    ]),
  );
  assert.deepEqual(launchId.seed, wallet[0]?.ref);
  assert.ok(inputs.some(({ txHash }) => txHash === launchId.seed.txHash));
  assert.equal(nft.split('.')[1], poolNftName(launchId));
  const pool = outputs[POOL_OUTPUT] ?? assert.fail();
  assert.deepEqual(
    pool.value,
    asValue(3n * ADA, [
      [nft, 1n],
      [token, 1_000_000_000n],
    ]),
  );
  assert.equal(readPoolData(datumOf(pool))?.token, token);
  assert.deepEqual(outputs[1]?.value, coins(ADA));
  const described = readMetadata(datumOf(outputs[METADATA_OUTPUT] ?? assert.fail()));
  assert.equal(described?.asset, token);
  assert.equal(described?.author.pkh, ALICE.key.hash);
});

test('an initial buy enters the pool whole and brings its tokens', () => {
  const { plan, token, quote } = launch([ada(ALICE, 300n * ADA)], 132_500_000n);
  const { outputs } = decodeTransaction(accepted(built(plan), plan, [ALICE, COLLATERAL_OWNER]));
  assert.equal(outputs[POOL_OUTPUT]?.value.lovelace, 135_500_000n);
  assert.deepEqual(outputs[1]?.value, coins(1_825_000n));
  assert.equal(outputs[3]?.value.assets.get(token), quote.userTokens);
  assert.equal(outputs[3]?.address, ALICE.text);
});

test('wallets find name and picture in the metadata, whose bytes are paid for', () => {
  const { plan, token } = launch([ada(ALICE, 300n * ADA)]);
  const bytes = accepted(built(plan), plan, [ALICE, COLLATERAL_OWNER]);
  const { data, hash } = auxiliaryOf(decodeTransaction(bytes));
  const expected = walletMetadata({ ...METADATA, token, name: 'Dave' });
  assert.deepEqual(data, expected);
  assert.equal(hash, blake2b256(expected));
  const without = { ...plan, auxiliaryData: null };
  const fee = built(plan).feeLovelace - built(without).feeLovelace;
  // 44 lovelace a byte: the metadata less the null in their place, and 35 bytes for the hash.
  assert.equal(fee, 44n * BigInt(expected.length - 1 + 35));
  assert.equal(fee, 11_132n);
});

test('the ledger refuses metadata whose hash the body does not name', () => {
  const { plan } = launch([ada(ALICE, 300n * ADA)]);
  const transaction = built(plan);
  const other = Uint8Array.from(transaction.bytes);
  const at = Buffer.from(other).lastIndexOf('Dave');
  other[at] = (other[at] ?? 0) + 1;
  const utxos = [...transaction.inputs, ...transaction.collateral, ...plan.references];
  const bytes = signedBy(other, [ALICE, COLLATERAL_OWNER]);
  assert.match(String(refused(bytes, utxos)), /[Aa]uxiliary/);
});

test('the longest metadata fit, for an enterprise address too', () => {
  const creator = { ...BOB, address: BOB.enterprise };
  const { plan } = launch([ada(BOB, 300n * ADA)], 2n * ADA, LONG, creator);
  const bytes = accepted(built(plan), plan, [BOB, COLLATERAL_OWNER]);
  assert.ok(bytes.length < 8000);
});

test('the longest launch fits with the most that a scattered wallet gives', () => {
  const wallet = Array.from({ length: 500 }, () => ada(ALICE, 2n * ADA));
  const { plan } = launch(wallet, 340n * ADA, LONG);
  const transaction = built(plan);
  assert.ok(transaction.inputs.length > 180);
  accepted(transaction, plan, [ALICE, COLLATERAL_OWNER]);
  const beyond = outcomeOf(launch(wallet, 400n * ADA, LONG).plan);
  assert.ok(beyond.outcome === 'refused');
  assert.equal(beyond.reason, 'CONSOLIDATE');
});

test('two launches never have the same token', () => {
  const first = launch([ada(ALICE, 300n * ADA)]);
  const second = launch([ada(ALICE, 300n * ADA)]);
  assert.notEqual(first.token, second.token);
});

test('the refusal of a poor wallet names the cost of the metadata', () => {
  const { plan, note } = launch([ada(ALICE, 12n * ADA)], 0n, LONG);
  const outcome = outcomeOf(plan);
  assert.ok(outcome.outcome === 'refused');
  const failure = failureOf(outcome, 'SERVER_ERROR', note);
  assert.equal(failure.reason, 'FUNDS');
  assert.match(
    failure.message,
    /^wallet: the wallet lacks \d+ lovelace; the launch takes \d{8} lo/,
  );
  assert.match(failure.message, /1\d{7} of it for the metadata$/);
});
