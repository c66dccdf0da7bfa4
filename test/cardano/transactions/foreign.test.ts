/**
 * Debian's python3-cbor2 reads, hashes and writes what we return, and every byte is the same.
 * Skipped where it is not installed; `genericCopy` asks the same of every other transaction here.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fromHex, toHex } from '../../../src/cardano/codec/hex.ts';
import { planLaunch } from '../../../src/cardano/transactions/launch.ts';
import { planOrder } from '../../../src/cardano/transactions/order.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { signCollateral } from '../../../src/cardano/transactions/signing.ts';
import { mergeWitnesses } from '../../../src/cardano/transactions/witness.ts';
import { quoteLaunch } from '../../../src/engine/market/quote.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import {
  ADA,
  ALICE,
  ada,
  built,
  COLLATERAL,
  DEPLOYMENT,
  NOW_MS,
  orderOf,
  REFERENCES,
  RULES,
  refused,
  SETTINGS,
} from './world.ts';

const python = (input: string) =>
  spawnSync(PYTHON ?? 'python3', [join(import.meta.dirname, 'foreign.py')], {
    input,
    encoding: 'utf8',
  });

/** Debian's own, where another stands before it. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import cbor2']).status === 0,
);
const skip = PYTHON === undefined ? 'python3-cbor2 is not installed' : false;

/** The transaction as the foreign library writes it again, and the body's hash. */
function roundTrip(bytes: Uint8Array): { hex: string; id: string } {
  const { stdout, stderr, status } = python(toHex(bytes));
  assert.equal(status, 0, stderr);
  const [hex = '', id = ''] = stdout.trim().split('\n');
  return { hex, id };
}

function witnessSet(id: string): string {
  const signature = toHex(ALICE.key.sign(fromHex(id)));
  return `a10081825820${ALICE.key.publicKey}5840${signature}`;
}

function signsAndSubmits(bytes: Uint8Array, id: string, plan: TransactionPlan): void {
  const copy = roundTrip(bytes);
  assert.equal(copy.hex, toHex(bytes));
  assert.equal(copy.id, id);
  const signed = mergeWitnesses(fromHex(copy.hex), witnessSet(copy.id));
  assert.ok(signed instanceof Uint8Array);
  const wallet = plan.wallet === 'exact' ? [] : plan.wallet;
  const utxos = [...wallet, ...plan.references, ...(plan.collateral?.utxos ?? [])];
  assert.equal(refused(signed, utxos), null);
}

test('an order survives decode, hash, sign and encode', { skip }, () => {
  const { plan } = planOrder(
    DEPLOYMENT,
    orderOf(ALICE, 'buy', 5n * ADA),
    [ada(ALICE, 99n * ADA)],
    NOW_MS,
  );
  const { bytes, id } = built(plan);
  signsAndSubmits(bytes, id, plan);
});

test('a launch with our signature survives it too', { skip }, () => {
  const { curve, thresholdLovelace, fees } = DEPLOYMENT;
  const quote = quoteLaunch(curve, thresholdLovelace, fees, 5n * ADA);
  assert.ok(quote.outcome === 'launch');
  const socials = { twitter: '', discord: '', telegram: '', website: '' };
  const about = {
    ticker: 'DAVE',
    logoCID: 'bafkrei',
    mediaType: 'image/png',
    description: '😀'.repeat(500),
    launchType: 1,
  };
  const request = { creator: ALICE.address, name: 'Dävé', metadata: { ...about, socials }, quote };
  const launch = planLaunch(DEPLOYMENT, request, {
    wallet: [ada(ALICE, 300n * ADA)],
    references: [REFERENCES.launchPolicy, SETTINGS],
    collateral: COLLATERAL,
    parameters: PARAMETERS,
  });
  assert.ok(!(launch instanceof Failure));
  const transaction = built(launch.plan);
  const partial = signCollateral(transaction, RULES);
  assert.ok(partial instanceof Uint8Array);
  signsAndSubmits(partial, transaction.id, launch.plan);
});
