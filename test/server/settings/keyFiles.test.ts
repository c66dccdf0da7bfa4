/** Keys of a real network: read from files and environment, never printed. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { NetworkDeployment } from '../../../src/cardano/datums/deployment.ts';
import { Key } from '../../../src/cardano/keys/keys.ts';
import { type KeySecrets, keyFiles, secretFrom } from '../../../src/server/settings/keyFiles.ts';
import { BadSettings } from '../../../src/server/settings/settings.ts';
import { keysOf } from '../../../src/server/wiring/network.ts';
import { temporaryDirectory } from '../../support/server.ts';

const EXECUTOR = 'e1'.repeat(32);
const COLLATERAL = `${'c0ffee'.repeat(10)}abcd`;

function fileWith(text: string): string {
  const file = join(temporaryDirectory(), 'key');
  writeFileSync(file, text);
  return file;
}

function skey(hex: string, type = 'PaymentSigningKeyShelley_ed25519'): string {
  return JSON.stringify({ type, description: 'Payment Signing Key', cborHex: hex });
}

function given(environment: Record<string, string>): KeySecrets {
  const secrets = keyFiles(environment);
  if (secrets instanceof BadSettings) throw new Error(secrets.message);
  return secrets;
}

test('keys come from the environment, from hex files and from files of cardano-cli', () => {
  const secrets = given({
    EXECUTOR_KEY_FILE: fileWith(`${skey(`5820${EXECUTOR}`)}\n`),
    COLLATERAL_KEY: COLLATERAL.toUpperCase(),
  });
  assert.equal(secrets.executor?.reveal(), EXECUTOR);
  assert.equal(secrets.collateral?.reveal(), COLLATERAL);
  assert.equal(secrets.fee?.reveal(), EXECUTOR, 'where no other is given');
  const other = given({ EXECUTOR_KEY: EXECUTOR, FEE_KEY_FILE: fileWith(`${COLLATERAL}\n`) });
  assert.equal(other.fee?.reveal(), COLLATERAL);
  assert.equal(secretFrom(fileWith(EXECUTOR)).reveal(), EXECUTOR);
});

test('without keys there are none', () => {
  assert.deepEqual(given({ EXECUTOR_KEY: '  ' }), { executor: null, fee: null, collateral: null });
});

test('one error names every bad key, and shows none', () => {
  const nearly = EXECUTOR.slice(1);
  const files = [
    fileWith(skey(`5880${EXECUTOR}${EXECUTOR}${EXECUTOR}${EXECUTOR}`)),
    fileWith(skey(`5820${EXECUTOR}`, 'PaymentExtendedSigningKeyShelley_ed25519_bip32')),
    fileWith(skey(`5820${EXECUTOR}`, 'PaymentVerificationKeyShelley_ed25519')),
    fileWith(`${EXECUTOR}${EXECUTOR}`),
    fileWith(`{"executor": "${EXECUTOR}"`),
    fileWith(EXECUTOR.repeat(2_000)),
    join(temporaryDirectory(), 'nowhere'),
    temporaryDirectory(),
  ];
  for (const file of files) {
    const bad = keyFiles({
      EXECUTOR_KEY_FILE: file,
      FEE_KEY: nearly,
      COLLATERAL_KEY: COLLATERAL,
      COLLATERAL_KEY_FILE: file,
    });
    assert.ok(bad instanceof BadSettings);
    assert.deepEqual(
      bad.faults.map(({ key }) => key),
      ['EXECUTOR_KEY_FILE', 'FEE_KEY', 'COLLATERAL_KEY'],
    );
    for (const text of [bad.message, inspect(bad, { depth: 9 }), JSON.stringify(bad)]) {
      for (const secret of [nearly, COLLATERAL]) assert.ok(!text.includes(secret));
    }
    assert.throws(
      () => secretFrom(file),
      (error: Error) => error.message.includes(file) && !error.message.includes(nearly),
    );
  }
});

test('keys do not print, whatever holds them', () => {
  const secrets = given({ EXECUTOR_KEY: EXECUTOR, COLLATERAL_KEY: COLLATERAL });
  const world = { settings: {}, secrets };
  for (const text of [
    inspect(world, { depth: 9, showHidden: true }),
    JSON.stringify(world),
    String(secrets.executor),
    `${secrets.collateral}`,
  ]) {
    assert.ok(!text.includes(EXECUTOR) && !text.includes(COLLATERAL), text);
  }
});

test('a key that is not the deployment’s is refused by its hash', () => {
  const secrets = given({ EXECUTOR_KEY: EXECUTOR, COLLATERAL_KEY: COLLATERAL });
  const [executor, collateral] = [new Key(EXECUTOR).hash, new Key(COLLATERAL).hash];
  const keysFor = (names: Record<string, string>) => {
    // trust: what keysOf reads of them
    const network = { network: 'preprod', complete: names } as unknown as NetworkDeployment;
    return keysOf(secrets, network);
  };
  const right = { executorKeyHash: executor, feeKeyHash: executor, collateralKeyHash: collateral };
  const { executing } = keysFor(right);
  assert.deepEqual(
    executing.map(({ hash }) => hash),
    [executor, executor, collateral],
  );
  assert.throws(
    () => keysFor({ ...right, executorKeyHash: collateral }),
    (error: Error) =>
      error.message.includes(executor) && !inspect(error, { depth: 9 }).includes(EXECUTOR),
  );
});
