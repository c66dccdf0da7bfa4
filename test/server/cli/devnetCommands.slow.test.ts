/** `refund` and `rotate` on a devnet: by the names of its keys, against its Ogmios and its Kupo. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { datumOf } from '../../../src/cardano/codec/output.ts';
import { orderData, readOrderData } from '../../../src/cardano/datums/datums.ts';
import type { Deployment } from '../../../src/cardano/datums/deployment.ts';
import { Key } from '../../../src/cardano/keys/keys.ts';
import { assemble } from '../../../src/cardano/transactions/assemble.ts';
import { planOrder } from '../../../src/cardano/transactions/order.ts';
import { dataHex } from '../../../src/cardano/transactions/plan.ts';
import { addWitnesses } from '../../../src/cardano/transactions/witness.ts';
import { keyAddress } from '../../../src/cardano/validators/deploy.ts';
import { newestSettingsOf } from '../../../src/chain/settings.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { freePorts } from '../../../src/server/cli/localServers.ts';
import { type NodeAccess, waitForBlock, withNode } from '../../../src/server/cli/nodeAccess.ts';
import { NO_SECRETS } from '../../../src/server/settings/keyFiles.ts';
import { readSecrets } from '../../../src/server/settings/secrets.ts';
import { BadSettings, readSettings } from '../../../src/server/settings/settings.ts';
import { launchpadFromSettings } from '../../../src/server/wiring/devnet.ts';
import { utxo } from '../../cardano/transactions/world.ts';
import { keyNamed } from '../../support/ledgerWorld.ts';
import { Program, runProgram, temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';

const ADA = 1_000_000n;

/** A devnet with our launchpad in a separate process, and the means to look at it. */
async function devnet(t: TestContext) {
  const [ogmiosPort, kupoPort] = await freePorts(2, systemRng);
  const env = {
    NETWORK: 'devnet',
    DATA_DIR: join(temporaryDirectory(), 'data'),
    OGMIOS_URL: `ws://127.0.0.1:${ogmiosPort}`,
    KUPO_URL: `http://127.0.0.1:${kupoPort}`,
  };
  const ports = ['--ogmios-port', `${ogmiosPort}`, '--kupo-port', `${kupoPort}`];
  const program = new Program(['devnet', '--launchpad', '--pace', '300', ...ports], env);
  t.after(() => program.kill());
  await untilAsked(
    () => `the devnet runs; it said ${program.text}`,
    async () => program.text,
    (text) => text.includes('Stop it with'),
  );
  const settings = readSettings(env);
  assert.ok(!(settings instanceof BadSettings));
  const { complete } = launchpadFromSettings(settings, systemRng).deployment;
  const secrets = readSecrets(settings.DATA_DIR, systemRng, settings.KEYS_FILE);
  const { signal } = new AbortController();
  const quiet = { say: () => {}, terminal: { print: () => {} } };
  const around = { settings, clock: systemClock, rng: systemRng, signal, ...quiet };
  const look = <T>(work: (place: NodeAccess) => Promise<T>) =>
    withNode({ ...around, secrets: NO_SECRETS }, work);
  const run = async (...argv: string[]) => {
    const { exit, program: ran } = await runProgram([...argv, '--network', 'devnet'], env);
    return { code: exit.code, text: ran.text };
  };
  const keyOf = (name: 'executor' | 'fee' | 'faucet') => new Key(secrets[name].reveal());
  return { deployment: complete ?? assert.fail(), look, run, keyOf, directory: env.DATA_DIR };
}

/** Three orders of one transaction, all due; the second one cannot be given back: it has no fee. */
async function placeDue(place: NodeAccess, deployment: Deployment, payer: Key): Promise<string> {
  const owner = parseAddress(keyAddress(keyNamed('bob').hash)) ?? assert.fail();
  const wallet = await place.utxos.byPaymentKey(payer.hash, 'spendable');
  const request = {
    ...{ owner, token: `${'ab'.repeat(28)}.00`, poolNft: `${'cd'.repeat(28)}.00` },
    ...{ executor: deployment.executorKeyHash, inputAmount: 9n * ADA },
    kind: 'buy',
    worstPrice: { numerator: 1n, denominator: 1n },
  } as const;
  const { refundAfterMs } = deployment;
  const placedMs = Date.now() - refundAfterMs - 60_000;
  const { plan } = planOrder(deployment, request, wallet, placedMs);
  const [good = assert.fail()] = plan.outputs;
  const data = readOrderData(datumOf(utxo(good).output), 'testnet') ?? assert.fail();
  const bad = { ...good, datum: dataHex(orderData({ ...data, feeLovelace: 0n })) };
  const outputs = [good, bad, good];
  const changeAddress = keyAddress(payer.hash);
  const { parameters } = place;
  const built = assemble(
    { ...plan, outputs, changeAddress },
    { parameters, evaluate: assert.fail },
  );
  assert.ok(built.outcome === 'built', 'message' in built ? built.message : '');
  const { publicKey } = payer;
  const signature = payer.sign(fromHex(built.id));
  const sent = await place.submitter.submit(addWitnesses(built.bytes, [{ publicKey, signature }]));
  assert.equal(sent.outcome, 'accepted', JSON.stringify(sent));
  await waitForBlock(place, 'orders', async () => (await openOrders(place, deployment)) === 3);
  return built.id;
}

async function openOrders(
  { utxos }: NodeAccess,
  { scripts }: Pick<Deployment, 'scripts'>,
): Promise<number> {
  return (await utxos.byPaymentKey(scripts.order.hash, 'spendable')).length;
}

test('on a devnet, by the names of its keys', async (t) => {
  const world = await devnet(t);
  const { deployment, look, run } = world;

  await t.test('refund continues after an order that is refused, and names it', async () => {
    const id = await look((place) => placeDue(place, deployment, world.keyOf('fee')));
    const dry = await run('refund', '--key', 'fee', '--dry-run');
    assert.match(dry.text, /Nothing was sent/);
    assert.equal(await look((place) => openOrders(place, deployment)), 3);
    const { code, text } = await run('refund', '--key', 'fee');
    assert.equal(code, 1, text);
    assert.match(text, new RegExp(`Refund of ${id}:0: in a block`));
    assert.match(text, new RegExp(`Refund of ${id}:1: it cannot be built: `));
    assert.match(text, new RegExp(`Refund of ${id}:2: in a block`));
    assert.match(text, /1 of 3 orders cannot be given back/);
    assert.equal(await look((place) => openOrders(place, deployment)), 1);
    const bob = await look(({ utxos }) => utxos.byPaymentKey(keyNamed('bob').hash, 'spendable'));
    assert.equal(bob.length, 2);
  });

  await t.test(
    'rotate pays what batches need at a new fee address, unless told not to',
    async () => {
      const address = keyAddress(keyNamed('alice').hash);
      const file = join(world.directory, 'rotation.json');
      const executor = world.keyOf('fee').hash;
      const to = ['--fee-address', address, '--executor', executor];
      const make = (...more: string[]) => run('rotate', 'make', '--key', 'fee', ...to, ...more);
      const bare = await make('--no-funding', '--out', `${file}.bare`);
      assert.equal(bare.code, 0, bare.text);
      assert.match(
        bare.text,
        new RegExp(`Batches need outputs at ${address} .*: (20 ADA, ){4}20 ADA`),
      );
      const made = await make('--out', file);
      assert.equal(made.code, 0, made.text);
      assert.match(made.text, new RegExp(`pays +20 ADA to ${address}`));
      assert.match(made.text, /The payer pays 100\.\d+ ADA/);
      const stranger = await run('rotate', 'sign', file, '--key', 'collateral');
      assert.equal(stranger.code, 1, 'the collateral key is no signer');
      for (const name of ['executor', 'faucet']) {
        const { code, text } = await run('rotate', 'sign', file, '--key', name);
        assert.equal(code, 0, text);
      }
      const sent = await run('rotate', 'submit', file);
      assert.equal(sent.code, 0, sent.text);
      await look(async ({ utxos }) => {
        const now = await newestSettingsOf(deployment.settings.ref, utxos, deployment);
        assert.deepEqual([now?.roles.executorKeyHash, now?.roles.feeAddress], [executor, address]);
        const held = await utxos.byPaymentKey(keyNamed('alice').hash, 'spendable');
        assert.deepEqual(
          held.map(({ output }) => output.value.lovelace),
          Array.from({ length: 5 }, () => 20n * ADA),
        );
      });
      const again = await make('--out', `${file}.again`);
      assert.match(again.text, /The payer pays 0\.\d+ ADA/, 'what lies there counts');
    },
  );
});
