/**
 * Settings on a running market: who executes and where fees go changes with a rotation, goes back
 * with the chain, and cannot change but by the signers. A fault in the settings stops only trading.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseAddress } from '../../src/cardano/codec/address.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { Key } from '../../src/cardano/keys/keys.ts';
import { addWitnesses } from '../../src/cardano/transactions/witness.ts';
import { keyAddress } from '../../src/cardano/validators/deploy.ts';
import { newestSettings } from '../../src/chain/settings.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { planRotation } from '../../src/server/cli/rotate.ts';
import { readSecrets } from '../../src/server/settings/secrets.ts';
import { keyNamed } from '../support/ledgerWorld.ts';
import { untilAsked } from '../support/until.ts';
import { ADA, DevnetWorld } from './devnet/world.ts';

type SecretName = keyof ReturnType<typeof readSecrets>;

const ends: (() => void | Promise<void>)[] = [];
after(async () => {
  for (const end of ends.toReversed()) await end();
});
const world = await DevnetWorld.start({ after: (end) => void ends.push(end) });
const secrets = readSecrets(world.directory, seededRng(1));
const keyOf = (name: SecretName) => new Key(secrets[name].reveal());
const trader = await world.funded('alice', 500, 4);
const { asset } = await world.launch(trader);
const buy = { assetId: asset, side: 'BUY', amount: 9n * ADA, slippage: '50' } as const;

async function inForce() {
  const { txContext } = world.kit;
  return newestSettings(txContext.store(), txContext.utxos, txContext.deployment);
}

interface Rotation {
  readonly executor: SecretName;
  readonly fee: string;
  readonly to?: string;
  readonly signers: readonly SecretName[];
}

/** Alice pays. */
async function rotate({ executor, fee, to, signers }: Rotation) {
  const { txContext } = world.kit;
  const held = (await inForce()) ?? assert.fail('settings are in force');
  const alice = keyNamed('alice');
  const wallet = await txContext.utxos.byPaymentKey(alice.hash, 'spendable');
  const paid = parseAddress(fee) ?? assert.fail();
  const { settings } = txContext.deployment;
  const next = { executor: keyOf(executor).hash, fee: paid };
  const back = trader.wallet.address;
  const plan = planRotation(settings, held.utxo, next, wallet, back);
  const [output, ...more] = plan.outputs;
  assert.ok(output);
  const outputs = to === undefined ? plan.outputs : [{ ...output, address: to }, ...more];
  const built = await txContext.builder.build({ ...plan, outputs });
  assert.ok(
    'outcome' in built && built.outcome === 'built',
    'message' in built ? built.message : '',
  );
  const keys = [alice, ...signers.map(keyOf)];
  const signed = keys.map((key) => {
    return { publicKey: key.publicKey, signature: key.sign(fromHex(built.id)) };
  });
  return world.chain.submit(addWitnesses(built.bytes, signed));
}

const feeAddress = keyAddress(keyOf('fee').hash);
const executorOf = async () => {
  const { body } = await world.get('/snekfun-front/protocol-config.json');
  return JSON.stringify(body);
};

test('a rotation needs as many signatures as its script asks for', async () => {
  const one = await rotate({ executor: 'fee', fee: feeAddress, signers: ['faucet'] });
  assert.equal(one.outcome, 'refused');
  const none = await rotate({ executor: 'fee', fee: feeAddress, signers: [] });
  assert.equal(none.outcome, 'refused');
  const others = await rotate({ executor: 'fee', fee: feeAddress, signers: ['collateral'] });
  assert.equal(others.outcome, 'refused');
});

test('orders fill before a rotation, in the block of it, and after it', async () => {
  const [, first] = await world.filled(trader, buy);
  assert.equal(first.state, 'executed');
  const placed = await world.place(trader, buy);
  await world.wanted(placed.id);
  // The batch that waits reads the settings that are spent now.
  const outcome = await rotate({ executor: 'fee', fee: feeAddress, signers: ['faucet', 'fee'] });
  assert.equal(outcome.outcome, 'accepted', JSON.stringify(outcome));
  await world.mine();
  await world.spent(placed.id);
  assert.equal(world.order(placed.id).state, 'executed');
  assert.match(await executorOf(), new RegExp(keyOf('fee').hash));
  const [, last] = await world.filled(trader, buy);
  assert.equal(last.state, 'executed');
  const blocks = await world.blocks();
  const batch = blocks.flatMap(({ transactions }) => transactions).at(-1);
  assert.ok(batch?.requiredSigners.includes(keyOf('fee').hash), 'the new executor signs');
  assert.ok(!batch?.requiredSigners.includes(keyOf('executor').hash));
  const launched = await world.launch(trader, { name: 'Later' });
  const [, other] = await world.filled(trader, { ...buy, assetId: launched.asset });
  assert.equal(other.state, 'executed');
});

test('settings go back with the chain', async () => {
  const before = world.row<{ readonly ref: string }>('market', 'settings');
  assert.ok(before);
  const elsewhere = trader.wallet.address;
  const outcome = await rotate({
    executor: 'executor',
    fee: elsewhere,
    signers: ['executor', 'fee'],
  });
  assert.equal(outcome.outcome, 'accepted');
  await world.mine();
  assert.equal((await inForce())?.roles.feeAddress, elsewhere);
  await world.fork(1, 'none');
  assert.deepEqual(world.row('market', 'settings'), before);
  assert.equal((await inForce())?.roles.feeAddress, feeAddress);
  const [, order] = await world.filled(trader, buy);
  assert.equal(order.state, 'executed');
});

/** Codes of the reasons why the node is not ready. */
async function reasons(): Promise<string[]> {
  const { body } = await world.get('/health/ready');
  // trust: the schema of the route
  return (body as { reasons: { code: string }[] }).reasons.map(({ code }) => code);
}

async function untilReasons(wanted: readonly string[]): Promise<void> {
  const isWanted = (found: readonly string[]) => found.join() === wanted.join();
  await untilAsked(`reasons are ${wanted.join()}`, reasons, isWanted);
}

test('an executor that may not trade any more is a reason in readiness, until it may', async () => {
  assert.deepEqual(await reasons(), []);
  const away = await rotate({ executor: 'faucet', fee: feeAddress, signers: ['faucet', 'fee'] });
  assert.equal(away.outcome, 'accepted');
  await world.mine();
  await untilReasons(['EXECUTOR_MAY_NOT_TRADE']);
  const placed = await world.trader('alice').order(buy);
  await world.mine(2);
  assert.equal(world.order(placed.id).state, 'open');
  const back = await rotate({ executor: 'executor', fee: feeAddress, signers: ['faucet', 'fee'] });
  assert.equal(back.outcome, 'accepted');
  await world.mine();
  await untilReasons([]);
  await world.spent(placed.id);
  assert.equal(world.order(placed.id).state, 'executed');
});

test('where the signers take the settings away trading stops, and nothing else', async () => {
  const placed = await world.trader('alice').order(buy);
  const to = trader.wallet.address;
  const outcome = await rotate({
    executor: 'fee',
    fee: feeAddress,
    to,
    signers: ['faucet', 'fee'],
  });
  assert.equal(outcome.outcome, 'accepted');
  await world.mine(2);
  assert.equal(await inForce(), null);
  await untilReasons(['EXECUTOR_MAY_NOT_TRADE']);
  assert.equal(world.order(placed.id).state, 'open');
  await assert.rejects(world.launch(trader, { name: 'Never' }), /settings/);
  await trader.cancel(placed.id);
  await world.mine();
  assert.equal(world.order(placed.id).state, 'cancelled');
});
